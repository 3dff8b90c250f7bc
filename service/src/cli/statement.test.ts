import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openTestDatabase, type TestDatabase, urlOf } from '../../test/database.js'
import { newId } from '../kernel/ids.js'
import { statement } from './statement.js'
import { UsageError } from './terminal.js'

let database: TestDatabase
let folder: string
beforeAll(async () => {
  database = await openTestDatabase()
  folder = await mkdtemp(join(tmpdir(), 'openearn-statement-'))
  vi.stubEnv('DATABASE_URL', urlOf(database.target))
  const organization = newId()
  await database.db`insert into organizations (id, name, organization_type) values (${organization}, 'O', 'distributor')`
  await database.db`insert into distributors (id, organization_id, active_from) values ('acme', ${organization}, '1970-01-01')`
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await database?.close()
  if (folder) await rm(folder, { recursive: true, force: true })
})

const run = async (...words: string[]): Promise<string> => {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    await statement.run([...words, '--out', folder])
    return write.mock.calls.map(([text]) => String(text)).join('')
  } finally {
    write.mockRestore()
  }
}

const month = ['--month', '2026-01']

describe('openearn statement', () => {
  it('writes JSON, CSV and a manifest with their SHA-256, and the same files when it is called again', async () => {
    expect(await run('acme', ...month)).toMatch(/^acme 2026-01, revision 1: 0 USD-days, SHA-256 [0-9a-f]{64}\n$/)
    const files = (await readdir(folder)).sort()
    expect(files).toEqual(['csv', 'json', 'manifest.json'].map((end) => `acme-2026-01-r1.${end}`))
    const read = () => Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))
    const texts = await read()
    const told: { file: string; sha256: string }[] = JSON.parse(texts[2] ?? '').files
    for (const { file, sha256 } of told)
      expect(
        createHash('sha256')
          .update(texts[files.indexOf(file)] ?? '')
          .digest('hex'),
      ).toBe(sha256)
    expect(told).toHaveLength(2)
    await run('acme', ...month)
    expect(await read()).toEqual(texts)
    expect(await run('acme', ...month, '--draft', '--rate-bps', '50')).toContain('DRAFT: 0 USD-days, owed 0 USD')
    expect(await readdir(folder)).toContain('acme-2026-01-50bps-DRAFT.json')
  })

  it('of a chain with vaults that is not final is refused, with what to do', async () => {
    const { db } = database
    await db`insert into chains (chain_id, name, slug) values (5, 'C', 'c')`
    await db`
      insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals)
      values (5, ${`0x${'1a'.repeat(20)}`}, 'erc4626', '0xaa', 6, ${`0x${'1a'.repeat(20)}`}, 6)`
    await db`
      insert into chain_cursors (chain_id, start_block, block_number, block_hash, block_timestamp, head_number, updated_at)
      values (5, 0, 1, '', '2026-01-31T00:00:00Z', 1, '2026-01-31T00:00:00Z')`
    await expect(run('acme', '--month', '2026-01')).rejects.toThrow(
      'no statement of 2026-01: chain 5 is final nowhere yet. --draft writes what is known now',
    )
  })

  it.each([
    [[], /give the builder code first/],
    [['acme'], /--month is missing/],
    [['acme', '--month', '2026-1'], /--month must be a month such as 2026-10/],
    [['nobody', ...month], /there is no distributor nobody/],
    [['acme', ...month, '--rate-bps', '0.5'], /--rate-bps must be a whole number/],
    [['acme', ...month, '--token', '1:0xaa', '--rate-bps', '5'], /--token must be CHAIN:ADDRESS/],
    [['acme', ...month, '--token', `1:0x${'aa'.repeat(20)}`], /--token goes with --rate-bps/],
  ])('refuses %j in a sentence', async (words, sentence) => {
    await expect(run(...words)).rejects.toThrow(UsageError)
    await expect(run(...words)).rejects.toThrow(sentence)
  })
})
