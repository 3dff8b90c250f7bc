import { readFile } from 'node:fs/promises'
import { type Database, type DatabaseTarget, openDatabase } from '../src/postgres/pool.js'
import { dropDatabase } from './dropDatabase.js'
import { withDatabase } from './globalSetup.js'

const runbook = new URL('../../docs/runbook.md', import.meta.url)
const password = 'secret'

export type Names = { owner: string; service: string; database: string }

/** The statements of the runbook that make a role which reads and writes, with names of one's own. */
export async function readGrants({ owner, service, database }: Names): Promise<string[]> {
  const text = /```sql openearn_service\n([^`]+)```/.exec(await readFile(runbook, 'utf8'))?.[1] ?? ''
  return text
    .replaceAll('openearn_service', service)
    .replaceAll('openearn_owner', owner)
    .replaceAll('openearn_db', database)
    .replace("'…'", `'${password}'`)
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
}

/** The same database as a role of these tests. */
export function asRole(target: DatabaseTarget, name: string): DatabaseTarget {
  if (!('url' in target)) return { ...target, username: name, password }
  const url = new URL(target.url)
  url.username = name
  url.password = password
  return { url: url.href }
}

/** How a program is told of a database. */
export function toUrl(target: DatabaseTarget): string {
  if ('url' in target) return target.url
  const { host, port, database, username } = target
  return `postgres://${username}:${target.password}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`
}

export type OwnedDatabase = {
  /** As the role that owns the database and nothing else. */
  owner: string
  /** As a role that reads and writes; it is there once the database is migrated and `grant` was called. */
  service: string
  grant(): Promise<void>
  drop(): Promise<void>
}

/** A new, empty database on a server whose role may make databases and roles, as an operator would hand it over. */
export async function makeOwnedDatabase(server: DatabaseTarget, database: string): Promise<OwnedDatabase> {
  const names: Names = { owner: `${database}_owner`, service: `${database}_service`, database }
  const asAdmin = async (work: (admin: Database) => Promise<unknown>) => {
    const admin = openDatabase(server, { max: 1 })
    await work(admin).finally(() => admin.end())
  }
  await asAdmin(async (admin) => {
    await admin.unsafe(`create role ${names.owner} login password '${password}'`)
    await admin.unsafe(`grant ${names.owner} to current_user`)
    await admin.unsafe(`create database ${database} owner ${names.owner}`)
  })
  const target = withDatabase(server, database)
  return {
    owner: toUrl(asRole(target, names.owner)),
    service: toUrl(asRole(target, names.service)),
    grant: async () => {
      const [makeRole = '', ...grants] = await readGrants(names)
      await asAdmin((admin) => admin.unsafe(makeRole))
      const owner = openDatabase(asRole(target, names.owner), { max: 1 })
      for (const grant of grants) await owner.unsafe(grant)
      await owner.end()
    },
    drop: () =>
      asAdmin(async (admin) => {
        await dropDatabase(admin, database)
        await admin.unsafe(`drop role if exists ${names.service}; drop role ${names.owner}`)
      }),
  }
}
