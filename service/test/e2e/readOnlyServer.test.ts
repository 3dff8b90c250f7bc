import { type ChildProcess, spawn } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../contracts/test/until.js'
import { startEmbeddedPostgres } from '../../../packages/embedded-postgres/src/embedded.js'
import { type Folder, openFolder, prepareExecutables } from '../../../packages/embedded-postgres/src/embeddedFolder.js'
import { silentLog } from '../../src/kernel/log.js'
import { type DatabaseTarget, openDatabase } from '../../src/postgres/pool.js'
import { openTestDatabase, urlOf } from '../database.js'
import { makeFolder, runOpenEarn, startOpenEarn } from './process.js'

/** A server in recovery that answers questions and takes no change, as a streaming replica does. */
let folder: string
let home: Folder
let server: ChildProcess
let target: Extract<DatabaseTarget, { host: string }>

beforeAll(async () => {
  folder = await makeFolder('openearn-replica-')
  const dataDir = join(folder, 'data/postgres')
  await runOpenEarn(['migrate'], { OPENEARN_DATA_DIR: join(folder, 'data') })
  const primary = await startEmbeddedPostgres({ dataDir, log: silentLog, durable: false })
  await primary.stop()
  home = await openFolder(dataDir)
  const { postgres } = await prepareExecutables(home.home, home.runAs)
  const data = join(home.home, 'data')
  await writeFile(join(data, 'standby.signal'), '')
  const flags = ['listen_addresses=', `unix_socket_directories=${join(home.home, 'run')}`].flatMap((one) => ['-c', one])
  server = spawn(postgres, ['-D', data, ...flags], { ...home.runAs, cwd: '/', env: { LC_ALL: 'C' }, stdio: 'ignore' })
  target = { ...(primary.target as typeof target), host: join(home.home, 'run') }
  const db = openDatabase(target, { max: 1 })
  await until('the replica to answer', () =>
    db`select pg_is_in_recovery() as replica`.then(
      ([row]) => row?.['replica'] === true,
      () => false,
    ),
  )
  await db.end({ timeout: 5 })
}, 120_000)
afterAll(async () => {
  if (server?.exitCode === null) {
    const gone = new Promise((resolve) => server.once('exit', resolve))
    server.kill('SIGINT')
    await gone
  }
  await home?.close()
  await rm(folder, { recursive: true, force: true })
}, 60_000)

describe('DATABASE_URL of a replica', () => {
  it.each(['serve', 'watch', 'jobs', 'commit', 'solve', 'start'])(
    '%s says that it is a read-only server, and ends with 1',
    async (command) => {
      const { ended, output } = startOpenEarn([command], { DATABASE_URL: urlOf(target) })
      expect(await ended).toEqual({ code: 1, signal: null })
      expect(output()).toContain('openearn: the database is a read-only server')
    },
    60_000,
  )
})

describe('DATABASE_URL of a database that allows no change', () => {
  it('is told the same way: default_transaction_read_only says that another one is the primary', async () => {
    const test = await openTestDatabase()
    try {
      const [row] = await test.db<{ name: string }[]>`select current_database() as name`
      await test.db.unsafe(`alter database ${row?.name} set default_transaction_read_only = on`)
      const { ended, output } = startOpenEarn(['watch'], { DATABASE_URL: urlOf(test.target) })
      expect(await ended).toEqual({ code: 1, signal: null })
      expect(output()).toContain('openearn: the database is a read-only server')
    } finally {
      await test.close()
    }
  }, 60_000)
})
