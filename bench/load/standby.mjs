import { execFile, spawn } from 'node:child_process'
import { appendFile, chmod, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { openFolder, prepareExecutables } from '../../packages/embedded-postgres/dist/embeddedFolder.js'
import { migrate, readMigrations } from '../../service/dist/postgres/migrate.js'
import { openDatabase } from '../../service/dist/postgres/pool.js'

const run = promisify(execFile)

/** A migrated server, and a standby that streams from it, of the embedded binaries. */
export async function openPair() {
  const folder = await mkdtemp(join(tmpdir(), 'openearn-pair-'))
  await chmod(folder, 0o755)
  const home = await openFolder(join(folder, 'pair'))
  const { postgres, initdb } = await prepareExecutables(home.home, home.runAs)
  const own = async (path) => {
    if (home.runAs) await run('chown', ['-R', `${home.runAs.uid}:${home.runAs.gid}`, path])
  }
  const settings = { ...home.runAs, cwd: '/', env: { LC_ALL: 'C' } }
  const placeOf = (name) => ({ data: join(home.home, name), socket: join(home.home, `${name}-socket`) })
  const start = async ({ data, socket }) => {
    const flags = ['listen_addresses=', `unix_socket_directories=${socket}`].flatMap((flag) => ['-c', flag])
    const child = spawn(postgres, ['-D', data, ...flags], { ...settings, stdio: 'ignore' })
    const target = { host: socket, port: 5432, database: 'postgres', username: 'postgres' }
    const db = openDatabase(target, { max: 2 })
    for (let tries = 0; ; tries++) {
      const answers = await db`select 1`.then(
        () => true,
        () => false,
      )
      if (answers) break
      if (tries > 300 || child.exitCode !== null) throw new Error('the server does not start')
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    const stop = async () => {
      await db.end()
      const gone = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGINT')
      await gone
    }
    return { db, target, stop, url: `postgresql://postgres@localhost/postgres?host=${socket}` }
  }
  const [first, second] = [placeOf('primary'), placeOf('standby')]
  for (const path of [first.data, first.socket, second.socket]) {
    await mkdir(path)
    await own(path)
  }
  await run(initdb, ['-D', first.data, '--username=postgres', '--auth=trust', '--no-sync', '--encoding=UTF8'], settings)
  const empty = await start(first)
  await migrate(empty.db, await readMigrations())
  await empty.stop()
  await cp(first.data, second.data, { recursive: true })
  await writeFile(join(second.data, 'standby.signal'), '')
  await appendFile(
    join(second.data, 'postgresql.auto.conf'),
    `primary_conninfo = 'host=${first.socket} user=postgres'\n`,
  )
  await own(second.data)
  await chmod(second.data, 0o700)
  const [primary, standby] = [await start(first), await start(second)]
  return {
    primary,
    standby,
    close: async () => {
      await standby.stop()
      await primary.stop()
      await home.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
