import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { promises as fs } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { type Folder, findHome, ignore, openFolder, prepareExecutables } from './embeddedFolder.js'
import type { DatabaseTarget, Log } from './platform.js'
import { systemClock } from './platform.js'

export type EmbeddedOptions = {
  /** Folder of the database, for example `.openearn/postgres`; made when missing. */
  dataDir: string
  log: Pick<Log, 'info' | 'warn' | 'error'>
  /** False saves time by not waiting for the disk: commits survive a crash of ours, not of the machine. For tests. */
  durable?: boolean
  /** Lets the role make databases and roles, and those roles in, when the database is made. For tests. */
  mayMakeRoles?: boolean
}

export type EmbeddedPostgres = {
  /**
   * How to connect: a unix socket that only our own user (and root) can reach, as a role that is no superuser. Stays the
   * same over restarts.
   */
  readonly target: DatabaseTarget
  /** Pid of the running server; undefined between its death and its restart. */
  pid(): number | undefined
  /** Stops the server and gives up the folder. */
  stop(): Promise<void>
}

type Cluster = {
  folder: Folder
  data: string
  postgres: string
  durable: boolean
  mayMakeRoles: boolean
  log: EmbeddedOptions['log']
}
type Server = { pid: number; running(): boolean; exited: Promise<string>; logStart: number }

const target = { host: '', port: 5432, database: 'openearn', username: 'openearn' }
/** The file with the password of the role; it lies with the data it opens, readable by the same user. */
const passwordName = 'openearn.password'
/** The only login. PostgreSQL's own superuser cannot log in: it exists in single-user mode only. */
const wayIn = (role: string) => `local all ${role} scram-sha-256\n`
const logName = 'server.log'
const environment = { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/bin:/bin' }
/** A signal to the process group reaches the server just before our own handler runs: wait before restarting. */
const restartDelayMs = 300
const execute = promisify(execFile)

/**
 * Starts the PostgreSQL server of `dataDir` as a child process, making the database at the first start, and keeps it
 * running: when it dies by itself it is restarted on the same data. A server left behind by a killed service is
 * stopped first. Throws one sentence when another service owns the folder, when the data is of another PostgreSQL
 * version, or when the server cannot run here.
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const folder = await openFolder(resolve(options.dataDir))
  try {
    const { postgres, initdb, version } = await prepareExecutables(folder.home, folder.runAs)
    const data = join(folder.home, 'data')
    const { durable = true, mayMakeRoles = false, log } = options
    const cluster: Cluster = { folder, data, postgres, durable, mayMakeRoles, log }
    const found = await fs.readFile(join(data, 'PG_VERSION'), 'utf8').catch(ignore('ENOENT'))
    if (found === undefined) await createCluster(cluster, initdb)
    else if (found.trim() !== version)
      throw new Error(
        `${data} was made by PostgreSQL ${found.trim()}, this service has ${version}: use the version it was made with, or move the folder away`,
      )
    await stopOrphan(cluster)
    return await supervise(cluster, await readPassword(data))
  } catch (error) {
    await folder.close()
    throw error
  }
}

/** How to connect to the embedded server another process runs on `dataDir`; undefined when none is ready. */
export async function findEmbeddedPostgres(dataDir: string): Promise<DatabaseTarget | undefined> {
  const home = await findHome(resolve(dataDir))
  if (home === undefined) return undefined
  const data = join(await fs.realpath(home), 'data')
  const state = await readPidFile(data)
  if (!state?.ready || !(await isServerOf(state.pid, data))) return undefined
  return { ...target, host: state.socketDir, password: await readPassword(data) }
}

async function readPassword(data: string): Promise<string> {
  const password = await fs.readFile(join(data, passwordName), 'utf8').catch(ignore('ENOENT'))
  if (password !== undefined) return password.trim()
  throw new Error(
    `${data} was made before the service had a role of its own in it: move the folder away and start with a new one, which is filled from the chains again`,
  )
}

/** Creates the cluster in a temporary folder and renames it, so that a start killed half-way leaves nothing behind. */
async function createCluster(
  { folder, data, postgres, durable, mayMakeRoles, log }: Cluster,
  initdb: string,
): Promise<void> {
  const { home, runAs } = folder
  for (const name of await fs.readdir(home))
    if (name.startsWith('data.half')) await fs.rm(join(home, name), { recursive: true, force: true, maxRetries: 5 })
  const half = await fs.mkdtemp(`${data}.half`)
  if (runAs) await fs.chown(half, runAs.uid >>> 0, runAs.gid >>> 0)
  const settings = { ...runAs, cwd: half, env: environment }
  const locale = ['--no-locale', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--encoding=UTF8']
  const access = ['--username=postgres', '--auth-local=reject', '--auth-host=reject']
  if (!durable) access.push('--no-sync')
  await execute(initdb, ['-D', half, ...locale, ...access], settings)
  const rights = mayMakeRoles ? 'createdb createrole' : 'nosuperuser'
  const password = randomBytes(24).toString('hex')
  const single = execute(postgres, ['--single', '-D', half, 'postgres'], settings)
  single.child.stdin?.end(
    `create role ${target.username} login ${rights} password '${password}'\ncreate database ${target.database} owner ${target.username}\n`,
  )
  await single
  await fs.writeFile(join(half, 'pg_hba.conf'), wayIn(mayMakeRoles ? 'all' : target.username))
  await fs.writeFile(join(half, passwordName), `${password}\n`, { mode: 0o600 })
  if (runAs) await fs.chown(join(half, passwordName), runAs.uid >>> 0, runAs.gid >>> 0)
  await fs.rename(half, data)
  log.info(`made a new database in ${home}`)
}

/** Stops the server that a killed service left running on this data. Never signals a process that is not that server. */
async function stopOrphan({ data, log }: Cluster): Promise<void> {
  const state = await readPidFile(data)
  if (!state) return
  if (await isServerOf(state.pid, data)) {
    log.warn(`stopping the database server ${state.pid}, left behind by a service that was killed`)
    await endServer(state.pid, () => isServerOf(state.pid, data))
  } else if (sendSignal(state.pid, 0)) {
    // The pid was reused. PostgreSQL would take the stranger for its old self; an impossible pid keeps its other checks.
    const [, ...rest] = (await fs.readFile(state.path, 'utf8')).split('\n')
    await fs.writeFile(state.path, [2 ** 31 - 1, ...rest].join('\n'))
  }
}

/** Fast shutdown, then immediate, then kill; each is given ten seconds. */
async function endServer(pid: number, running: () => Promise<boolean> | boolean): Promise<void> {
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    if (await running()) sendSignal(pid, signal)
    for (let waited = 0; waited < 500 && (await running()); waited++) await systemClock.sleep(20)
  }
}

async function supervise(cluster: Cluster, password: string): Promise<EmbeddedPostgres> {
  const { folder, log } = cluster
  const stopping = new AbortController()
  const { signal } = stopping
  let server: Server | undefined

  /** Starts the server; tries again, as one that was killed may leave backends that need a moment to go. */
  const launch = async (attempts: number): Promise<void> => {
    for (let attempt = 1; ; attempt++) {
      try {
        server = await spawnServer(cluster)
        return await waitUntilReady(cluster, server, signal)
      } catch (error) {
        if (server) await endServer(server.pid, server.running)
        if (attempt >= attempts || signal.aborted) throw error
        log.warn({ err: error }, 'the database server did not start; trying again')
        await systemClock.sleep(Math.min(200 * 2 ** attempt, 10_000), signal)
      }
    }
  }
  const watch = async (): Promise<void> => {
    while (server) {
      const reason = await server.exited
      await systemClock.sleep(restartDelayMs, signal)
      if (signal.aborted) return
      log.warn(`the database server ended by itself (${reason}); restarting it`)
      await launch(Number.POSITIVE_INFINITY)
    }
  }
  const close = async (): Promise<void> => {
    stopping.abort()
    if (server) await endServer(server.pid, server.running)
    await watching
    await folder.close()
  }

  await launch(4)
  const watching = watch().catch((error) => (signal.aborted ? undefined : log.error({ err: error }, 'database lost')))
  let closed: Promise<void> | undefined
  return {
    target: { ...target, host: join(folder.short, 'run'), password },
    pid: () => (server?.running() ? server.pid : undefined),
    stop: () => {
      closed ??= close()
      return closed
    },
  }
}

async function spawnServer({ folder, data, postgres, durable }: Cluster): Promise<Server> {
  const { home, short, runAs } = folder
  const run = join(home, 'run')
  await fs.rm(run, { recursive: true, force: true })
  await fs.mkdir(run, { mode: 0o700 })
  if (runAs) await fs.chown(run, runAs.uid >>> 0, runAs.gid >>> 0)
  const place = ['listen_addresses=', `port=${target.port}`, `unix_socket_directories=${join(short, 'run')}`]
  const size = ['max_connections=100', 'shared_buffers=128MB', 'max_wal_size=1GB', 'jit=off']
  const time = ['timezone=UTC', 'log_timezone=UTC', 'log_line_prefix=%m [%p] ', 'log_checkpoints=off']
  const disk = durable ? [] : ['fsync=off', 'full_page_writes=off']
  const flags = [...place, ...size, ...time, ...disk].flatMap((setting) => ['-c', setting])
  const log = await openLogFile(folder)
  try {
    const stdio = ['ignore' as const, log.fd, log.fd]
    const child = spawn(postgres, ['-D', data, ...flags], { ...runAs, cwd: '/', env: environment, stdio })
    const exited = new Promise<string>((done) => {
      child.once('exit', (code, signal) => done(signal ?? `exit code ${code}`))
      child.once('error', (error) => done(error.message))
    })
    const running = () => child.pid !== undefined && child.exitCode === null && child.signalCode === null
    return { pid: child.pid ?? 0, running, exited, logStart: (await log.stat()).size }
  } finally {
    await log.close()
  }
}

/** Opens the server's own log for appending; one that has grown past 16 MiB becomes `server.log.1`. */
async function openLogFile({ home, runAs }: Folder): Promise<fs.FileHandle> {
  const path = join(home, logName)
  const size = (await fs.stat(path).catch(ignore('ENOENT')))?.size ?? 0
  if (size > 16 * 2 ** 20) await fs.rename(path, `${path}.1`)
  const file = await fs.open(path, 'a', 0o600)
  if (runAs) await file.chown(runAs.uid >>> 0, runAs.gid >>> 0)
  return file
}

/** Waits until the server says it is ready (after recovering from a crash, if it must); throws its own words if it ends. */
async function waitUntilReady({ folder, data, log }: Cluster, server: Server, signal: AbortSignal): Promise<void> {
  for (let polls = 1; server.running(); polls++) {
    if (signal.aborted) throw new Error('stopped while starting')
    const state = await readPidFile(data)
    if (state?.pid === server.pid && state.ready) return
    if (polls % 500 === 0) log.info('waiting for the database server to recover its data')
    await systemClock.sleep(20)
  }
  const path = join(folder.home, logName)
  const lines = (await fs.readFile(path)).subarray(server.logStart).toString('utf8').trim().split('\n')
  const words = lines.findLast((line) => /FATAL|PANIC/.test(line)) ?? lines.at(-1)
  throw new Error(`the database server ended (${await server.exited}): ${words || 'it said nothing'}; see ${path}`)
}

type PidFile = { path: string; pid: number; socketDir: string; ready: boolean }

/** The server's own pid file: pid, folder, start time, port, socket folder, address, shared memory, state. */
async function readPidFile(data: string): Promise<PidFile | undefined> {
  const path = join(data, 'postmaster.pid')
  const lines = (await fs.readFile(path, 'utf8').catch(ignore('ENOENT')))?.split('\n')
  const pid = Number(lines?.[0])
  if (!lines || !Number.isSafeInteger(pid) || pid <= 1) return undefined
  return { path, pid, socketDir: lines[4] ?? '', ready: lines[7]?.trim() === 'ready' }
}

/** True when the process is a PostgreSQL server working in this folder; false for any stranger that got its pid. */
async function isServerOf(pid: number, data: string): Promise<boolean> {
  if (process.platform === 'linux') {
    const gone = ignore('ENOENT', 'ESRCH', 'EACCES', 'EPERM')
    const name = await fs.readFile(`/proc/${pid}/comm`, 'utf8').catch(gone)
    return name?.trim() === 'postgres' && (await fs.readlink(`/proc/${pid}/cwd`).catch(gone)) === data
  }
  const command = await execute('ps', ['-o', 'command=', '-p', String(pid)]).catch(() => undefined)
  return command?.stdout.includes(`postgres -D ${data} `) ?? false
}

/** Sends a signal (0 only asks); false when there is no such process or it is not ours to signal. */
function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    return ignore('ESRCH', 'EPERM')(error) ?? false
  }
}
