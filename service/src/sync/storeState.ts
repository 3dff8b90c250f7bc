import { createHash } from 'node:crypto'
import type { Fragment, Queryable } from '../postgres/pool.js'
import type { DerivedTable } from './projection.js'

type Line = { line: string }

/** SHA-256 of the rows of derived tables of a chain, each table in a fixed order. Equal rows give an equal hash. */
export async function hashTables(db: Queryable, chainId: number, tables: readonly DerivedTable[]): Promise<string> {
  const hash = createHash('sha256')
  for (const each of tables) {
    const lines = linesOf(db, chainId, each)
    if (!lines) continue
    hash.update(`${each.table.name}\n`)
    for await (const rows of db<Line[]>`${lines}`.cursor(5_000)) for (const { line } of rows) hash.update(`${line}\n`)
  }
  return hash.digest('hex')
}

function linesOf(db: Queryable, chainId: number, { table, isRecord, state }: DerivedTable): Fragment | undefined {
  if (typeof state === 'function') return state(db, chainId)
  if (state) return undefined
  return db`
    select to_jsonb(t)::text as line from ${db(table.name)} t
    where chain_id = ${chainId} ${isRecord ? db`and not ${isRecord(db)}` : db``} order by to_jsonb(t)::text collate "C"`
}
