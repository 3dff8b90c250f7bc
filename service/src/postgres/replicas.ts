import { systemClock } from '../kernel/clock.js'
import { ConfigError } from '../kernel/config.js'
import type { Log } from '../kernel/log.js'
import { boundsWithin, createHang } from './bounds.js'
import { DatabaseUnavailable } from './errors.js'
import { type Database, type Fragment, openDatabase, type Queryable } from './pool.js'
import { isWell, parsePosition, type ReplicaState } from './reading.js'
import type { Row, Rows, Statement } from './sql.js'

/** A replica that is read. */
export type Replica = {
  /** Its host, port and database, without user and password. */
  readonly name: string
  readonly db: Database
  /** Asks it for one statement; fails as soon as it is known that it does not answer. */
  read(statement: Statement): Promise<Rows<Row[]>>
  /** Its last answer; undefined while it does not answer, or is of another database. */
  state(): ReplicaState | undefined
  /** How it is, in words. */
  describe(): string
  /** Whether it takes writes. */
  leads(): boolean
  /** Asks it how far it is. Never rejects. */
  ask(): Promise<void>
}

export type Replicas = {
  readonly list: readonly Replica[]
  /** Asks the primary and all replicas how far they are. */
  look(): Promise<void>
  end(): Promise<void>
}

export type ReplicaOptions = {
  urls: readonly string[]
  log: Log
  /** The position of the last event, as a piece of a statement. */
  lastEventOf: (db: Queryable) => Fragment
  patience?: number
  /** How often the servers are asked how far they are. */
  lookMs?: number
  /** A statement that takes longer is asked of the primary; three seconds unless given. */
  readMs?: number
}

const away = 'does not answer'
/** A replica that has not answered by then is passed over, and asked again with the next look. */
const askMs = 1_000

/** How far the primary has written its log, and on which timeline: each promotion begins a new one. */
type End = { written: bigint; timeline: number }

/** Which database of which cluster a connection leads to. */
type Identity = { cluster: string; database: string }

const identityOf = (db: Queryable) => db.view`(select system_identifier::text from pg_control_system()) as cluster,
  (select oid::text from pg_database where datname = current_database()) as database`

/**
 * Opens the replicas of a database. One that does not answer is left out until it does. Throws where one is of another
 * database: what it told would be wrong, and not only old.
 */
export async function openReplicas(primary: Database, options: ReplicaOptions): Promise<Replicas> {
  const { log, lookMs = 1_000 } = options
  if (!options.urls.every((url) => /^postgres(ql)?:/.test(url) && URL.canParse(url)))
    throw new ConfigError('DATABASE_READ_URLS must be urls of PostgreSQL separated by commas')
  const [identity] = await primary<Identity[]>`select ${identityOf(primary)}`
  if (!identity) throw new Error('the database does not say which one it is')
  let end: End = { written: 0n, timeline: 0 }
  const replicas = options.urls.map((url) => openReplica(url, primary, { ...options, identity, end: () => end }))
  const look = async () => {
    const [row] = await primary<{ at: string; timeline: string }[]>`
      select at::text, substr(pg_walfile_name(at), 1, 8) as timeline from pg_current_wal_flush_lsn() as at`
    if (row) end = { written: parsePosition(row.at), timeline: Number.parseInt(row.timeline, 16) }
    await Promise.all(replicas.map((replica) => replica.ask()))
    for (const replica of replicas) replica.tell()
  }
  const stopping = new AbortController()
  const close = async () => {
    stopping.abort()
    await Promise.all(replicas.map((replica) => replica.end()))
  }
  await look()
  const foreign = replicas.find(({ isForeign }) => isForeign())
  if (foreign) {
    await close()
    throw new ConfigError(
      `DATABASE_READ_URLS: ${foreign.name} is no replica of DATABASE_URL but another database; name servers that replicate it`,
    )
  }
  void (async () => {
    for (;;) {
      await systemClock.sleep(lookMs, stopping.signal)
      if (stopping.signal.aborted) return
      await look().catch((error) => log.debug({ err: error }, 'the primary could not be asked how far it is'))
    }
  })()
  return { list: replicas, look, end: close }
}

type Asked = Identity & {
  isInRecovery: boolean
  replayed: string | null
  timeline: number
  lastEvent: number
}

/** The timeline that a replica follows, as it keeps it, which may be late: until then it is left out. */
const timelineOf = (db: Queryable) => db.view`(select greatest(c.timeline_id, r.min_recovery_end_timeline)
  from pg_control_checkpoint() c, pg_control_recovery() r)`

function openReplica(
  url: string,
  primary: Database,
  {
    log,
    lastEventOf,
    patience = 1,
    readMs = 3 * askMs,
    identity,
    end,
  }: ReplicaOptions & { identity: Identity; end: () => End },
) {
  const { name: application, max, spans } = primary.settings
  const hang = createHang(askMs)
  const connectMs = 2 * askMs * patience
  const db = openDatabase(
    { url },
    { max, name: application, connectMs, spans, bounds: boundsWithin(readMs * patience, hang) },
  )
  const name = nameOf(url)
  let state: ReplicaState | undefined
  let isForeign = false
  let isEnded = false
  let leads = false
  let said = away
  // A server that ends takes this connection with it: what it has replayed when it is back is asked anew.
  const openProbe = () =>
    openDatabase(
      { url },
      {
        ...{ max: 1, name: application, connectMs, isSession: true, onLost: forget },
        bounds: { ...boundsWithin(askMs * patience, hang), judges: true },
      },
    )
  let probe: Database | undefined
  /** Who waits for a statement. */
  const reading = new Set<(error: unknown) => void>()
  function forget() {
    state = undefined
    leads = false
    said = away
    const lost = probe
    probe = undefined
    void lost?.end({ timeout: 0 }).catch(() => undefined)
    for (const giveUp of reading) giveUp(new DatabaseUnavailable('the replica does not answer'))
  }
  const askNow = async () => {
    if (isEnded) return
    probe ??= openProbe()
    const asked = probe
    try {
      const [row] = await asked<Asked[]>`
        select ${identityOf(asked)}, pg_is_in_recovery() as "isInRecovery", pg_last_wal_replay_lsn()::text as replayed,
          ${timelineOf(asked)} as timeline, ${lastEventOf(asked)} as "lastEvent"`
      // It was lost meanwhile.
      if (probe !== asked || !row) return
      isForeign = row.cluster !== identity.cluster || row.database !== identity.database
      const { written, timeline } = end()
      const replayed = parsePosition(row.replayed ?? '0/0')
      const lagBytes = Math.max(0, Number(written - replayed))
      const isReplica = row.isInRecovery && row.timeline === timeline
      state = isForeign ? undefined : { isReplica, replayed, lastEvent: row.lastEvent, lagBytes }
      leads = !row.isInRecovery
      if (isForeign) said = 'is another database'
      else if (leads) said = 'takes writes'
      else if (!isReplica) said = `follows timeline ${row.timeline}, and the primary is on ${timeline}`
      else said = `is ${lagBytes} bytes behind`
    } catch (error) {
      log.debug({ err: error, replica: name }, 'a replica could not be asked how far it is')
      if (probe === asked) forget()
    }
  }
  let asking: Promise<void> | undefined
  let wasWell: boolean | undefined
  return {
    read: (statement: Statement) =>
      new Promise<Rows<Row[]>>((resolve, reject) => {
        reading.add(reject)
        db.ask(statement)
          .finally(() => reading.delete(reject))
          .then(resolve, reject)
      }),
    ...{ name, db, state: () => state, describe: () => said, leads: () => leads, isForeign: () => isForeign },
    ask: () => {
      asking ??= askNow().finally(() => {
        asking = undefined
      })
      return asking
    },
    /** Says once that it is left out, or read again. */
    tell: () => {
      const is = isWell(state)
      if (is === wasWell) return
      if (!is) log.warn({ replica: name }, `a replica is left out: it ${said}`)
      else if (wasWell === false) log.info({ replica: name }, 'a replica is read again')
      wasWell = is
    },
    end: async () => {
      isEnded = true
      forget()
      await db.end({ timeout: 1 })
    },
  }
}

function nameOf(text: string): string {
  const url = new URL(text)
  const host = url.searchParams.get('host') ?? url.hostname
  const port = url.searchParams.get('port') ?? (url.port || '5432')
  return `${host}:${port}${url.pathname}`
}
