import type { Fragment, Queryable } from '../../postgres/pool.js'
import { listTakenBack } from './takenBack.js'

/** A condition on `vault_id`: the rows that are taken back with some sources of positions. */
export function isTakenBack(db: Queryable, by: Parameters<typeof listTakenBack>[0]): Fragment {
  return db`vault_id = any(${listTakenBack(by) ?? []}::int[])`
}
