import { randomUUID } from 'node:crypto'
import { inject } from 'vitest'
import { patient } from '../../contracts/test/patience.js'
import { type Database, type DatabaseTarget, openDatabase } from '../src/postgres/pool.js'
import { dropDatabase } from './dropDatabase.js'
import { withDatabase } from './globalSetup.js'

export type TestDatabase = {
  db: Database
  target: DatabaseTarget
  /** Closes the pool and drops the database. */
  close(): Promise<void>
}

/** A loaded machine answers a new connection late; no test is about that. */
const connectMs = patient(10_000)

/** A migrated, empty database of one's own, cloned from the template. */
export async function openTestDatabase(options: { max?: number } = {}): Promise<TestDatabase> {
  const { server, template } = inject('database')
  const name = `openearn_test_${randomUUID().replaceAll('-', '').slice(0, 12)}`
  const admin = openDatabase(server, { max: 1, connectMs })
  try {
    await admin.unsafe(`create database ${name} template ${template}`)
  } finally {
    await admin.end()
  }
  const target = withDatabase(server, name)
  const db = openDatabase(target, { max: options.max ?? 10, connectMs })
  return {
    db,
    target,
    close: async () => {
      await db.end({ timeout: 5 })
      const again = openDatabase(server, { max: 1, connectMs })
      await dropDatabase(again, name)
      await again.end()
    },
  }
}

/** The same as a program is told it. */
export function urlOf(target: DatabaseTarget): string {
  if ('url' in target) return target.url
  const { username, password, database, host, port } = target
  return `postgresql://${username}:${password}@localhost/${database}?host=${host}&port=${port}`
}
