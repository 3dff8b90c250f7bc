import { type Address, erc20Abi, erc4626Abi, parseAbi, toEventSelector } from 'viem'
import type { Context } from '../postgres/context.js'
import { readBlock } from '../rpc/blocks.js'
import type { Chain } from '../rpc/chains.js'
import { multicallMany } from '../rpc/manyReads.js'
import { combine, mapRead, type Read, readContract } from '../rpc/multicall.js'
import { createNode } from '../rpc/node.js'
import type { Header } from '../rpc/raw.js'
import type { ObservedVault } from '../vaults/index.js'
import { findVaultKind } from '../vaults/index.js'
import type { GridVault } from './store.js'
import { findNewestIdentityBlock, type NewIdentity, recordIdentities } from './storeIdentities.js'

const shareAbi = parseAbi(['function share() view returns (address)'])
const upgradedTopic = toEventSelector('Upgraded(address)')
/** Blocks whose logs are requested at once, and the farthest distance from the head: the reading at the head covers older ones. */
const blocksPerRange = 2_000
const blocksMax = 20_000
/** The most blocks of one vault, the newest: a contract that emits the event in every block must not delay the others. */
const upgradesMax = 16

/** The tokens a vault names. */
export type NamedTokens = { asset: Address; receiptToken: Address }

/** Which tokens a vault names; undefined where it does not say, which is no reading. */
export function askTokens(vault: ObservedVault): Read<NamedTokens | undefined> {
  const address = vault.address as Address
  const kind = findVaultKind(vault.kind ?? '')
  return mapRead(
    combine({
      asset: kind?.readAsset?.(address, vault.contracts) ?? readContract(address, erc4626Abi, 'asset', []),
      share: readContract(address, shareAbi, 'share', []),
    }),
    ({ asset, share }) => {
      // If the share token is another contract, it may only have failed to respond.
      const own = vault.receiptToken.toLowerCase() === address.toLowerCase() ? address : undefined
      const receiptToken = share ?? own
      return asset === undefined || receiptToken === undefined ? undefined : { asset, receiptToken }
    },
  )
}

/** Asks the named tokens for their decimals at the same block: then what the vaults are is known. */
export async function completeIdentities(
  chain: Pick<Chain, 'name' | 'rpc'>,
  named: readonly { vaultId: number; tokens: NamedTokens | undefined }[],
  block: Pick<Header, 'number' | 'hash' | 'timestamp'>,
): Promise<NewIdentity[]> {
  const tokens = [...new Set(named.flatMap(({ tokens: of }) => (of ? [of.asset, of.receiptToken] : [])))]
  if (tokens.length === 0) return []
  const reads = tokens.map((token) => readContract(token, erc20Abi, 'decimals', []))
  const { answers } = await multicallMany(chain, reads, { blockHash: block.hash })
  const decimals = new Map(tokens.map((token, at) => [token, answers[at]?.answer ?? null]))
  return named.flatMap(({ vaultId, tokens: of }) =>
    of
      ? [
          {
            vaultId,
            ...{ blockNumber: block.number, blockHash: block.hash, timestamp: block.timestamp },
            ...{ asset: of.asset.toLowerCase(), receiptToken: of.receiptToken.toLowerCase() },
            assetDecimals: decimals.get(of.asset) ?? null,
            receiptDecimals: decimals.get(of.receiptToken) ?? null,
          },
        ]
      : [],
  )
}

/**
 * Reads vaults at every block in which they said since the last reading that their code was replaced, and at the block
 * before it. A node that does not give these logs or states is logged: the next reading at the head tells what it did.
 */
export async function recordUpgraded(
  { db, log }: Pick<Context, 'db' | 'log'>,
  chain: Chain,
  vaults: readonly GridVault[],
  top: Pick<Header, 'number'>,
): Promise<void> {
  const last = await findNewestIdentityBlock(db, chain.chainId, top.number)
  if (!last) return
  try {
    for (const [blockNumber, upgraded] of await listUpgraded(chain, vaults, { from: last.number + 1, to: top.number }))
      for (const number of [blockNumber - 1, blockNumber]) {
        const block = await readBlock(chain, number)
        const { answers } = await multicallMany(chain, upgraded.map(askTokens), { blockHash: block.hash })
        const named = upgraded.map(({ id }, at) => ({ vaultId: id, tokens: answers[at]?.answer }))
        await recordIdentities(db, await completeIdentities(chain, named, block))
      }
  } catch (error) {
    log.warn({ err: error, chainId: chain.chainId }, 'vaults could not be read where their code was replaced')
  }
}

async function listUpgraded(
  chain: Pick<Chain, 'rpc'>,
  vaults: readonly GridVault[],
  { from, to }: { from: number; to: number },
): Promise<ReadonlyMap<number, GridVault[]>> {
  const node = createNode(chain.rpc)
  const byAddress = new Map(vaults.map((vault) => [vault.address, vault]))
  const found = new Map<GridVault, Set<number>>()
  for (let fromBlock = Math.max(from, to - blocksMax + 1); fromBlock <= to; fromBlock += blocksPerRange) {
    const toBlock = Math.min(to, fromBlock + blocksPerRange - 1)
    const filter = { addresses: [...byAddress.keys()], topics: [upgradedTopic] }
    const { logs } = await node.listRange({ ...filter, fromBlock, toBlock })
    for (const { address, blockNumber } of logs) {
      const vault = byAddress.get(address)
      if (vault) found.set(vault, (found.get(vault) ?? new Set()).add(blockNumber))
    }
  }
  const byBlock = new Map<number, GridVault[]>()
  for (const [vault, numbers] of found)
    for (const number of [...numbers].toSorted((a, b) => a - b).slice(-upgradesMax))
      byBlock.set(number, [...(byBlock.get(number) ?? []), vault])
  return byBlock
}
