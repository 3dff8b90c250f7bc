import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../packages/embedded-postgres/src/embedded.js'
import { addressOf, smallCatalogue } from '../../test/catalogueFile.js'
import { importCatalogue } from '../features/catalogue/import/importCatalogue.js'
import { recordSigner } from '../features/catalogue/storeSigners.js'
import { systemClock } from '../kernel/clock.js'
import { parseConfig } from '../kernel/config.js'
import { silentLog } from '../kernel/log.js'
import { migrate, readMigrations } from '../postgres/migrate.js'
import { type Database, openDatabase } from '../postgres/pool.js'
import { trust } from './trust.js'

let folder: string
let server: EmbeddedPostgres
let db: Database

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trust-'))
  await chmod(folder, 0o755)
  vi.stubEnv('OPENEARN_DATA_DIR', folder)
  vi.stubEnv('DATABASE_URL', '')
  server = await startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), log: silentLog, durable: false })
  db = openDatabase(server.target, { max: 2 })
  await migrate(db, await readMigrations())
  const ctx = { db, clock: systemClock, log: silentLog, config: parseConfig({}, '/nonexistent') }
  await importCatalogue(ctx, JSON.stringify(smallCatalogue()))
  await recordSigner(db, addressOf(70), new Date('2026-01-01T00:00:00Z'))
  await db`update chains set active = false where chain_id = 8453`
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await db?.end()
  await server?.stop()
  await rm(folder, { recursive: true, force: true })
})

async function run(...words: string[]): Promise<string> {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    await trust.run(words)
    return write.mock.calls.map(([text]) => String(text)).join('')
  } finally {
    write.mockRestore()
  }
}

describe('openearn trust export', () => {
  it('prints the facts of every active chain, or writes them to a file and says what is in it', async () => {
    const printed = JSON.parse(await run('export'))
    expect(printed).toMatchObject({
      version: 1,
      chains: [{ chainId: 1, signers: [getAddress(addressOf(70))], vaults: [{ address: getAddress(addressOf(3)) }] }],
    })
    const file = join(folder, 'trust.json')
    expect(await run('export', file)).toContain('chain 1: 1 vaults, 1 signers')
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(printed)
    expect(JSON.parse(await run('export', '--chain', '1'))).toEqual(printed)
  })

  it('writes no file without a chain, and says what it takes', async () => {
    await expect(run('export', '--chain', '8453')).rejects.toThrow(/no active chain 8453/)
    await expect(run('export', '--chain', 'x')).rejects.toThrow(/--chain/)
    await expect(run('import')).rejects.toThrow(/say export/)
  })
})
