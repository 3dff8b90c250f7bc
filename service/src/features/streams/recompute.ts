import type { Context } from '../../postgres/context.js'
import type { Database } from '../../postgres/pool.js'
import { transferTopic } from '../../rpc/abis.js'
import { readBlock } from '../../rpc/blocks.js'
import type { Chain } from '../../rpc/chains.js'
import { createNode } from '../../rpc/node.js'
import type { RawLog } from '../../rpc/raw.js'
import { readInRanges } from '../../sync/ranges.js'
import { findBlockAt, findStreamTarget, listNonHolders } from '../../vaults/index.js'
import { readLotSteps } from '../positions/index.js'
import { createWeigher } from './adapters.js'
import { hashHoldings, type RewardInputs, type RewardResult, recomputeRewards } from './rewardFile.js'
import { findTerms, readInputs } from './snapshotInputs.js'
import { findSnapshotOf } from './storeSnapshots.js'
import { findStream } from './storeStreams.js'
import type { BalanceStep } from './types.js'

/** What the tables say today of the snapshot a reward file is of: `isSame`: who held what since is as it was then. */
export type TodaysRewards = RewardResult & { isSame: boolean }

/** Counts a snapshot again from what is derived of the chain today. Undefined where the snapshot is not kept. */
export async function recomputeFromTables(
  db: Database,
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

/**
 * What a node tells of a snapshot. `lots`: whether it told who sourced which shares; 'file': the file does not say by what
 * that is found. `untraced`: transactions that brought some, perhaps, and that no node tells how they ran.
 */
export type NodesRewards = RewardResult & { lots: 'none' | 'node' | 'file'; untraced: number }

/**
 * Counts a snapshot again with nothing of the database: who held what comes out of the transfers a node tells, what
 * distributors sourced out of the inputs of transactions, prices out of the file. Throws ChainDiffers where the node has
 * another chain.
 */
export async function recomputeFromNode(
  ctx: Pick<Context, 'clock' | 'log'> & { chain: Chain },
  inputs: RewardInputs,
): Promise<NodesRewards> {
  const { origin, terms, from, facts, configuration } = inputs
  const { block, target } = origin
  const head = await readBlock(ctx.chain, block.number)
  if (head.hash !== block.hash)
    throw new ChainDiffers(`block ${block.number} is ${head.hash} at the node, and ${block.hash} in the file`)
  const at = from?.own.at ?? terms.startAt
  const span = { at, from: (await findBlockAt(ctx.chain, head, at))?.number ?? -1, to: block.number }
  const excluded = listNonHolders(target.own)
  const balances = await readBalances(ctx.chain, { ...span, token: target.token, excluded })
  const distributorIds = [...createWeigher(terms.adapters).distributors]
  const read =
    configuration && (await readLotSteps(ctx, configuration, { ...span, vault: target.address, distributorIds }))
  const lots = read ? read.steps.filter(({ wallet }) => !excluded.has(wallet)) : facts.lots
  return {
    ...recomputeRewards({ ...inputs, facts: { ...facts, balances, lots } }),
    lots: read ? 'node' : distributorIds.length > 0 ? 'file' : 'none',
    untraced: read?.untraced ?? 0,
  }
}

/** Shares of every holder of a token at a block and each of their changes since, out of its transfers. */
async function readBalances(
  chain: Chain,
  ask: { token: string; excluded: ReadonlySet<string>; from: number; to: number; at: number },
): Promise<BalanceStep[]> {
  const held = new Map<string, bigint>()
  const balances: BalanceStep[] = []
  const times = new Map<number, number>()
  let isStarted = false
  const start = () => {
    isStarted = true
    for (const [wallet, shares] of held) if (shares > 0n) balances.push({ at: ask.at, wallet, shares })
  }
  for await (const { blockNumber, topics, data } of listTransfers(chain, ask.token, ask.to)) {
    if (!isStarted && blockNumber > ask.from) start()
    const [, sender, receiver] = topics
    const moves = [[sender, -BigInt(data)] as const, [receiver, BigInt(data)] as const]
    for (const [topic, amount] of moves) {
      const wallet = `0x${topic?.slice(26) ?? ''}`
      if (ask.excluded.has(wallet)) continue
      const shares = (held.get(wallet) ?? 0n) + amount
      held.set(wallet, shares)
      if (!isStarted) continue
      const time = times.get(blockNumber) ?? (await readBlock(chain, blockNumber)).timestamp
      times.set(blockNumber, time)
      balances.push({ at: time, wallet, shares })
    }
  }
  if (!isStarted) start()
  return balances
}

/** All transfers of a token up to a block, in their order. */
async function* listTransfers(chain: Chain, token: string, last: number): AsyncGenerator<RawLog> {
  const node = createNode(chain.rpc)
  const filter = { addresses: [token], topics: [transferTopic] }
  const read = async ({ from, to }: { from: number; to: number }) =>
    (await node.listRange({ ...filter, fromBlock: from, toBlock: to })).logs
  for await (const logs of readInRanges({ from: 0, to: last }, read))
    yield* logs.toSorted((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
}
