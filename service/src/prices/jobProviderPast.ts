import type { Clock } from '../kernel/clock.js'
import type { Log } from '../kernel/log.js'
import { OutboundError } from '../kernel/outbound.js'
import type { Database } from '../postgres/pool.js'
import { toObservation } from './jobProvider.js'
import type { PriceProvider } from './providers.js'
import { listProvidedHistories, type ProvidedHistory, recordProvidedWalk } from './storeSources.js'
import { recordProvided } from './storeSuspects.js'

/** Missed prices are requested once this much of the past is missing. */
const againSeconds = 24 * 3_600

/**
 * Asks the provider what prices were, oldest first, so that each is weighed against the one before; as far back as it
 * tells, then what came while nobody asked. A window that fails is asked for again: of those that failed one each run, so that
 * they hold up nothing else. Returns whether more is left.
 */
export async function fetchProvidedPast(
  ctx: { db: Database; clock: Clock; log: Log },
  provider: PriceProvider,
  options: { pastSeconds: number; requests: number },
): Promise<boolean> {
  const { past } = provider
  const nowSeconds = Math.floor(ctx.clock.now().getTime() / 1_000)
  const oldest = nowSeconds - Math.min(past.reachSeconds, options.pastSeconds)
  const open = (await listProvidedHistories(ctx.db, provider.name)).flatMap((history) => {
    const span = findUnread(history, { nowSeconds, oldest })
    return span ? [{ ...history, ...span }] : []
  })
  const plan = (isFailing: boolean) =>
    planBatches(
      open.filter((each) => each.isFailing === isFailing),
      isFailing ? 1 : past.batchMax,
    )
  const failing = plan(true)
  // Another one from minute to minute.
  const again = failing[Math.floor(nowSeconds / 60) % failing.length]
  const batches = [...plan(false).slice(0, options.requests), ...(again ? [again] : [])]
  for (const batch of batches) await fetchWindow(ctx, provider, batch, nowSeconds)
  return open.length > 0
}

type Open = ProvidedHistory & { from: number; end: number }

/** The unread past of a token; undefined: it is all read. */
function findUnread(
  { walk }: ProvidedHistory,
  { nowSeconds, oldest }: { nowSeconds: number; oldest: number },
): { from: number; end: number } | undefined {
  if (!walk) return { from: oldest, end: nowSeconds }
  if (walk.next !== null) return { from: Math.max(walk.next, oldest), end: walk.newest }
  const read = Math.max(walk.newest, oldest)
  return nowSeconds - read >= againSeconds ? { from: read, end: nowSeconds } : undefined
}

/** Tokens that are read from one instant on are asked for together. */
function planBatches(open: readonly Open[], batchMax: number): Open[][] {
  const groups = new Map<string, Open[]>()
  for (const each of open) {
    const key = `${each.from}:${each.end}`
    groups.set(key, [...(groups.get(key) ?? []), each])
  }
  return [...groups.values()].flatMap((group) => {
    const ids = [...new Set(group.map(({ priceId }) => priceId))]
    return Array.from({ length: Math.ceil(ids.length / batchMax) }, (_, index) => {
      const own = new Set(ids.slice(index * batchMax, (index + 1) * batchMax))
      return group.filter(({ priceId }) => own.has(priceId))
    })
  })
}

async function fetchWindow(
  { db, log }: { db: Database; log: Log },
  provider: PriceProvider,
  batch: readonly Open[],
  nowSeconds: number,
): Promise<void> {
  const [first] = batch
  if (!first) return
  const { from, end } = first
  const to = Math.min(end, from + provider.past.windowSeconds)
  const ids = [...new Set(batch.map(({ priceId }) => priceId))]
  try {
    // A walk whose end lies before what is told any more is over.
    const told = to > from ? await provider.past.fetch(ids, { from, to }) : []
    const inTime = told.filter(({ atSeconds }) => atSeconds >= from && atSeconds <= to)
    inTime.sort((a, b) => a.atSeconds - b.atSeconds)
    const observations = inTime.flatMap((price) =>
      batch
        .filter(({ priceId }) => priceId === price.priceId)
        .map((token) => toObservation(token, price, { source: provider.name, nowSeconds })),
    )
    await recordProvided(db, observations)
    for (const token of batch)
      await recordProvidedWalk(db, token, { source: provider.name, next: to < end ? to : null, newest: end })
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    log.warn({ err: error, ids: ids.length, from, to }, `past prices of ${provider.name} could not be fetched`)
    const problem = error.message
    for (const token of batch)
      await recordProvidedWalk(db, token, { source: provider.name, next: from, newest: end, problem })
  }
}
