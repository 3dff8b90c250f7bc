import type { Queryable } from '../../postgres/pool.js'
import { blocksOf } from '../../sync/storeRaw.js'

/** Heights whose header does not name the one before it, among headers that follow each other. */
export async function listGaps(db: Queryable, chainId: number): Promise<number[]> {
  const rows = await db<{ number: number }[]>`
    select b.number from ${blocksOf(db)} b
    join ${blocksOf(db)} a on a.chain_id = b.chain_id and a.number = b.number - 1
    where b.chain_id = ${chainId} and b.parent_hash <> a.hash order by b.number limit 100`
  return rows.map(({ number }) => number)
}

/** Which of these indexes the database does not have, as after a restore that failed half way. */
export async function listMissingIndexes(db: Queryable, names: readonly string[]): Promise<string[]> {
  const rows = await db<{ name: string }[]>`
    select indexname as name from pg_indexes where schemaname = current_schema()`
  const present = new Set(rows.map(({ name }) => name))
  return names.filter((name) => !present.has(name))
}

/** Names of indexes the database itself calls invalid. */
export async function listInvalidIndexes(db: Queryable): Promise<string[]> {
  const rows = await db<{ name: string }[]>`
    select c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid
    join pg_namespace n on n.oid = c.relnamespace where n.nspname = current_schema() and not i.indisvalid`
  return rows.map(({ name }) => name)
}
