import postgres from 'postgres'

export type Database = postgres.Sql<{ bigint: number }>
export type Transaction = postgres.TransactionSql<{ bigint: number }>
/** Either: what a store function that may run inside a transaction takes. */
export type Queryable = Database | Transaction

export type DatabaseTarget =
  | { url: string }
  | { host: string; port: number; database: string; username: string; password?: string }

/**
 * Opens a pool. `bigint` columns (block numbers, chain ids, counts) read as numbers, all below 2^53; `numeric` reads
 * as text, so that amounts go through BigInt and never through a float.
 */
export function openDatabase(target: DatabaseTarget, options: { max?: number; name?: string } = {}): Database {
  const settings: postgres.Options<{ bigint: postgres.PostgresType<number> }> = {
    max: options.max ?? 10,
    connect_timeout: 10,
    idle_timeout: 0,
    max_lifetime: null,
    // Seconds before a lost server is tried again; a caller waits at most this long for its 503.
    backoff: (attempt) => Math.min(0.02 * 2 ** attempt, 0.5),
    onnotice: () => undefined,
    connection: { application_name: options.name ?? 'openearn', TimeZone: 'UTC' },
    types: {
      bigint: { to: 20, from: [20], serialize: (value: number) => String(value), parse: parseBigint },
    },
  }
  const sql =
    'url' in target
      ? postgres(target.url, settings)
      : postgres({
          ...settings,
          host: target.host,
          port: target.port,
          database: target.database,
          username: target.username,
          password: target.password ?? '',
        })
  return sql as unknown as Database
}

/** A pool of its own to the same database. Asked one statement at a time it stays on one connection: a session. */
export const openSession = (db: Database): Database => postgres(db.options as never) as unknown as Database

function parseBigint(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`a bigint column holds ${text}, beyond 2^53`)
  return value
}

/** SQLSTATE of a database error, if it has one. */
export function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined
  return /^[0-9A-Z]{5}$/.test(error.code) ? error.code : undefined
}

/** True when a unique or exclusion constraint refused the write. */
export function isUniqueViolation(error: unknown): boolean {
  return sqlState(error) === '23505' || sqlState(error) === '23P01'
}

const connectionCode =
  /^(CONNECTION_(CLOSED|ENDED|DESTROYED)|CONNECT_TIMEOUT|ECONNREFUSED|ECONNRESET|ENOENT|EPIPE|ETIMEDOUT)$/

/** True when the database could not be reached, is shutting down or has no room: the caller should try again later. */
export function isDatabaseUnavailable(error: unknown): boolean {
  const state = sqlState(error)
  if (state)
    return (
      state.startsWith('08') || state.startsWith('57P') || state === '53100' || state === '53300' || state === '25006'
    )
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && connectionCode.test(error.code)
}

/**
 * Runs `work` in one transaction; a serialization failure or deadlock is tried again, at most `attempts` times in all.
 * Once its connection is lost, statements of `work` fail: the driver would send them, outside of any transaction, on
 * the connection that came in its place.
 */
export async function inTransaction<T>(db: Database, work: (tx: Transaction) => Promise<T>, attempts = 5): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    let over = false
    const apply: ProxyHandler<Transaction>['apply'] = (tx, self, words) => {
      if (over) throw Object.assign(new Error('the transaction lost its connection'), { code: 'CONNECTION_CLOSED' })
      return Reflect.apply(tx, self, words)
    }
    try {
      return (await db.begin((tx) => work(new Proxy(tx, { apply })))) as T
    } catch (error) {
      over = true
      const state = sqlState(error)
      if (attempt >= attempts || (state !== '40001' && state !== '40P01')) throw error
    }
  }
}

/** A fact about this installation, by name. */
export async function readSetting(db: Queryable, name: string): Promise<unknown> {
  const rows = await db<{ value: unknown }[]>`select value from settings where name = ${name}`
  return rows[0]?.value
}

/** Records a fact about this installation in place of an earlier one. */
export async function recordSetting(db: Queryable, name: string, value: postgres.JSONValue): Promise<void> {
  await db`
    insert into settings (name, value) values (${name}, ${db.json(value)})
    on conflict (name) do update set value = excluded.value, updated_at = now()`
}
