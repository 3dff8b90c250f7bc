import { type Bounds, within } from './bounds.js'
import type { Client } from './client.js'
import { DatabaseUnavailable } from './errors.js'
import { createSql, type Row, type Rows, type Sql, type Statement } from './sql.js'
import { openCopy, readCursor } from './streams.js'

export type Transaction = Sql & {
  /** Work that is undone by itself when it fails; the transaction goes on. */
  savepoint<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
}

/**
 * Does `work` in a transaction on a client of its own. A statement that failed undoes the transaction, even when nobody
 * minded; and once it is over, or its connection is lost, what `work` still asks for fails.
 */
export async function runTransaction<T>(
  client: Client,
  bounds: Bounds | undefined,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const state = createState(client, bounds)
  await state.ask({ text: 'begin', values: [] })
  try {
    return await runScope(state, work, 'commit')
  } catch (error) {
    // The server undoes by itself what a lost connection leaves.
    if (state.isHeld()) client.destroy()
    else if (!client.isSpent()) await state.ask({ text: 'rollback', values: [] }).catch(client.destroy)
    throw error
  }
}

type State = ReturnType<typeof createState>

/** Statements of one client, one after the other. */
function createState(client: Client, bounds: Bounds | undefined) {
  let last: Promise<unknown> = Promise.resolve()
  let held = 0
  const assertUsable = () => {
    if (client.isSpent()) throw new DatabaseUnavailable('the transaction lost its connection')
    if (held > 0) throw new Error('a cursor or a COPY of this transaction is not at its end')
  }
  const inTurn = <R>(work: () => Promise<R>): Promise<R> => {
    const done = last.then(work)
    last = done.catch(() => undefined)
    return done
  }
  return {
    client,
    bounds,
    /** The first statement that failed and was not undone. */
    failure: undefined as unknown,
    savepoints: 0,
    isHeld: () => held > 0,
    /** Resolves when what was asked so far is answered. */
    settled: () => last,
    ask: (statement: Statement): Promise<Rows<Row[]>> =>
      inTurn(async () => {
        assertUsable()
        return within(bounds, client.ask(statement), client.destroy)
      }),
    /** Keeps the client for a cursor or a COPY, until the function it resolves to is called. */
    hold: (): Promise<() => void> =>
      inTurn(async () => {
        assertUsable()
        held += 1
        let isOver = false
        return () => {
          if (!isOver) held -= 1
          isOver = true
        }
      }),
  }
}

async function runScope<T>(state: State, work: (tx: Transaction) => Promise<T>, last: string): Promise<T> {
  const before = state.failure
  let isOver = false
  const minding = async <R>(start: () => Promise<R>): Promise<R> => {
    if (isOver && !state.client.isSpent()) throw new Error('the transaction is over')
    try {
      return await start()
    } catch (error) {
      state.failure ??= error
      throw error
    }
  }
  const sql = createSql({
    run: (statement) => minding(() => state.ask(statement)),
    cursor: (statement, size) => readHeld(state, statement, size, minding),
    copyIn: (statement) =>
      minding(async () => openCopy(state.client, state.bounds, statement.text, await state.hold())),
  })
  const savepoint = (inner: (tx: Transaction) => Promise<unknown>) => runSavepoint(state, inner)
  try {
    const result = await work(Object.assign(sql, { savepoint }) as Transaction)
    await state.settled()
    if (state.failure !== before) throw state.failure
    isOver = true
    await state.ask({ text: last, values: [] })
    return result
  } finally {
    isOver = true
  }
}

async function* readHeld(
  state: State,
  statement: Statement,
  size: number,
  minding: <R>(start: () => Promise<R>) => Promise<R>,
): AsyncGenerator<Row[]> {
  const release = await minding(state.hold)
  const rows = readCursor(state.client, state.bounds, statement, size)
  try {
    for (;;) {
      const { value, done } = await minding(() => rows.next())
      if (done) return
      yield value
    }
  } finally {
    await rows.return(undefined)
    release()
  }
}

async function runSavepoint<T>(state: State, work: (tx: Transaction) => Promise<T>): Promise<T> {
  const before = state.failure
  state.savepoints += 1
  const name = `p${state.savepoints}`
  await state.ask({ text: `savepoint ${name}`, values: [] })
  try {
    return await runScope(state, work, `release savepoint ${name}`)
  } catch (error) {
    if (!state.client.isSpent() && !state.isHeld()) {
      await state.ask({ text: `rollback to savepoint ${name}`, values: [] })
      state.failure = before
    }
    throw error
  }
}
