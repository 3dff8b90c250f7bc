import { DatabaseUnavailable, sqlState } from './errors.js'
import type { Database } from './pool.js'
import { chooseReader, findLate, type Reader, type Seen } from './reading.js'
import type { Replicas } from './replicas.js'
import { createSql, type Row, type Rows, type Statement } from './sql.js'

/** A request that only reads. */
export type Reading = {
  seen: Seen | undefined
  /** The replica that is looked at first, of those there are. */
  preferred: number
  /** Who served what this request goes on from. */
  before?: Reader | undefined
  /** Called once, when it is known who serves; and again where the primary had to take over. */
  onServed(reader: Reader): void
  /** Called when a replica failed. */
  onFailed(place: number): void
}

/**
 * The database as one request reads it. One server answers all its statements; where a replica fails, that statement
 * and all later ones are asked of the primary.
 */
export function openReading(primary: Database, replicas: Replicas, reading: Reading): Database {
  const { seen, onServed, onFailed } = reading
  const states = () => replicas.list.map((replica) => replica.state())
  const decide = async (): Promise<Reader> => {
    const chosen = chooseReader(states(), seen, reading)
    if (chosen !== 'primary') return chosen
    const late = findLate(states(), seen, reading)
    if (late === undefined) return 'primary'
    await replicas.list[late]?.ask()
    return chooseReader(states(), seen, reading)
  }
  let deciding: Promise<Reader> | undefined
  const decideOnce = () => {
    deciding ??= decide().then((reader) => {
      onServed(reader)
      return reader
    })
    return deciding
  }
  const run = async (statement: Statement): Promise<Rows<Row[]>> => {
    const reader = await decideOnce()
    const replica = reader === 'primary' ? undefined : replicas.list[reader]
    if (reader === 'primary' || !replica) return primary.ask(statement)
    try {
      return await replica.read(statement)
    } catch (error) {
      if (!isOfServer(error)) throw error
      if ((await deciding) === reader) {
        deciding = Promise.resolve('primary')
        onFailed(reader)
        onServed('primary')
      }
      return primary.ask(statement)
    }
  }
  const sql = createSql({
    run,
    cursor: () => {
      throw new Error('what a replica may serve is read by single statements')
    },
    copyIn: () => Promise.reject(new Error('what a replica may serve copies nothing in')),
  })
  const { begin, listen, end, usage, settings } = primary
  return Object.assign(sql, { ask: run, begin, listen, end, usage, settings })
}

/**
 * A server said so, or said nothing: a statement that was cancelled for what is replayed (40001), took too long, meets a
 * table that is not there yet, or has lost its connection. The primary tells whether it fails by itself.
 */
function isOfServer(error: unknown): boolean {
  return sqlState(error) !== undefined || error instanceof DatabaseUnavailable
}
