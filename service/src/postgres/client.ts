import { type ClientConfig, Client as PgClient, type QueryResult } from 'pg'
import { describeStatement } from './describeStatement.js'
import { DatabaseUnavailable, isConnectionLost, isReadOnly, isStalePlan, sqlState, toDatabaseError } from './errors.js'
import type { Renewal } from './renewal.js'
import type { Row, Rows, Statement } from './sql.js'
import { columnTypes } from './types.js'

export type DatabaseTarget =
  | { url: string }
  | { host: string; port: number; database: string; username: string; password?: string }

export type ClientSettings = {
  target: DatabaseTarget
  name: string
  /** How long a connection may take to open; ten seconds unless given. */
  connectMs?: number | undefined
  /** The server ends what takes longer. */
  bounds?: { lockMs: number; statementMs: number } | undefined
  /** The server notices within seconds that its machine is gone: what the session holds is for others then. */
  isWatched?: boolean | undefined
  /** Told of a server that takes no change. */
  renewal?: Renewal | undefined
  /** Follows requests into their statements. */
  spans?: StatementSpans | undefined
}

/** Where statements of a request that is followed are told. */
export type StatementSpans = {
  isFollowed(): boolean
  child<T>(
    statement: { name: string; attributes: Readonly<Record<string, string>> },
    work: () => Promise<T>,
    failureOf: (error: unknown) => string,
  ): Promise<T>
}

/** One connection. It is used until anything happens to it, and then never again. */
export type Client = {
  readonly raw: PgClient
  /** Asks for one statement. Statements must not overlap. */
  ask(statement: Statement): Promise<Rows<Row[]>>
  /** True once it is not to be used again. */
  isSpent(): boolean
  /** Cuts the connection. Whatever is under way fails; nothing is waited for. */
  destroy(): void
  /** Takes leave of the server. */
  close(): void
  /** Resolves when the connection is closed, however that came about. */
  readonly closed: Promise<void>
}

const usualConnectMs = 10_000

/** Connects. `onSpent` is called once, when a client that was open is not to be used again. */
export async function openClient(settings: ClientSettings, onSpent: (client: Client) => void): Promise<Client> {
  const raw = new PgClient({
    ...toConfig(settings.target),
    application_name: settings.name,
    connectionTimeoutMillis: settings.connectMs ?? usualConnectMs,
    keepAlive: true,
    types: columnTypes,
  })
  let isOpen = false
  let isSpent = false
  const spend = () => {
    if (isSpent) return
    isSpent = true
    if (isOpen) onSpent(client)
  }
  const destroy = () => {
    spend()
    raw.connection.stream.destroy()
  }
  const client: Client = {
    raw,
    ask: (statement) =>
      settings.spans?.isFollowed()
        ? settings.spans.child(describeStatement(statement.text), () => ask(statement), nameFailure)
        : ask(statement),
    isSpent: () => isSpent,
    destroy,
    close: () => {
      spend()
      raw.end().catch(destroy)
    },
    closed: new Promise((resolve) => raw.once('end', resolve)),
  }
  const ask = (statement: Pick<Statement, 'text'> & Partial<Statement>) =>
    new Promise<Rows<Row[]>>((resolve, reject) => {
      raw.query(statement as { text: string }, (error: Error | null, result: QueryResult | QueryResult[]) => {
        if (!error) return resolve(toRows(Array.isArray(result) ? result.at(-1) : result))
        const failure = toDatabaseError(error)
        if (isConnectionLost(failure)) destroy()
        // Its other statements are as they were; only a new connection is sure to prepare this one anew.
        else if (isStalePlan(failure)) spend()
        else if (isReadOnly(failure)) {
          spend()
          settings.renewal?.renew()
        }
        reject(failure)
      })
    })
  // Without a listener the loss of a connection would end the process, for every holder of the client.
  raw.on('error', destroy)
  raw.on('end', spend)
  try {
    await raw.connect()
    await ask({ text: sessionText(settings) })
    isOpen = true
    return client
  } catch (error) {
    destroy()
    throw toDatabaseError(error)
  }
}

const nameFailure = (error: unknown) => sqlState(error) ?? 'other'

/** Settings that a connection pooler in between may reject at start-up. */
function sessionText({ bounds, isWatched }: ClientSettings): string {
  const watched = `; set tcp_keepalives_idle to 3; set tcp_keepalives_interval to 1; set tcp_keepalives_count to 3`
  const utc = `set timezone to 'UTC'${isWatched ? watched : ''}`
  return bounds ? `${utc}; set statement_timeout to ${bounds.statementMs}; set lock_timeout to ${bounds.lockMs}` : utc
}

function toRows(result: QueryResult | undefined): Rows<Row[]> {
  if (!result) throw new DatabaseUnavailable('the server answered nothing')
  // Not members to be compared or walked through: rows are equal when the rows are.
  return Object.defineProperties(result.rows, {
    count: { value: result.rowCount ?? 0 },
    columns: { value: result.fields },
  }) as Rows<Row[]>
}

function toConfig(target: DatabaseTarget): ClientConfig {
  if ('url' in target) return { connectionString: withUsualSsl(target.url) }
  const { username, password, ...rest } = target
  return password === undefined ? { ...rest, user: username } : { ...rest, user: username, password }
}

/** `sslmode` as PostgreSQL's own programs take it: `require` encrypts and does not ask who is there. */
function withUsualSsl(url: string): string {
  return /[?&]sslmode=(prefer|require|verify-ca)\b/.test(url) && !url.includes('uselibpqcompat=')
    ? `${url}&uselibpqcompat=true`
    : url
}
