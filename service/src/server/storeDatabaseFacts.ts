import type { Queryable } from '../postgres/pool.js'

/** Facts that the server of the database tells of itself. */
export type DatabaseFacts = {
  at: Date
  isArchiving: boolean
  archivedAt: Date | null
  failedAt: Date | null
  isDurable: boolean
  connectionsMax: number
  connectionsReserved: number
  /** Connections that are open and not ours. */
  others: number
}

export async function findDatabaseFacts(db: Queryable): Promise<DatabaseFacts> {
  const [row] = await db<DatabaseFacts[]>`
    select clock_timestamp() as at, current_setting('archive_mode') <> 'off' as "isArchiving",
      a.last_archived_time as "archivedAt", a.last_failed_time as "failedAt",
      current_setting('fsync') = 'on' and current_setting('full_page_writes') = 'on' as "isDurable",
      current_setting('max_connections')::int as "connectionsMax",
      current_setting('superuser_reserved_connections')::int as "connectionsReserved",
      (select count(*)::int from pg_stat_activity
        where backend_type = 'client backend' and application_name not like 'openearn%') as others
    from pg_stat_archiver a`
  if (!row) throw new Error('the database says nothing of itself')
  return row
}
