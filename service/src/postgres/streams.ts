import type { CustomTypesConfig, QueryResult } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import Cursor from 'pg-cursor'
import { type Bounds, within } from './bounds.js'
import type { Client } from './client.js'
import { isConnectionLost, toDatabaseError } from './errors.js'
import type { CopyIn, Row, Statement } from './sql.js'
import { columnTypes } from './types.js'

/** A value read by the cursor itself would throw where nobody catches it, so its rows stay text until they are here. */
const asText = { getTypeParser: () => (text: string) => text } as unknown as CustomTypesConfig

/** The rows of a statement in chunks. The client must not be asked for anything else until this ends. */
export async function* readCursor(
  client: Client,
  bounds: Bounds | undefined,
  { text, values }: Statement,
  size: number,
): AsyncGenerator<Row[]> {
  const restore = await liftBounds(client, bounds)
  const cursor = client.raw.query(new Cursor<Row>(text, [...values], { types: asText }))
  const read = () =>
    new Promise<{ rows: Row[]; fields: QueryResult['fields'] }>((resolve, reject) => {
      cursor.read(size, (error: unknown, rows: Row[], result: QueryResult | undefined) =>
        error ? reject(error) : resolve({ rows, fields: result?.fields ?? [] }),
      )
    })
  let isOpen = true
  try {
    for (;;) {
      const { rows, fields } = await within(bounds, read(), client.destroy)
      isOpen = rows.length === size
      for (const row of rows) readRow(row, fields)
      if (rows.length > 0) yield rows
      if (!isOpen) return
    }
  } catch (error) {
    const failure = toDatabaseError(error)
    if (isConnectionLost(failure)) client.destroy()
    throw failure
  } finally {
    // Of a lost connection the cursor would wait for ever.
    if (isOpen && !client.isSpent()) await Promise.race([cursor.close(), client.closed])
    await restore()
  }
}

function readRow(row: Row, fields: QueryResult['fields']): void {
  for (const { name, dataTypeID } of fields)
    if (row[name] !== null) row[name] = columnTypes.getTypeParser(dataTypeID, 'text')(row[name])
}

/**
 * The server would count the time between two chunks of one cursor, or of one COPY, as one statement's. It goes without
 * a bound of its own there: each step has the time an answer has.
 */
async function liftBounds(client: Client, bounds: Bounds | undefined): Promise<() => Promise<void>> {
  if (!bounds) return async () => undefined
  const set = (ms: number) =>
    within(bounds, client.ask({ text: `set statement_timeout to ${ms}`, values: [] }), client.destroy)
  await set(0)
  return async () => {
    // In a transaction that failed, its end restores it.
    if (!client.isSpent()) await set(bounds.statementMs).catch(() => undefined)
  }
}

/**
 * Begins a `copy … from stdin`. `onEnd` is called once, when it is over one way or the other; until then the client must
 * not be asked for anything else.
 */
export async function openCopy(
  client: Client,
  bounds: Bounds | undefined,
  text: string,
  onEnd: () => void,
): Promise<CopyIn> {
  const restore = await liftBounds(client, bounds).catch((error) => {
    onEnd()
    throw error
  })
  const stream = client.raw.query(copyFrom(text))
  let failure: unknown
  let refuse: (error: unknown) => void = () => undefined
  stream.on('error', (error) => {
    if (failure !== undefined) return
    failure = toDatabaseError(error)
    if (isConnectionLost(failure)) client.destroy()
    restore().finally(() => {
      onEnd()
      refuse(failure)
    })
  })
  // One at a time: what is written after a refusal would be sent by nobody, and waited for without end.
  const step = (start: (done: () => void) => void) => {
    if (failure !== undefined) return Promise.reject(failure)
    const work = new Promise<void>((resolve, reject) => {
      refuse = reject
      start(resolve)
    })
    return within(bounds, work, client.destroy)
  }
  return {
    write: async (lines) => {
      if (lines !== '') await step((done) => stream.write(lines, () => done()))
    },
    end: async () => {
      await step((done) => stream.end(done))
      await restore()
      onEnd()
    },
  }
}
