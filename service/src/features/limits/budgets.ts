import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Context } from '../../postgres/context.js'
import type { Seen } from '../../postgres/reading.js'
import {
  type Allowance,
  type Ask,
  chooseFitting,
  findRefusal,
  formatBudgetHeaders,
  type Limit,
  secondsToNext,
  sumUp,
  sumUpByNetwork,
  type Used,
  type Windows,
  windowsAt,
} from './budget.js'
import { chargeByAddress, chargeUnits, findUsed, type LastEventOf, removeOldAddresses } from './store.js'

/** Whether there was room. `seen`: what the key may have seen by now; absent where that was not asked for. */
type Outcome = { granted: true; seen?: Seen | undefined } | { granted: false; limit: Limit; retryAfterSeconds: number }

/** The result of a charge. The headers are those of its response. */
export type Charge = { headers: Record<string, string> } & Outcome

export type Budgets = {
  /**
   * Charges units to a key, and to the address where its share is limited. A call that turns out to be worth less than it
   * must have room for pays `taken` only. 0 units are always granted and only read what is used. Fails when the database
   * does: a call that cannot be charged is not served.
   */
  charge(allowance: Allowance, units: number, taken?: number): Promise<Charge>
}

/** `lastEventOf`: where charges tell what their key may have seen. */
type Charging = Pick<Context, 'db' | 'clock'> & { lastEventOf?: LastEventOf | undefined }

type Waiting = Ask & {
  resolve(charge: Charge): void
  reject(error: unknown): void
}

/** How many turns of the event loop a key's next statement waits for the calls that the last one set free. */
const gatherTurnsMax = 30

/**
 * Budgets exact across processes. At most one statement per key and process is in flight; calls that arrive meanwhile
 * are charged together by the next. If their sum does not fit, those that do fit one after the other are charged,
 * against the rest that is then known. Usage only grows within a window, so a refusal stays right and a
 * repeated attempt always has less to share out: the loop ends. A commit costs the same for one call as for a hundred:
 * where the last statement served several, the next one waits a few turns until as many are there again.
 */
export function createBudgets(ctx: Charging): Budgets {
  const queues = new Map<string, Waiting[]>()
  /** How many calls a key's last statement served, where that was more than one. */
  const served = new Map<string, number>()
  const gather = async (keyId: string, queue: readonly Waiting[]) => {
    const company = served.get(keyId) ?? 0
    for (let turn = 0; turn < gatherTurnsMax && queue.length < company; turn++) await nextTurn()
  }
  const drain = async (keyId: string, queue: Waiting[]) => {
    while (queue.length > 0) {
      await gather(keyId, queue)
      const batch = queue.splice(0)
      if (batch.length > 1) served.set(keyId, batch.length)
      else served.delete(keyId)
      try {
        await settle(ctx, batch)
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    queues.delete(keyId)
  }
  return {
    charge: (allowance, units, taken = units) =>
      new Promise((resolve, reject) => {
        const waiting = { allowance, units, taken, resolve, reject }
        const queue = queues.get(allowance.keyId)
        if (queue) {
          queue.push(waiting)
          return
        }
        const started = [waiting]
        queues.set(allowance.keyId, started)
        void drain(allowance.keyId, started)
      }),
  }
}

async function settle(ctx: Charging, batch: readonly Waiting[]): Promise<void> {
  const { clock } = ctx
  const allowance = batch[batch.length - 1]?.allowance
  if (!allowance) return
  let waiting = batch
  let used: Used | undefined
  while (waiting.length > 0) {
    const fitting: readonly Waiting[] = used ? chooseFitting(waiting, allowance, used) : waiting
    if (used && fitting.length === 0) return refuse(waiting, allowance, used, clock.now())
    const outcome = await chargeTogether(ctx, allowance, windowsAt(clock.now()), fitting)
    used = outcome.used
    if (!outcome.charged) continue
    grant(fitting, allowance, used)
    const served = new Set(fitting)
    waiting = waiting.filter((item) => !served.has(item))
  }
}

/** Charges all of these calls or, where they do not fit, none; and tells what is used then. */
async function chargeTogether(
  { db, lastEventOf }: Charging,
  allowance: Allowance,
  windows: Windows,
  asks: readonly Ask[],
): Promise<{ charged: boolean; used: Used }> {
  const sum = sumUp(asks)
  const networks = sumUpByNetwork(asks)
  if (networks.length > 0) return chargeByAddress(db, allowance, windows, sum, networks, lastEventOf)
  const charged = sum.taken > 0 ? await chargeUnits(db, allowance, windows, sum, lastEventOf) : undefined
  return {
    charged: charged !== undefined || sum.taken === 0,
    used: charged ?? (await findUsed(db, allowance.keyId, windows)),
  }
}

/** Each answer shows what was used up to and including itself. */
function grant(fitting: readonly Waiting[], allowance: Allowance, used: Used): void {
  let { hourUsed, monthUsed } = used
  const byNetwork = new Map(used.byNetwork)
  const headersOf = new Map<Waiting, Record<string, string>>()
  for (const item of fitting.toReversed()) {
    const { address } = item.allowance
    headersOf.set(item, formatBudgetHeaders(allowance, { ...used, hourUsed, monthUsed, byNetwork }, address))
    hourUsed -= item.taken
    monthUsed -= item.taken
    if (address) byNetwork.set(address.network, (byNetwork.get(address.network) ?? 0) - item.taken)
  }
  const { seen } = used
  for (const item of fitting) item.resolve({ granted: true, headers: headersOf.get(item) ?? {}, seen })
}

function refuse(waiting: readonly Waiting[], allowance: Allowance, used: Used, now: Date): void {
  for (const { units, resolve, allowance: asked } of waiting) {
    const limit = findRefusal(allowance, used, units, asked.address)
    const headers = formatBudgetHeaders(allowance, used, asked.address)
    resolve({ granted: false, headers, limit, retryAfterSeconds: secondsToNext(limit, used, now) })
  }
}

/** Usage of addresses in past hours no longer counts. Two hours, for a clock that is late. */
const addressKeptMs = 2 * 3_600_000

export async function sweepAddresses(ctx: Pick<Context, 'db' | 'clock'>): Promise<void> {
  const before = new Date(ctx.clock.now().getTime() - addressKeptMs)
  while ((await removeOldAddresses(ctx.db, before)) > 0);
}
