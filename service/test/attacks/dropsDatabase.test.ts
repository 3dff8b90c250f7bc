import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findEmbeddedPostgres, startEmbeddedPostgres } from '../../../packages/embedded-postgres/src/embedded.js'
import { silentLog } from '../../src/kernel/log.js'
import { type Database, type DatabaseTarget, openDatabase } from '../../src/postgres/pool.js'
import { makeFolder, runOpenEarn, startOpenEarn, waitUntilReady } from '../e2e/process.js'

/**
 * PostgreSQL as an operator has it: the server of an installation in production, with a second database of another
 * program beside it.
 */
let folder: string
let service: ReturnType<typeof startOpenEarn>
const open: Database[] = []
let server: Extract<DatabaseTarget, { host: string }>

beforeAll(async () => {
  folder = await makeFolder('openearn-drops-')
  const env = { OPENEARN_DATA_DIR: join(folder, 'production') }
  // Its role may make databases, as that of an operator.
  const dataDir = join(folder, 'production/postgres')
  const made = await startEmbeddedPostgres({ dataDir, log: silentLog, mayMakeRoles: true })
  await made.stop()
  await runOpenEarn(['migrate'], env)
  await runOpenEarn(['orgs', 'create', '--name', 'Production Org'], env)
  service = startOpenEarn(['start'], env)
  await waitUntilReady(service)
  const found = await findEmbeddedPostgres(dataDir)
  if (!found || !('host' in found)) throw new Error('the server of the installation does not run')
  server = found
  await connect('openearn').unsafe('create database theirs')
  await connect('theirs').unsafe('create table payments as select generate_series(1, 1000) as id')
}, 120_000)
afterAll(async () => {
  for (const sql of open) await sql.end({ timeout: 5 })
  await service?.stop()
  await rm(folder, { recursive: true, force: true })
}, 60_000)

function connect(database: string): Database {
  const sql = openDatabase({ ...server, database }, { max: 1 })
  open.push(sql)
  return sql
}

/** The url of a database; host and user come from the environment, as the server listens on a socket only. */
const urlOf = (database: string) => `postgres:///${database}`

/** Runs `openearn dev`, which must end by itself; one that starts all the same is stopped. */
async function runDev(words: string[], env: Record<string, string>) {
  const way = { PGHOST: server.host, PGUSER: server.username, PGPASSWORD: server.password ?? '' }
  const started = startOpenEarn(['dev', ...words], { OPENEARN_DATA_DIR: join(folder, 'dev'), ...way, ...env })
  started.child.stdout?.on('data', () => {
    if (/^ready/m.test(started.output())) void started.stop()
  })
  const { code } = await started.ended
  return { code, said: started.output() }
}

describe('openearn dev with the database of somebody else', () => {
  it.each([
    ['DATABASE_URL', []],
    ['DATABASE_URL', ['--reset']],
    ['DEV_DATABASE_URL', []],
    ['DEV_DATABASE_URL', ['--reset']],
  ])(
    '[drops-database] in %s %j leaves it as it is and says what to do',
    async (setting, words) => {
      const ends = []
      for (const database of ['theirs', 'openearn']) ends.push(await runDev(words, { [setting]: urlOf(database) }))
      const tables = await connect('theirs')`select tablename from pg_tables where schemaname = 'public'`
      expect(tables).toEqual([{ tablename: 'payments' }])
      expect(await connect('theirs')`select count(*)::integer as rows from payments`).toEqual([{ rows: 1000 }])
      expect(await connect('openearn')`select name from organizations`).toEqual([{ name: 'Production Org' }])
      for (const { code, said } of ends) {
        expect(said).toMatch(
          setting === 'DATABASE_URL' ? /DATABASE_URL is set/ : /is not a devnet: it holds table public/,
        )
        expect(said).toContain('`openearn start`')
        expect(code).toBe(2)
      }
    },
    120_000,
  )

  it.each([[[]], [['--reset']]])(
    '[drops-database] in its folder %j leaves it as it is',
    async (words) => {
      await service.stop()
      const env = { OPENEARN_DATA_DIR: join(folder, 'production') }
      const { code, said } = await runDev(words, env)
      expect(said).toMatch(/is not a devnet: it holds table public/)
      expect(code).toBe(2)
      expect(await runOpenEarn(['orgs', 'list'], env)).toContain('Production Org')
    },
    120_000,
  )
})
