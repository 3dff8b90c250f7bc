import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../packages/embedded-postgres/src/embedded.js'
import { silentLog } from '../kernel/log.js'
import { migrate, readMigrations } from '../postgres/migrate.js'
import { type Database, openDatabase } from '../postgres/pool.js'
import { listSuspects, recordProvided } from '../prices/index.js'
import { prices } from './prices.js'
import type { Command } from './terminal.js'
import { vaults } from './vaults.js'

const address = `0x${'ab'.repeat(20)}`
let folder: string
let server: EmbeddedPostgres
let db: Database

// The commands find the database of a running service, as an operator's do.
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vaults-'))
  await chmod(folder, 0o755)
  vi.stubEnv('OPENEARN_DATA_DIR', folder)
  vi.stubEnv('DATABASE_URL', '')
  server = await startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), log: silentLog, durable: false })
  db = openDatabase(server.target, { max: 2 })
  await migrate(db, await readMigrations())
  await db`insert into chains (chain_id, name, slug) values (1, 'C', 'c')`
  await db`insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals)
    values (1, ${address}, 'erc4626', '0xaa', 6, ${address}, 6)`
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await db.end()
  await server.stop()
  await rm(folder, { recursive: true, force: true })
})

const run = (...words: string[]) => runOf(vaults, ...words)

/** Runs a command; answers what it printed. */
async function runOf(command: Command, ...words: string[]): Promise<string> {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    await command.run(words)
    return write.mock.calls.map(([text]) => String(text)).join('')
  } finally {
    write.mockRestore()
  }
}

const sources = async () => (await db`select growth_sources as "is" from vaults`)[0]?.['is']
const pauses = async () => (await db`select paused_from, resumed_at from vault_pauses order by paused_from`).length
const version = async () => (await db`select version from catalogue_versions`)[0]?.['version']
const [first, second] = ['2026-01-01T00:00:00.000Z', '2026-02-01T00:00:00.000Z']

describe('openearn vaults', () => {
  it('changes what measures growth from an instant on, tells every process, and records who did it', async () => {
    const before = await version()
    await run('growth', '1', address.toUpperCase().replace('X', 'x'), 'nav', '--from', first)
    expect(await sources()).toEqual([
      { source: 'share-price', activeTo: first },
      { source: 'nav', activeFrom: first },
    ])
    await run('growth', '1', address, 'none', '--from', second)
    expect(await sources()).toEqual([
      { source: 'share-price', activeTo: first },
      { source: 'nav', activeFrom: first, activeTo: second },
    ])
    expect(await version()).toBe(before + 2)
    const [change] = await db`select command from operator_changes order by at, id limit 1`
    expect(change?.['command']).toMatch(/^vaults growth 1 /)
  })

  it('pauses once at a time, and resumes what is paused', async () => {
    await run('pause', '1', address, '--from', first)
    await expect(run('pause', '1', address, '--from', second)).rejects.toThrow('paused already')
    await expect(run('resume', '1', address, '--from', first)).rejects.toThrow('not paused')
    await run('resume', '1', address, '--from', second)
    await expect(run('resume', '1', address)).rejects.toThrow('not paused')
    await run('pause', '1', address)
    expect(await pauses()).toBe(2)
  })

  it.each([
    [['halt', '1', address], 'say growth, pause or resume'],
    [['pause', 'x', address], 'give the chain id'],
    [['pause', '1', '0x12'], 'give the chain id'],
    [['pause', '2', address], 'there is no vault'],
    [['growth', '1', address, 'luck'], 'say share-price, nav or none'],
    [['growth', '1', address, 'nav', '--from', 'today'], '--from must be'],
  ])('refuses %j', async (words, said) => {
    await expect(run(...words)).rejects.toThrow(said)
  })
})

describe('openearn prices', () => {
  const provide = (priceUsd: string, at: string) =>
    recordProvided(db, [{ chainId: 1, address, priceUsd, source: 'defillama', observedAt: new Date(at) }])

  it('lists prices that jumped, and accepts those of a token, with who did it recorded', async () => {
    expect(await runOf(prices, 'suspects')).toContain('no price waits')
    await provide('1', first)
    await provide('2', second)
    expect(await runOf(prices, 'suspects')).toContain(`1 ${address} 2 by defillama at ${second}`)
    await runOf(prices, 'accept', '1', address.toUpperCase().replace('X', 'x'))
    expect(await listSuspects(db)).toEqual([])
    const rows = await db`select price_usd::text as price from price_at(1, ${address}, ${new Date(second)})`
    expect(rows.map(({ price }) => price)).toEqual(['2'])
    const [change] = await db`select command from operator_changes order by at desc, id desc limit 1`
    expect(change?.['command']).toMatch(/^prices accept 1 /)
    await expect(runOf(prices, 'accept', '1', address)).rejects.toThrow('nothing is suspect')
  })

  it.each([
    [['agree'], 'say suspects or accept'],
    [['accept', 'x', address], 'give the chain id'],
    [['accept', '1', '0x12'], 'give the chain id'],
  ])('refuses %j', async (words, said) => {
    await expect(runOf(prices, ...words)).rejects.toThrow(said)
  })
})
