import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, openSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { until } from '../../../contracts/test/until.js'

/** Programs of Debian that a cluster consists of, started as real processes on loopback. */
export type Program = {
  readonly pid: number
  isAlive(): boolean
  kill(signal: NodeJS.Signals): Promise<void>
}

const placesOf = (name: string) =>
  ['/usr/bin', '/usr/sbin', '/usr/lib/postgresql/15/bin']
    .map((place) => join(place, name))
    .filter((path) => existsSync(path))

/** Whether this machine has all that a cluster consists of. */
export const isInstalled = ['patroni', 'patronictl', 'etcd', 'haproxy', 'pgbouncer', 'pg_rewind'].every(
  (name) => placesOf(name).length > 0,
)

/** Whether it has all that backups need. */
export const hasBackups = ['pgbackrest', 'initdb', 'postgres'].every((name) => placesOf(name).length > 0)

/** The account that a server of PostgreSQL may run as: only root has to change to another. */
export const account: { uid?: number; gid?: number } =
  process.getuid?.() === 0 && (isInstalled || hasBackups) ? { uid: idOf('-u'), gid: idOf('-g') } : {}

function idOf(flag: '-u' | '-g'): number {
  return Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
}

/** Where a program is, wherever Debian put it. */
export const find = (name: string): string => {
  const [found] = placesOf(name)
  if (!found)
    throw new Error(`${name} is not installed: apt-get install patroni etcd-server haproxy pgbouncer pgbackrest`)
  return found
}

/** Starts a program whose words go to a file of the folder. */
export function run(
  name: string,
  words: readonly string[],
  { folder, log, env = {} }: { folder: string; log: string; env?: Record<string, string> },
): Program {
  const out = openSync(join(folder, `${log}.log`), 'a')
  const child: ChildProcess = spawn(find(name), [...words], {
    ...account,
    cwd: folder,
    env: { PATH: '/usr/bin:/bin:/usr/sbin', LC_ALL: 'C', HOME: folder, ...env },
    stdio: ['ignore', out, out],
  })
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const isAlive = () => child.exitCode === null && child.signalCode === null
  return {
    pid: child.pid ?? 0,
    isAlive,
    kill: async (signal) => {
      if (isAlive()) child.kill(signal)
      await gone
    },
  }
}

/** Ports of loopback that are free now. */
export async function takePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer()
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      return server
    }),
  )
  const ports = servers.map((server) => (server.address() as { port: number }).port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}

/** Waits by looking every 20 ms; fails at once when the process that it depends on has ended. */
export const untilAnswers = (what: string, url: string, program?: Program) =>
  until(what, async () => {
    if (program && !program.isAlive()) throw new Error(`${what}: its process has ended`)
    return fetch(url).then(
      ({ status }) => status === 200,
      () => false,
    )
  })
