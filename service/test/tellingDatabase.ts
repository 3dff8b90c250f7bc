import type { Database } from '../src/postgres/pool.js'
import { createSql, type Statement } from '../src/postgres/sql.js'

/** A database that keeps what it is asked in `asked`: for tests of how a statement is run. Cursors and copies are refused. */
export function openTelling(db: () => Database): { telling: ReturnType<typeof createSql>; asked: Statement[] } {
  const asked: Statement[] = []
  const refuse = (what: string) => () => {
    throw new Error(`nothing here ${what}`)
  }
  const telling = createSql({
    run: (statement) => {
      asked.push(statement)
      return db().unsafe(statement.text, statement.values)
    },
    cursor: refuse('reads a cursor'),
    copyIn: refuse('copies'),
  })
  return { telling, asked }
}
