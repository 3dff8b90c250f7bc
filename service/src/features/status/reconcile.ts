import { type Address, erc20Abi } from 'viem'
import { vaultTopics } from '../../derive/index.js'
import type { Chain, ChainContext } from '../../rpc/chains.js'
import { combine, multicall, readContract } from '../../rpc/multicall.js'
import { createNode } from '../../rpc/node.js'
import type { RawLog } from '../../rpc/raw.js'
import { RpcError } from '../../rpc/rpc.js'
import { isSame } from '../../sync/fetch.js'
import { type Cursor, findCursor } from '../../sync/storeCursors.js'
import { listStoredLogs } from '../../sync/storeRaw.js'
import { type HolderSample, listSyncedVaults, recordDrift, sampleHolders } from './storeStatus.js'

/** Holders of a vault compared with the chain in one look. */
const sampleCount = 10
/** Blocks of a sample of entries; if a node refuses, fewer are requested. */
const sampleBlocks = 1_000

/**
 * Compares balances of random holders with `balanceOf` at the block of each balance, and the vault events of two ranges of final
 * blocks, one of them the last, with those of a node, for every vault, and records how many differ. If a deposit is missing
 * but its shares moved, balances are equal: only the event shows it. A difference is reported, never repaired silently.
 */
export async function reconcileBalances(ctx: ChainContext): Promise<void> {
  for (const chain of ctx.chains.values()) {
    const cursor = await findCursor(ctx.db, chain.chainId)
    if (!cursor || cursor.blockHash === '') continue
    const ranges = await sampleEvents(ctx, chain, cursor)
    const sample = await sampleHolders(ctx.db, chain.chainId, sampleCount)
    const groups = groupByVault(sample?.holders ?? [])
    // A vault without holders may have lost them all.
    for (const vaultId of new Set([...groups.keys(), ...ranges.keys()])) {
      const holders = groups.get(vaultId) ?? []
      const mismatches = sample ? await countWrong(chain, sample.blockHash, holders) : 0
      const looked = ranges.get(vaultId) ?? { samples: 0, mismatches: 0 }
      const found = {
        vaultId,
        at: ctx.clock.now(),
        blockNumber: sample?.blockNumber ?? cursor.blockNumber,
        samples: holders.length + looked.samples,
        mismatches: mismatches + looked.mismatches,
      }
      await recordDrift(ctx.db, found)
      if (found.mismatches > 0)
        ctx.log.warn({ chainId: chain.chainId, ...found }, 'balances or entries differ from the chain')
    }
  }
}

async function countWrong(chain: Chain, blockHash: string, holders: readonly HolderSample[]): Promise<number> {
  if (holders.length === 0) return 0
  const questions = holders.map(({ receiptToken, wallet }) =>
    readContract(receiptToken as Address, erc20Abi, 'balanceOf', [wallet as Address]),
  )
  const all = combine(Object.fromEntries(questions.map((each, i) => [String(i), each])))
  const { answer } = await multicall(chain, all, { blockHash: blockHash as `0x${string}` })
  return holders.filter(({ shares }, index) => answer[String(index)] !== BigInt(shares)).length
}

/** For each vault, how many ranges were compared and how many of them differ. */
async function sampleEvents(
  { db }: ChainContext,
  chain: Chain,
  cursor: Cursor,
): Promise<Map<number, { samples: number; mismatches: number }>> {
  const { chainId } = chain
  const found = new Map<number, { samples: number; mismatches: number }>()
  const vaults = await listSyncedVaults(db, chainId)
  if (vaults.length === 0) return found
  const end = Math.min(cursor.finalizedNumber ?? cursor.blockNumber, cursor.blockNumber)
  const first = Math.min(...vaults.map(({ fromBlock }) => fromBlock))
  if (end < first) return found
  const node = createNode(chain.rpc)
  const other = node.secondary() ?? node
  for (const to of new Set([end, first + Math.floor(Math.random() * (end - first + 1))])) {
    const addresses = vaults.map(({ address }) => address)
    const read = (from: number) => other.listRange({ addresses, topics: vaultTopics, fromBlock: from, toBlock: to })
    let from = Math.max(first, to - sampleBlocks + 1)
    const { logs } = await read(from).catch(async (error: unknown) => {
      if (!(error instanceof RpcError)) throw error
      from = Math.max(from, to - sampleBlocks / 10 + 1)
      return read(from)
    })
    const kept = await listStoredLogs(db, { chainId, from, to, addresses, topics: vaultTopics })
    for (const { vaultId, address, fromBlock } of vaults) {
      const own = (all: readonly RawLog[]) =>
        all.filter((log) => log.address === address && log.blockNumber >= fromBlock)
      const looked = found.get(vaultId) ?? { samples: 0, mismatches: 0 }
      looked.samples += 1
      if (!isSame(own(logs), own(kept))) looked.mismatches += 1
      found.set(vaultId, looked)
    }
  }
  return found
}

function groupByVault(holders: readonly HolderSample[]): Map<number, HolderSample[]> {
  const groups = new Map<number, HolderSample[]>()
  for (const holder of holders) groups.set(holder.vaultId, [...(groups.get(holder.vaultId) ?? []), holder])
  return groups
}
