import { isDeepStrictEqual } from 'node:util'
import { newId } from '../../kernel/ids.js'
import type { Context } from '../../postgres/context.js'
import type { Database, Queryable, Transaction } from '../../postgres/pool.js'
import { type OperatorChange, recordChange } from './storeChanges.js'

export type Change = {
  osUser: string
  command: string
  /** Reads the changed object, before and after the change, in its transaction. */
  look(tx: Queryable): Promise<unknown>
  /** Recorded also where nothing looks different afterwards. */
  always?: boolean
}

export type Recorder = {
  db: Database
  /** Tells what came of a command that has several transactions, in place of what its last one left. */
  conclude(outcome: unknown): Promise<void>
}

/**
 * The same database, but each transaction records the change it makes: who, by which command, the values before and after. A
 * transaction that returns false, or changes nothing, is not recorded.
 */
export function recordChanges({ db, clock }: Pick<Context, 'db' | 'clock'>, change: Change): Recorder {
  const { osUser, command, look, always } = change
  const id = newId()
  let last: OperatorChange | undefined
  // Of transactions that run at once the first one has the record: two that wrote it would wait for each other.
  let isTaken = false
  const recorded = async <T>(
    tx: Transaction,
    work: (tx: Transaction) => Promise<T>,
    onRecorded: (change: OperatorChange) => void,
  ): Promise<T> => {
    if (isTaken) return work(tx)
    const before = toJson(await look(tx))
    const result = await work(tx)
    if (result === false || isTaken) return result
    const after = toJson(await look(tx))
    if (isTaken || (!always && isDeepStrictEqual(before, after))) return result
    isTaken = true
    const found = { id, at: clock.now(), osUser, command, before, after }
    onRecorded(found)
    await recordChange(tx, found)
    return result
  }
  // Called as a function too, as `db` is.
  const call = ((...input: Parameters<Database>) => db(...input)) as Database
  const begin: Database['begin'] = async (work) => {
    let own: OperatorChange | undefined
    const onRecorded = (change: OperatorChange) => {
      own = change
      last = change
    }
    try {
      return await db.begin((tx) => recorded(tx, work, onRecorded))
    } catch (error) {
      // Its own records roll back with it.
      if (own) {
        isTaken = false
        last = undefined
      }
      throw error
    }
  }
  return {
    db: Object.assign(call, db, { begin }) as Database,
    conclude: async (outcome) => {
      if (last) await recordChange(db, { ...last, after: toJson(outcome) })
    },
  }
}

/** As it is kept: without what JSON has no word for. */
function toJson(value: unknown): unknown {
  return value === undefined
    ? null
    : JSON.parse(JSON.stringify(value, (_name, one) => (typeof one === 'bigint' ? String(one) : one)))
}
