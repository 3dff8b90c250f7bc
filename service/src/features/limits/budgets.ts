import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Context } from '../../kernel/context.js'
import {
  type Allowance,
  chooseFitting,
  computeRoom,
  findRefusal,
  formatBudgetHeaders,
  secondsToNext,
  type Used,
  windowsAt,
} from './budget.js'
import { chargeUnits, findUsed } from './store.js'

/** What became of a charge. The headers are those of the answer it belongs to. */
export type Charge = { headers: Record<string, string> } & (
  | { granted: true }
  | { granted: false; limit: 'hourly' | 'monthly'; retryAfterSeconds: number }
)

export type Budgets = {
  /**
   * Charges units to a key. 0 units are always granted and only read what is used. Fails when the database does: a call
   * that cannot be charged is not served.
   */
  charge(allowance: Allowance, units: number): Promise<Charge>
}

type Waiting = {
  allowance: Allowance
  units: number
  resolve(charge: Charge): void
  reject(error: unknown): void
}

/** How many turns of the event loop a key's next statement waits for the calls that the last one set free. */
const gatherTurnsMax = 30

/**
 * Budgets exact across processes. At most one statement per key and process is in flight; calls that arrive meanwhile
 * are charged together by the next. If their sum does not fit, those that do fit one after the other are charged,
 * against what is then known to be left. What is used only grows within a window, so a refusal stays right and a
 * repeated attempt always has less to share out: the loop ends. A commit costs the same for one call as for a hundred:
 * where the last statement served several, the next one waits a few turns until as many are there again.
 */
export function createBudgets(ctx: Pick<Context, 'db' | 'clock'>): Budgets {
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
    charge: (allowance, units) =>
      new Promise((resolve, reject) => {
        const waiting = { allowance, units, resolve, reject }
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

async function settle({ db, clock }: Pick<Context, 'db' | 'clock'>, batch: readonly Waiting[]): Promise<void> {
  const allowance = batch[batch.length - 1]?.allowance
  if (!allowance) return
  let waiting = batch
  let used: Used | undefined
  while (waiting.length > 0) {
    const fitting: readonly Waiting[] = used ? chooseFitting(waiting, computeRoom(allowance, used)) : waiting
    if (used && fitting.length === 0) return refuse(waiting, allowance, used, clock.now())
    const windows = windowsAt(clock.now())
    const sum = fitting.reduce((total, { units }) => total + units, 0)
    const charged = sum > 0 ? await chargeUnits(db, allowance, windows, sum) : undefined
    used = charged ?? (await findUsed(db, allowance.keyId, windows))
    if (!charged && sum > 0) continue
    grant(fitting, allowance, used, sum)
    const served = new Set(fitting)
    waiting = waiting.filter((item) => !served.has(item))
  }
}

/** Each answer shows what was used up to and including itself. */
function grant(fitting: readonly Waiting[], allowance: Allowance, used: Used, sum: number): void {
  let later = sum
  for (const { units, resolve } of fitting) {
    later -= units
    const then = { ...used, hourUsed: used.hourUsed - later, monthUsed: used.monthUsed - later }
    resolve({ granted: true, headers: formatBudgetHeaders(allowance, then) })
  }
}

function refuse(waiting: readonly Waiting[], allowance: Allowance, used: Used, now: Date): void {
  const headers = formatBudgetHeaders(allowance, used)
  for (const { units, resolve } of waiting) {
    const limit = findRefusal(allowance, used, units)
    resolve({ granted: false, headers, limit, retryAfterSeconds: secondsToNext(limit, used, now) })
  }
}
