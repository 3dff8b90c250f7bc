import { type Database, inTransaction, type Queryable } from '../../postgres/pool.js'
import { UsageError } from '../terminal.js'

/** Written on the schema before anything is made in it, so that a devnet killed while it is being made is still one. */
const mark = 'OpenEarn devnet: made and emptied by `openearn dev`'

/**
 * Makes sure that a database is the devnet's to fill and to empty: it bears the devnet's mark, or holds nothing at all
 * and is marked now. Any other is refused as it stands.
 */
export async function claimDevnet(db: Database, where: string): Promise<void> {
  await inTransaction(db, async (tx) => {
    if (await isDevnet(tx)) return
    const found = await listContents(tx)
    if (found.length > 0)
      throw new UsageError(
        `${where} is not a devnet: it holds ${found.slice(0, 3).join(', ')}${found.length > 3 ? ' and more' : ''}. Nothing was changed. ` +
          'Use an empty database or another data folder for `openearn dev`, or `openearn start` to run the service on this one',
      )
    await tx.unsafe(`comment on schema public is '${mark}'`)
  })
}

/** Empties the devnet's database. A database without the mark is never touched. */
export async function dropDevnet(db: Database): Promise<void> {
  await inTransaction(db, async (tx) => {
    if (!(await isDevnet(tx))) throw new UsageError('this database is not a devnet, so it is not emptied')
    await tx.unsafe(`drop schema public cascade; create schema public; comment on schema public is '${mark}'`)
  })
}

async function isDevnet(db: Queryable): Promise<boolean> {
  const [row] = await db<{ comment: string | null; settings: string | null }[]>`
    select obj_description(to_regnamespace('public')::oid, 'pg_namespace') as comment,
      to_regclass('public.settings')::text as settings`
  if (row?.comment === mark) return true
  if (!row?.settings) return false
  // Devnets of earlier versions are marked in a table alone; a stranger's table of this name may have any shape.
  const marks = await db`
    select from public.settings as setting
    where to_jsonb(setting) ->> 'name' = 'devnet' and to_jsonb(setting) -> 'value' -> 'genesisHash' is not null`
  return marks.length > 0
}

/** Objects in the database other than those of PostgreSQL itself. */
async function listContents(db: Queryable): Promise<string[]> {
  const rows = await db<{ name: string }[]>`
    with own as (
      select oid, nspname from pg_namespace
      where nspname not in ('pg_catalog', 'information_schema', 'pg_toast') and nspname !~ '^pg_(temp|toast_temp)_')
    select kind || ' ' || nspname || '.' || name as name from (
      select case when relkind = 'S' then 2 else 1 end as rank, relnamespace as space, relname as name, case relkind
        when 'r' then 'table' when 'p' then 'table' when 'v' then 'view' when 'm' then 'view' when 'S' then 'sequence'
        else 'relation' end as kind
      from pg_class where relkind in ('r', 'p', 'v', 'm', 'S', 'f')
      union all select 3, pronamespace, proname, 'function' from pg_proc
      union all select 4, typnamespace, typname, 'type' from pg_type where typtype in ('d', 'e', 'r')
    ) as things join own on own.oid = things.space order by rank, nspname, name limit 4`
  return rows.map(({ name }) => name)
}
