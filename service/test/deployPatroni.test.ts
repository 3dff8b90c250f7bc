import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { countConnections } from '../src/server/connectionCount.js'
import { readDocument, root } from './documents.js'

/** `cluster.long.test.ts` starts all of it; here is what its files say of each other, and of the program. */
const folder = join(root, 'deploy/patroni')
const read = (name: string) => readFile(join(folder, name), 'utf8')
const numberIn = (text: string, name: string) =>
  Number(new RegExp(`^\\s*${name}\\s*[:=]\\s*(\\d+)\\s*$`, 'm').exec(text)?.[1])

describe('the configuration of a cluster', () => {
  it('names every file in the runbook', async () => {
    const text = await readDocument('docs/runbook.md')
    for (const name of await readdir(folder)) expect(text).toContain(`\`${name}\``)
  })

  it('gives the lock of the leader the time that Patroni asks for, and less than the bound of a failover', async () => {
    const patroni = await read('patroni.yml')
    const [ttl, wait, retry] = ['ttl', 'loop_wait', 'retry_timeout'].map((name) => numberIn(patroni, name)) as [
      number,
      number,
      number,
    ]
    expect(wait + 2 * retry).toBeLessThanOrEqual(ttl)
    expect(ttl + wait).toBeLessThan(30)
    expect(patroni).toMatch(/^ +synchronous_mode: true$/m)
  })

  it('has an address for each variable of haproxy, and none that it does not read', async () => {
    const used = new Set([...(await read('haproxy.cfg')).matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name))
    const set = [...(await read('haproxy.env')).matchAll(/^(\w+)=\S+$/gm)].map(([, name]) => name)
    expect(set.toSorted()).toEqual([...used].toSorted())
  })

  it('keeps sessions whole, with room in PgBouncer and PostgreSQL for the fleet of the runbook', async () => {
    const bouncer = await read('pgbouncer.ini')
    expect(bouncer).toMatch(/^pool_mode = session$/m)
    const at = { poolSize: 4, chains: 1 }
    const fleet = (['serve', 'serve', 'serve', 'watch --chains', 'watch --chains', 'jobs', 'commit', 'solve'] as const)
      .map((way) => countConnections(way, at))
      .reduce((all, each) => all + each, 0)
    const pool = numberIn(bouncer, 'default_pool_size')
    expect(pool).toBeGreaterThan(fleet)
    expect(numberIn(await read('patroni.yml'), 'max_connections')).toBeGreaterThan(pool)
    expect(numberIn(bouncer, 'max_client_conn')).toBeGreaterThan(pool)
  })
})
