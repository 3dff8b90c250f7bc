import { systemClock } from '../../../kernel/clock.js'
import type { Context, Tell } from '../../../postgres/context.js'
import { inTransaction } from '../../../postgres/pool.js'
import { toEvent } from '../event.js'
import type { Feed } from '../feed.js'
import { listRowsAt } from '../storeFeed.js'
import { deliver, type Sending } from './deliver.js'
import { findEnd, pauseAfter } from './schedule.js'
import { toWebhook } from './schema.js'
import {
  disableWebhook,
  endDelivered,
  endFailed,
  endPruned,
  feedQueues,
  type Leased,
  leaseEvents,
  listDue,
} from './storeQueue.js'
import { findWebhook, recordAttempt, type SecretRow } from './storeWebhooks.js'

type DeliveryContext = Context & { readonly feed: Feed }

/** A try that is not ended by then is taken over by another process: longer than any try takes. */
const leaseMs = 60_000
/** How often queues are looked at although nothing was announced: retries become due by time. */
const lookMs = 1_000
/** Events on their way from this process. */
const inFlightMax = 2_000
/** Webhooks whose events are taken in one transaction. */
const leasedMax = 50

/**
 * Delivers events to webhooks until stopped. Any number of processes may do so: each event is leased by one at a time, and a
 * process that dies loses none. A stop waits for what is on its way.
 */
export function startDeliveries(
  ctx: DeliveryContext,
  { tell, ...sending }: Omit<Sending, 'signal'> & { tell: Tell },
): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const { signal } = stopping
  const flying = new Set<Promise<void>>()
  let wake = () => undefined as undefined
  let isAsked = false
  const ask = () => {
    isAsked = true
    wake()
  }
  const launch = (webhook: SecretRow, event: Leased, body: string) => {
    const work = deliverOne(ctx, { ...sending, tell, signal }, { webhook, event, body })
      .catch((error: unknown) => ctx.log.error({ err: error, webhookId: webhook.id }, 'a delivery could not be ended'))
      .finally(() => {
        flying.delete(work)
        ask()
      })
    flying.add(work)
  }
  const launchDue = async (ids: readonly string[], at: Date) => {
    const until = new Date(at.getTime() + leaseMs)
    const leases = await inTransaction(ctx.db, (tx) => leaseEvents(tx, { ids, at, until }))
    const positions = new Set(leases.flatMap(({ events }) => events.map(({ position }) => position)))
    if (positions.size === 0) return
    const rows = await listRowsAt(ctx.db, [...positions])
    const bodies = new Map(rows.map((row) => [row.position, JSON.stringify(toEvent(row))]))
    for (const { webhook, events } of leases)
      for (const event of events) {
        const body = bodies.get(event.position)
        if (body !== undefined) launch(webhook, event, body)
        else await inTransaction(ctx.db, (tx) => endPruned(tx, { id: webhook.id, event, at }))
      }
  }
  const look = async () => {
    const at = ctx.clock.now()
    while (await inTransaction(ctx.db, (tx) => feedQueues(tx, at)));
    const due = await listDue(ctx.db, at)
    for (let from = 0; from < due.length; from += leasedMax) {
      if (signal.aborted || flying.size >= inFlightMax) return
      await launchDue(due.slice(from, from + leasedMax), at)
    }
  }
  const unwatch = ctx.feed.watch(ask)
  const looking = (async () => {
    let failures = 0
    while (!signal.aborted) {
      isAsked = false
      try {
        await look()
        failures = 0
      } catch (error) {
        if (failures++ % 60 === 0)
          ctx.log.warn({ err: error }, 'events could not be delivered to webhooks; trying again')
      }
      if (isAsked || signal.aborted) continue
      const pause = new AbortController()
      wake = () => pause.abort() as undefined
      await systemClock.sleep(lookMs, AbortSignal.any([pause.signal, signal]))
    }
  })()
  return {
    stop: async () => {
      unwatch()
      stopping.abort()
      await looking
      await Promise.all(flying)
    },
  }
}

/** One try of an event, and its end in one transaction. */
async function deliverOne(
  ctx: DeliveryContext,
  { tell, ...sending }: Sending & { tell: Tell },
  { webhook, event, body }: { webhook: SecretRow; event: Leased; body: string },
): Promise<void> {
  const { db, clock } = ctx
  const { id, organizationId } = webhook
  const tried = await deliver(
    sending,
    webhook,
    { ...event, body },
    { at: clock.now(), monotonicMs: systemClock.monotonicMs },
  )
  // A try that our own stop cut off says nothing of the receiver: its lease ends, and it is tried again.
  if (sending.signal?.aborted && tried.status === null) return
  const at = clock.now()
  await inTransaction(db, async (tx) => {
    if (tried.error === '') await endDelivered(tx, { id, event, at })
    else {
      const pauseMs = pauseAfter(event.attempt)
      const nextAt = pauseMs === null ? null : new Date(at.getTime() + pauseMs)
      const failed = await endFailed(tx, { id, event, at, nextAt })
      const reason = failed && findEnd(tried, { since: failed.since, at })
      if (reason !== undefined && (await disableWebhook(tx, { id, reason }))) {
        const row = await findWebhook(tx, { id, organizationId })
        if (row)
          await tell(tx, [
            {
              ...{ type: 'webhook.disabled', at, chainId: null, organizationId },
              ...{ subject: { kind: 'webhook', id }, data: toWebhook(row) },
            },
          ])
      }
    }
    await recordAttempt(tx, tried)
  })
}
