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
  const cursor = client.raw.query(new Cursor<Row>(text, [...values], { types: asText }))
  const read = () =>
    new Promise<Row[]>((resolve, reject) => {
      cursor.read(size, (error: unknown, rows: Row[], result: QueryResult | undefined) =>
        error ? reject(error) : resolve(result ? rows.map((row) => readRow(row, result)) : rows),
      )
    })
  let isOpen = true
  try {
    for (;;) {
      const rows = await within(bounds, read(), client.destroy)
      isOpen = rows.length === size
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
  }
}

function readRow(row: Row, { fields }: QueryResult): Row {
  for (const { name, dataTypeID } of fields)
    if (row[name] !== null) row[name] = columnTypes.getTypeParser(dataTypeID, 'text')(row[name])
  return row
}

/**
 * Begins a `copy … from stdin`. `onEnd` is called once, when it is over one way or the other; until then the client must
 * not be asked for anything else.
 */
export function openCopy(client: Client, bounds: Bounds | undefined, text: string, onEnd: () => void): CopyIn {
  const stream = client.raw.query(copyFrom(text))
  let failure: unknown
  let refuse: (error: unknown) => void = () => undefined
  stream.on('error', (error) => {
    if (failure !== undefined) return
    failure = toDatabaseError(error)
    if (isConnectionLost(failure)) client.destroy()
    onEnd()
    refuse(failure)
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
      onEnd()
    },
  }
}
