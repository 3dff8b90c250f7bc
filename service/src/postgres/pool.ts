import { type Bounds, late, within } from './bounds.js'
import { type Client, type DatabaseTarget, openClient, type StatementSpans } from './client.js'
import { DatabaseUnavailable, isStalePlan, sqlState } from './errors.js'
import { createLending, type Lending, type Usage } from './lending.js'
import { type Listening, listen } from './listen.js'
import { createRenewal, type Renewal } from './renewal.js'
import { type CopyIn, createSql, type Row, type Rows, type Sql, type Statement } from './sql.js'
import { openCopy, readCursor } from './streams.js'
import { runTransaction, type Transaction } from './transaction.js'

export type { DatabaseTarget } from './client.js'
export {
  constraintOf,
  explainRefusal,
  hasNoRoom,
  isDatabaseLate,
  isDatabaseUnavailable,
  isReadOnly,
  isUniqueViolation,
  sqlState,
} from './errors.js'
export type { CopyIn, Fragment } from './sql.js'
export type { Transaction } from './transaction.js'

/** A pool of connections. Each statement takes one for itself; a transaction, a cursor or a COPY keeps one until its end. */
export type Database = Sql & {
  /** Does `work` in one transaction, once. Use `inTransaction`. */
  begin<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  /** Calls `onMessage` for each notification, and `onOpen` whenever listening begins, after a loss as well. */
  listen(channel: string, onMessage: (payload: string) => void, onOpen: () => void): Promise<Listening>
  /** Waits for what is under way, at most `timeout` seconds if they are given, and closes every connection. */
  end(options?: { timeout?: number }): Promise<void>
  /** Asks for one statement that is put together already. */
  ask(statement: Statement): Promise<Rows<Row[]>>
  /** How its connections are used now. */
  usage(): Usage
  readonly settings: {
    readonly target: DatabaseTarget
    name: string
    max: number
    connectMs?: number | undefined
    renewal: Renewal
    spans?: StatementSpans | undefined
  }
}

/** Either: what a store function that may run inside a transaction takes. */
export type Queryable = Sql

export type DatabaseOptions = {
  max?: number
  name?: string
  bounds?: Bounds
  /** How long a connection may take to open; ten seconds unless given. */
  connectMs?: number | undefined
  /** Connects once: what is asked after that connection was lost fails. */
  isSession?: boolean
  /** Called when a connection that was open is lost. */
  onLost?: () => void
  /** Shared by the pools of one database; a new one unless given. */
  renewal?: Renewal
  /** Follows requests into their statements. */
  spans?: StatementSpans | undefined
}

/** How often a pool looks which of its connections nobody took. */
const restMs = 60_000

/** Opens a pool. Nothing is connected before something is asked. */
export function openDatabase(target: DatabaseTarget, options: DatabaseOptions = {}): Database {
  const { max = 10, name = 'openearn', bounds, connectMs, renewal = createRenewal() } = options
  const settings = { target, name, bounds, connectMs, renewal, isWatched: options.isSession, spans: options.spans }
  let isOpened = false
  const lending = createLending(async (onSpent) => {
    if (options.isSession && isOpened) throw new DatabaseUnavailable('the session lost its connection')
    isOpened = true
    return openClient(settings, (client) => {
      onSpent(client)
      options.onLost?.()
    })
  }, max)
  const forget = renewal.onRenew(lending.renew)
  // A session keeps what its connection holds.
  const resting = options.isSession ? undefined : setInterval(lending.rest, restMs).unref()
  const listening = new Set<Listening>()
  const ask = (statement: Statement) => runStatement(lending, bounds, statement)
  const sql = createSql({
    run: ask,
    cursor: (statement, size) => readAlone(lending, bounds, statement, size),
    copyIn: (statement) => copyAlone(lending, bounds, statement),
  })
  const members: Omit<Database, keyof Sql> = {
    ask,
    begin: async (work) => {
      const client = await take(lending, bounds)
      try {
        return await runTransaction(client, bounds, work)
      } finally {
        lending.giveBack(client)
      }
    },
    listen: async (...input) => {
      const one = await listen(settings, ...input)
      listening.add(one)
      return one
    },
    end: async ({ timeout } = {}) => {
      forget()
      clearInterval(resting)
      for (const { unlisten } of listening) await unlisten()
      await lending.end(timeout === undefined ? undefined : timeout * 1000)
    },
    usage: lending.usage,
    settings: { target, name, max, connectMs, renewal, spans: options.spans },
  }
  return Object.assign(sql, members)
}

/** One connection of its own to the same database. Once it is lost, whatever is asked fails. */
export function openSession({ settings }: Database): Database {
  return openDatabase(settings.target, { ...settings, max: 1, isSession: true })
}

async function take(lending: Lending, bounds: Bounds | undefined): Promise<Client> {
  if (bounds?.hang?.admits() === false) throw late()
  let isLate = false
  const taking = lending.take()
  taking.then(
    (client) => isLate && lending.giveBack(client),
    () => undefined,
  )
  const onLate = () => {
    isLate = true
  }
  return within(bounds, taking, onLate, { isAnswer: false })
}

async function runStatement(lending: Lending, bounds: Bounds | undefined, statement: Statement): Promise<Rows<Row[]>> {
  if (bounds?.hang?.admits() === false) throw late()
  let isLate = false
  let client: Client | undefined
  const ask = async () => {
    client = await lending.take()
    try {
      if (isLate) throw late()
      return await client.ask(statement)
    } finally {
      lending.giveBack(client)
    }
  }
  // A statement whose tables have changed is prepared anew on another connection.
  const work = ask().catch((error) => {
    if (isStalePlan(error)) return ask()
    throw error
  })
  return within(bounds, work, () => {
    isLate = true
    client?.destroy()
  })
}

async function* readAlone(
  lending: Lending,
  bounds: Bounds | undefined,
  statement: Statement,
  size: number,
): AsyncGenerator<Row[]> {
  const client = await take(lending, bounds)
  try {
    yield* readCursor(client, bounds, statement, size)
  } finally {
    lending.giveBack(client)
  }
}

async function copyAlone(lending: Lending, bounds: Bounds | undefined, { text }: Statement): Promise<CopyIn> {
  const client = await take(lending, bounds)
  return openCopy(client, bounds, text, () => lending.giveBack(client))
}

/**
 * Runs `work` in one transaction; a serialization failure, a deadlock or a statement to be prepared anew is tried again,
 * at most `attempts` times in all.
 */
export async function inTransaction<T>(db: Database, work: (tx: Transaction) => Promise<T>, attempts = 5): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.begin(work)
    } catch (error) {
      const mayRepeat = ['40001', '40P01'].includes(sqlState(error) ?? '') || isStalePlan(error)
      if (attempt >= attempts || !mayRepeat) throw error
    }
  }
}

/** A fact about this installation, by name. */
export async function readSetting(db: Queryable, name: string): Promise<unknown> {
  const rows = await db<{ value: unknown }[]>`select value from settings where name = ${name}`
  return rows[0]?.value
}

/** Fails where the server takes no change: a replica answers every question, so a service on it would fail much later. */
export async function assertWritable(db: Queryable): Promise<void> {
  await db`update settings set value = value where false`
}

/** Records a fact about this installation in place of an earlier one. */
export async function recordSetting(db: Queryable, name: string, value: unknown): Promise<void> {
  await db`
    insert into settings (name, value) values (${name}, ${db.json(value)})
    on conflict (name) do update set value = excluded.value, updated_at = now()`
}
