import { execFileSync } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { silentLog } from '../../../service/src/kernel/log.js'
import { openDatabase } from '../../../service/src/postgres/pool.js'
import { type EmbeddedPostgres, findEmbeddedPostgres, startEmbeddedPostgres } from './embedded.js'
import { parseAccount } from './embeddedFolder.js'
import type { DatabaseTarget } from './platform.js'

let root: string
let dataDir: string
let server: EmbeddedPostgres
const start = () => startEmbeddedPostgres({ dataDir, durable: false, log: silentLog })

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'embedded-role-'))
  await chmod(root, 0o755)
  dataDir = join(root, 'postgres')
  server = await start()
})
afterAll(async () => {
  await server?.stop()
  await rm(root, { recursive: true, force: true, maxRetries: 5 })
})

async function ask(target: DatabaseTarget, statement: string): Promise<unknown[]> {
  const db = openDatabase(target, { max: 1 })
  try {
    return [...(await db.unsafe(statement))]
  } finally {
    await db.end()
  }
}

describe('the role of the service', () => {
  it('owns its database and has no right beyond it', async () => {
    const rights = `select rolname, rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls,
      (select datdba = pg_roles.oid from pg_database where datname = current_database()) as owner
      from pg_roles where rolname = current_user`
    expect(await ask(server.target, rights)).toEqual([
      {
        rolname: 'openearn',
        rolsuper: false,
        rolcreatedb: false,
        rolcreaterole: false,
        rolreplication: false,
        rolbypassrls: false,
        owner: true,
      },
    ])
    for (const statement of [
      `copy (select 1) to program 'true'`,
      `select pg_read_file('postgresql.conf')`,
      'alter system set fsync to off',
      'create database other',
      'create role other',
    ])
      await expect(ask(server.target, statement), statement).rejects.toMatchObject({ code: '42501' })
  })

  it('is let in by its password alone, kept as SCRAM, and the superuser not at all', async () => {
    const password = (await readFile(join(dataDir, 'data', 'openearn.password'), 'utf8')).trim()
    expect(password).toMatch(/^[0-9a-f]{48}$/)
    expect(server.target.password).toBe(password)
    expect(await findEmbeddedPostgres(dataDir)).toEqual(server.target)
    await expect(ask({ ...server.target, password: 'wrong' }, 'select 1')).rejects.toMatchObject({ code: '28P01' })
    const { password: _, ...without } = server.target
    await expect(ask(without, 'select 1')).rejects.toThrow('the database cannot be reached')
    for (const database of ['postgres', 'openearn'])
      await expect(ask({ ...server.target, username: 'postgres', database }, 'select 1')).rejects.toMatchObject({
        code: '28000',
      })
    expect(await ask(server.target, `select current_setting('password_encryption') as kept`)).toEqual([
      { kept: 'scram-sha-256' },
    ])
    expect(await readFile(join(dataDir, 'server.log'), 'utf8')).not.toContain(password)
  })

  it('has its password beside the data, for the eyes of the server’s account alone', async () => {
    const [data, file] = await Promise.all(['data', 'data/openearn.password'].map((name) => stat(join(dataDir, name))))
    expect([data!.mode & 0o777, file!.mode & 0o777, file!.uid === data!.uid]).toEqual([0o700, 0o600, true])
  })

  it('is asked for in one sentence where the database was made before it had one', async () => {
    await server.stop()
    const file = join(dataDir, 'data', 'openearn.password')
    execFileSync('mv', [file, `${file}.kept`])
    await expect(start()).rejects.toThrow(
      /was made before the service had a role of its own in it: move the folder away/,
    )
    execFileSync('mv', [`${file}.kept`, file])
    server = await start()
    expect(await ask(server.target, 'select 1 as one')).toEqual([{ one: 1 }])
  })
})

describe('the account the server runs as', () => {
  it('is openearn where root starts it and the account exists, and never root', () => {
    const passwd =
      'root:x:0:0:root:/root:/bin/sh\nopenearn:x:977:976::/var/lib/openearn:/usr/sbin/nologin\nodd:x:0:0::/:\n'
    expect(parseAccount(passwd, 'openearn')).toEqual({ uid: 977, gid: 976 })
    expect(parseAccount(passwd, 'open')).toBeUndefined()
    expect(parseAccount(passwd, 'odd')).toBeUndefined()
    expect(parseAccount('', 'openearn')).toBeUndefined()
  })
})
