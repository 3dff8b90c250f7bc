import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { appendFile, cp, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { until } from '../../../contracts/test/until.js'
import { type Folder, openFolder, prepareExecutables } from '../../../packages/embedded-postgres/src/embeddedFolder.js'
import { type Database, openDatabase } from '../../src/postgres/pool.js'

const run = promisify(execFile)

/** A PostgreSQL of a test alone, which may replicate, be a standby, and be replaced. */
export type Server = {
  /** Connections to whatever serves at its socket. */
  db: Database
  socket: string
  /** Where its data are. */
  data: string
  start(): Promise<void>
  /** `SIGINT` ends it in order; `SIGKILL` as a power cut does. */
  stop(signal?: 'SIGINT' | 'SIGKILL'): Promise<void>
  /** Copies the data of a server that is stopped, as a backup does. Returns where to. */
  copy(name: string): Promise<string>
  /** Serves these data from the next start on. */
  use(data: string): void
  close(): Promise<void>
}

/** Starts a server in a folder. With `data` it serves those, at a socket of its own. */
export async function openServer(folder: string, name: string, options: { data?: string } = {}): Promise<Server> {
  const home: Folder = await openFolder(join(folder, name))
  const { postgres, initdb } = await prepareExecutables(home.home, home.runAs)
  const own = async (path: string) => {
    if (home.runAs) await run('chown', ['-R', `${home.runAs.uid >>> 0}:${home.runAs.gid >>> 0}`, path])
  }
  const socket = join(home.home, 'run')
  let data = options.data ?? join(home.home, 'data')
  await mkdir(socket)
  await own(socket)
  const settings = { ...home.runAs, cwd: '/', env: { LC_ALL: 'C' } }
  if (options.data === undefined) {
    await mkdir(data)
    await own(data)
    await run(initdb, ['-D', data, '--username=postgres', '--auth=trust', '--no-sync', '--encoding=UTF8'], settings)
  }
  const flags = ['listen_addresses=', `unix_socket_directories=${socket}`, 'wal_level=logical', 'fsync=off']
  let server: ChildProcess | undefined
  const db = openDatabase({ host: socket, port: 5432, database: 'postgres', username: 'postgres' }, { max: 4 })
  const stop = async (signal: 'SIGINT' | 'SIGKILL' = 'SIGINT') => {
    if (!server || server.exitCode !== null || server.signalCode !== null) return
    const gone = new Promise((resolve) => server?.once('exit', resolve))
    server.kill(signal)
    await gone
    if (signal === 'SIGKILL') await rm(join(data, 'postmaster.pid'), { force: true })
  }
  const start = async () => {
    const words = ['-D', data, ...flags.flatMap((flag) => ['-c', flag])]
    server = spawn(postgres, words, { ...settings, stdio: 'ignore' })
    await until('the server to answer', () =>
      db`select 1`.then(
        () => true,
        () => false,
      ),
    )
  }
  await start()
  return {
    ...{ db, socket, start, stop },
    get data() {
      return data
    },
    copy: async (to) => {
      const path = join(home.home, to)
      await rm(path, { recursive: true, force: true })
      await cp(data, path, { recursive: true })
      await own(path)
      await run('chmod', ['700', path])
      return path
    },
    use: (path) => {
      data = path
    },
    close: async () => {
      await db.end({ timeout: 5 })
      await stop()
      await home.close()
    },
  }
}

/** A standby that streams from a server, which is stopped for as long as it takes to copy it. `settings` are its own. */
export async function openStandby(
  folder: string,
  name: string,
  server: Server,
  settings: Readonly<Record<string, string>> = {},
): Promise<Server> {
  await server.stop()
  const data = await server.copy(name)
  await writeFile(join(data, 'standby.signal'), '')
  const own = { primary_conninfo: `host=${server.socket} user=postgres`, ...settings }
  const lines = Object.entries(own).map(([setting, value]) => `${setting} = '${value}'\n`)
  await appendFile(join(data, 'postgresql.auto.conf'), lines.join(''))
  await server.start()
  return openServer(folder, name, { data })
}

/** How a program is told of it. */
export const urlOfServer = ({ socket }: Server): string => `postgresql://postgres@localhost/postgres?host=${socket}`
