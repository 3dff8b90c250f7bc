import { execFile } from 'node:child_process'
import { appendFile, chown, copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { until } from '../../../contracts/test/until.js'
import { openDatabase } from '../../src/postgres/pool.js'
import { root } from '../documents.js'
import { account, find, type Program, run, takePorts } from './programs.js'

const exec = promisify(execFile)
const deploy = join(root, 'deploy/pgbackrest')
const password = 'super-secret'

/** A server of PostgreSQL that pgBackRest backs up, by the configuration of `deploy/pgbackrest`. */
export async function openBackedUp(folder: string) {
  const own = async (path: string) => {
    await mkdir(path, { recursive: true, mode: 0o700 })
    if (account.uid !== undefined) await chown(path, account.uid, account.gid ?? 0)
    return path
  }
  await own(folder)
  const [port = 0] = await takePorts(1)
  const data = join(folder, 'data')
  const config = join(folder, 'pgbackrest.conf')
  await copyFile(join(deploy, 'pgbackrest.conf'), config)
  const settings = join(folder, 'postgresql.conf')
  await copyFile(join(deploy, 'postgresql.conf'), settings)
  // What is another on this machine; the rest is as it stands in the file.
  const env = {
    ...{ PATH: '/usr/bin:/bin:/usr/lib/postgresql/15/bin', LC_ALL: 'C', TZ: 'UTC', HOME: folder },
    ...{ PGBACKREST_CONFIG: config, PGBACKREST_REPO1_CIPHER_PASS: 'kept elsewhere' },
    ...{ PGBACKREST_REPO1_PATH: await own(join(folder, 'repository')), PGBACKREST_PG1_PATH: data },
    ...{ PGBACKREST_PG1_PORT: String(port), PGBACKREST_PG1_SOCKET_PATH: folder },
    ...{ PGBACKREST_LOG_PATH: await own(join(folder, 'log')), PGBACKREST_LOCK_PATH: await own(join(folder, 'lock')) },
    ...{ PGBACKREST_SPOOL_PATH: await own(join(folder, 'spool')) },
  }
  const ask = (name: string, words: readonly string[]) => exec(find(name), [...words], { ...account, cwd: folder, env })
  const file = join(folder, 'password')
  await writeFile(file, password)
  if (account.uid !== undefined) await chown(file, account.uid, account.gid ?? 0)
  await ask('initdb', [
    '-D',
    data,
    '-U',
    'postgres',
    '--auth-local=trust',
    '--auth-host=scram-sha-256',
    `--pwfile=${file}`,
  ])
  const target = { host: '127.0.0.1', port, database: 'postgres', username: 'postgres', password }
  let program: Program
  const start = async () => {
    const place = ['-c', 'listen_addresses=127.0.0.1', '-c', `unix_socket_directories=${folder}`]
    program = run('postgres', ['-D', data, '-p', String(port), ...place], { folder, log: 'postgres', env })
    await until('a primary that takes changes', async () => {
      if (!program.isAlive()) throw new Error(`PostgreSQL has ended: see ${folder}/postgres.log`)
      const db = openDatabase(target, { max: 1 })
      try {
        const [row] = await db<{ isStandby: boolean }[]>`select pg_is_in_recovery() as "isStandby"`
        return row?.isStandby === false
      } catch {
        return false
      } finally {
        await db.end({ timeout: 1 })
      }
    })
  }
  await appendFile(join(data, 'postgresql.conf'), `include '${settings}'\n`)
  await start()
  return {
    port,
    target,
    backrest: async (...words: string[]) => (await ask('pgbackrest', ['--stanza=openearn', ...words])).stdout,
    start,
    stop: () => program.kill('SIGINT'),
    /** As when its disk is lost. */
    lose: async () => {
      await program.kill('SIGKILL')
      await rm(data, { recursive: true, force: true })
      await own(data)
    },
  }
}
