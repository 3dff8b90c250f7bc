import { toEventSelector } from 'viem'
import { OutboundError } from '../../kernel/outbound.js'
import type { Queryable } from '../../postgres/pool.js'
import { readBlock } from '../../rpc/blocks.js'
import type { Chain } from '../../rpc/chains.js'
import { createNode } from '../../rpc/node.js'
import type { RawLog } from '../../rpc/raw.js'
import { RpcError } from '../../rpc/rpc.js'
import { findBlockAt, findStreamTarget } from '../../vaults/index.js'
import { hashHoldings, type RewardInputs, type RewardResult, recomputeRewards } from './rewardFile.js'
import { burnAddresses, findTerms, readInputs } from './snapshotInputs.js'
import { findSnapshotOf } from './storeSnapshots.js'
import { findStream } from './storeStreams.js'
import type { BalanceStep } from './types.js'

/** What the tables say today of the snapshot a reward file is of: `isSame`: who held what since is as it was then. */
export type TodaysRewards = RewardResult & { isSame: boolean }

/** Counts a snapshot again from what is derived of the chain today. Undefined where the snapshot is not kept. */
export async function recomputeFromTables(
  db: Queryable,
  { hash, inputs }: { hash: string; inputs: RewardInputs },
): Promise<TodaysRewards | undefined> {
  const { terms, to, origin, facts } = inputs
  const [stream, found] = await Promise.all([findStream(db, terms.streamId), findSnapshotOf(db, hash)])
  const target = stream && (await findStreamTarget(db, stream.targetVaultId))
  if (!target || !found) return undefined
  const { previous } = found
  const todays = await readInputs(db, {
    ...{ stream, target, previous, to, block: origin.block },
    terms: await findTerms(db, stream, terms.rewardDecimals),
  })
  return { ...recomputeRewards(todays), isSame: hashHoldings(todays.facts) === hashHoldings(facts) }
}

/** The chain a reward file is of says otherwise than the file, or does not say it. */
export class ChainDiffers extends Error {
  override readonly name = 'ChainDiffers'
}

const transferTopic = toEventSelector('event Transfer(address indexed from, address indexed to, uint256 amount)')

/**
 * Counts a snapshot again with nothing of the database: who held what comes out of the transfers a node tells, prices and
 * what distributors sourced out of the file. Throws ChainDiffers where the node has another chain.
 */
export async function recomputeFromNode(chain: Chain, inputs: RewardInputs): Promise<RewardResult> {
  const { origin, terms, from } = inputs
  const { block, target } = origin
  const head = await readBlock(chain, block.number)
  if (head.hash !== block.hash)
    throw new ChainDiffers(`block ${block.number} is ${head.hash} at the node, and ${block.hash} in the file`)
  const at = from?.own.at ?? terms.startAt
  const first = await findBlockAt(chain, head, at)
  const excluded = new Set([...burnAddresses, ...target.own])
  const held = new Map<string, bigint>()
  const balances: BalanceStep[] = []
  const times = new Map<number, number>()
  let isStarted = false
  const start = () => {
    isStarted = true
    for (const [wallet, shares] of held) if (shares > 0n) balances.push({ at, wallet, shares })
  }
  for (const { blockNumber, topics, data } of await listTransfers(chain, target.token, block.number)) {
    if (!isStarted && blockNumber > (first?.number ?? -1)) start()
    const [, sender, receiver] = topics
    const moves = [[sender, -BigInt(data)] as const, [receiver, BigInt(data)] as const]
    for (const [topic, amount] of moves) {
      const wallet = `0x${topic?.slice(26) ?? ''}`
      if (excluded.has(wallet)) continue
      const shares = (held.get(wallet) ?? 0n) + amount
      held.set(wallet, shares)
      if (!isStarted) continue
      const time = times.get(blockNumber) ?? (await readBlock(chain, blockNumber)).timestamp
      times.set(blockNumber, time)
      balances.push({ at: time, wallet, shares })
    }
  }
  if (!isStarted) start()
  return recomputeRewards({ ...inputs, facts: { ...inputs.facts, balances } })
}

/** All transfers of a token up to a block, in their order: as many blocks at a time as the node answers for. */
async function listTransfers(chain: Chain, token: string, last: number): Promise<RawLog[]> {
  const node = createNode(chain.rpc)
  const filter = { addresses: [token], topics: [transferTopic] }
  const transfers: RawLog[] = []
  let size = last + 1
  for (let fromBlock = 0; fromBlock <= last; ) {
    const toBlock = Math.min(last, fromBlock + size - 1)
    try {
      transfers.push(...(await node.listRange({ ...filter, fromBlock, toBlock })).logs)
      fromBlock = toBlock + 1
      size *= 2
    } catch (error) {
      // Nodes refuse what is too long in many ways; a range of one block is not.
      if (!(error instanceof RpcError || error instanceof OutboundError) || size === 1) throw error
      size = Math.ceil(Math.min(size, last + 1) / 4)
    }
  }
  return transfers.toSorted((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
}
