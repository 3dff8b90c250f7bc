import { randomUUID } from 'node:crypto'
import { chmod, mkdtemp, readdir, rm, statfs } from 'node:fs/promises'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startEmbeddedPostgres } from '../../packages/embedded-postgres/src/embedded.js'
import { silentLog } from '../src/kernel/log.js'
import { migrate, readMigrations } from '../src/postgres/migrate.js'
import { type DatabaseTarget, openDatabase } from '../src/postgres/pool.js'
import { dropDatabase } from './dropDatabase.js'

declare module 'vitest' {
  // biome-ignore lint/style/useConsistentTypeDefinitions: augmenting the runner's context needs an interface
  interface ProvidedContext {
    database: { server: DatabaseTarget; template: string }
    /** A folder of the run; the first test that needs a devnet keeps one there for the others. */
    devnets: string
  }
}

/** What the files of a run share: a database server, and a folder for a devnet that is made once. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const place = await findPlace()
  await dropLeftFolders(place)
  const devnets = await mkdtemp(join(place, `openearn-devnets-${process.pid}-`))
  await chmod(devnets, 0o755)
  project.provide('devnets', devnets)
  const stop = await provideDatabase(project)
  return async () => {
    await stop()
    await rm(devnets, { recursive: true, force: true })
  }
}

/**
 * One PostgreSQL for the whole run: an embedded one in a temporary folder, or the server of DATABASE_URL. A template
 * database is migrated once; every test file clones it.
 */
async function provideDatabase(project: TestProject): Promise<() => Promise<void>> {
  const template = `openearn_template_${randomUUID().slice(0, 8)}`
  const external = process.env['DATABASE_URL']
  if (external) {
    const drop = await createTemplate({ url: external }, template)
    project.provide('database', { server: { url: external }, template })
    return drop
  }
  const folder = await mkdtemp(join(await findPlace(), `openearn-test-${process.pid}-`))
  // As root the server runs as another user, who must be able to enter.
  await chmod(folder, 0o755)
  const server = await startEmbeddedPostgres({
    dataDir: join(folder, 'postgres'),
    log: silentLog,
    durable: false,
    mayMakeRoles: true,
  })
  await createTemplate(server.target, template)
  project.provide('database', { server: server.target, template })
  return async () => {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

const memory = '/dev/shm'
const gib = 2 ** 30

/**
 * In memory where the machine has plenty: a database is 600 files, and some disks take longer to make and remove them
 * than most test files take to run.
 */
async function findPlace(): Promise<string> {
  const room = await statfs(memory).catch(() => undefined)
  const isRoomy = room !== undefined && room.bavail * room.bsize >= 4 * gib && freemem() >= 8 * gib
  return isRoomy ? memory : tmpdir()
}

/** Removes what runs left that were killed: in memory it would stay until the machine starts anew. */
async function dropLeftFolders(place: string): Promise<void> {
  for (const name of await readdir(place)) {
    const pid = /^openearn-(?:test|devnets)-(\d+)-/.exec(name)?.[1]
    if (pid !== undefined && !isRunning(Number(pid))) await rm(join(place, name), { recursive: true, force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // One of another user is running, too.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

async function createTemplate(server: DatabaseTarget, template: string): Promise<() => Promise<void>> {
  const admin = openDatabase(server, { max: 1 })
  await admin.unsafe(`create database ${template}`)
  const db = openDatabase(withDatabase(server, template), { max: 2 })
  await migrate(db, await readMigrations())
  await db.end()
  await admin.end()
  return async () => {
    const again = openDatabase(server, { max: 1 })
    await dropDatabase(again, template)
    await again.end()
  }
}

/** The same server, another database. */
export function withDatabase(server: DatabaseTarget, database: string): DatabaseTarget {
  if (!('url' in server)) return { ...server, database }
  const url = new URL(server.url)
  url.pathname = `/${database}`
  return { url: url.href }
}
