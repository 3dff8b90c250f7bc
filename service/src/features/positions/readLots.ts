import { createDerivation, type Derivation, derive } from '../../derive/derive.js'
import { openFastRecover } from '../../derive/fastRecover.js'
import { emptyState } from '../../derive/rows.js'
import type { Clock } from '../../kernel/clock.js'
import type { Log } from '../../kernel/log.js'
import type { Chain } from '../../rpc/chains.js'
import { createNode, type Node } from '../../rpc/node.js'
import type { RawBlock, RawLog } from '../../rpc/raw.js'
import { createTracer } from '../../rpc/tracer.js'
import { fetchRange } from '../../sync/fetch.js'
import { readAnswers } from '../../sync/observations.js'
import type { Source } from '../../sync/projection.js'
import { readInRanges } from '../../sync/ranges.js'
import { createWatchList, type WatchList } from '../../sync/watchList.js'
import { requestTopics } from '../../vaults/index.js'
import { type KeptConfiguration, openConfiguration } from './keptConfiguration.js'
import { listSources, wantViews, withReadings } from './projection.js'
import type { LotShareStep, ShareStep } from './storeSteps.js'

/** Of a vault by its address, like `StepsAsk`; `from` and `to` are blocks, `at` is the instant of what is held. */
export type LotsAsk = {
  vault: string
  from: number
  to: number
  at: number
  distributorIds: readonly string[]
}

/** `untraced`: transactions whose calls would have to be known to tell who brought what, and no node tells them. */
export type ReadLots = {
  steps: LotShareStep[]
  /** The shares that count for each wallet. */
  shares: ShareStep[]
  untraced: number
}

/**
 * Derives the lots of a vault again from the logs, inputs and traces of a node, from the vault's first block on, without a
 * database. The other events in the vault's transactions are read too, because they decide which call made which event.
 */
export async function readLotSteps(
  ctx: { chain: Chain; clock: Pick<Clock, 'monotonicMs' | 'sleep'>; log: Pick<Log, 'warn'> },
  kept: KeptConfiguration,
  ask: LotsAsk,
): Promise<ReadLots> {
  const config = openConfiguration(ctx.chain.chainId, kept)
  const own = config.vaults.find(({ address }) => address === ask.vault)
  if (!own) return { steps: [], shares: [], untraced: 0 }
  const derivation = createDerivation(config, openFastRecover())
  const sources = listRead(derivation, own.address)
  const list = createWatchList(sources)
  const node = await openNode(ctx, config.trustTraces === true)
  const asksOwn = openReadings(node, createDerivation({ ...config, vaults: [own] }))
  const wanted = new Set(ask.distributorIds)
  const state = emptyState()
  const steps: LotShareStep[] = []
  const shares: ShareStep[] = []
  let [untraced, isStarted] = [0, false]
  const start = () => {
    isStarted = true
    for (const [key, held] of state.holders) {
      const [vaultId, wallet = ''] = key.split(':')
      if (Number(vaultId) !== own.id) continue
      if (held.shares > 0n) shares.push({ at: ask.at, wallet, shares: held.shares })
      for (const [distributorId, lot] of held.lots)
        if (wanted.has(distributorId)) steps.push({ at: ask.at, wallet, distributorId, shares: lot })
    }
  }
  const first = Math.min(...sources.flatMap(({ beside, fromBlock }) => (beside ? [] : [fromBlock])))
  const read = async (range: { from: number; to: number }) => asksOwn((await fetchRange(node, range, list)).blocks)
  for await (const blocks of readInRanges({ from: first, to: ask.to }, read))
    for (const block of blocks) {
      if (!isStarted && block.number > ask.from) start()
      untraced += countUntraced(block, list)
      const { balanceChanges, lotChanges } = derive(withReadings(block), derivation, state)
      for (const { vaultId, wallet, timestamp, after } of balanceChanges)
        if (isStarted && vaultId === own.id) shares.push({ at: timestamp, wallet, shares: after })
      for (const { vaultId, wallet, distributorId, timestamp, after } of lotChanges)
        if (isStarted && vaultId === own.id && wanted.has(distributorId))
          steps.push({ at: timestamp, wallet, distributorId, shares: after })
    }
  if (!isStarted) start()
  return { steps, shares, untraced }
}

/** The sources of one vault, and of all others only what stands in its transactions. */
function listRead(derivation: Derivation, vault: string): Source[] {
  const isOwn = (key: string) => key === vault || key.startsWith(`${vault} `)
  const others = new Set(derivation.config.vaults.flatMap(({ address }) => (address === vault ? [] : [address])))
  return listSources(derivation).map((source) =>
    others.has(source.key.split(' ')[0] ?? '') && !isOwn(source.key) ? { ...source, beside: () => true } : source,
  )
}

async function openNode({ chain, clock, log }: Parameters<typeof readLotSteps>[0], trusts: boolean): Promise<Node> {
  const { rpc, traceRpcs = [] } = chain
  const tracer = createTracer(traceRpcs, { recover: openFastRecover(), clock, log, trusts })
  await tracer.open()
  return createNode(rpc, tracer)
}

/** Asks a vault what its claims settled, as the watcher does: of requests named by earlier blocks and by these. */
function openReadings(node: Node, { vaultsByContract }: Derivation) {
  const earlier: RawLog[] = []
  return async (blocks: readonly RawBlock[]): Promise<readonly RawBlock[]> => {
    const questions = node.readViews ? wantViews(blocks, earlier, vaultsByContract) : []
    for (const { logs } of blocks)
      earlier.push(
        ...logs.filter(
          ({ address, topics }) => vaultsByContract.has(address) && requestTopics.includes(topics[0] ?? ''),
        ),
      )
    return readAnswers(node, blocks, [{ name: 'positions', questions }])
  }
}

function countUntraced({ transactions, logs }: RawBlock, { needsTrace }: WatchList): number {
  return transactions.filter(
    (transaction) =>
      (transaction.evidence === undefined || transaction.evidence === 'no trace') &&
      needsTrace(
        transaction,
        logs.filter(({ transactionHash }) => transactionHash === transaction.hash),
      ),
  ).length
}
