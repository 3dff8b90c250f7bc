import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openTestDatabase, type TestDatabase, urlOf } from '../../test/database.js'
import { flushEvents } from '../../test/flushEvents.js'
import { tell } from '../features/events/index.js'
import { exportCommand } from './export.js'
import { formatRow } from './exportFiles.js'

describe('a line of an exported file', () => {
  it('quotes what would end a cell or a line, a lone carriage return too, and doubles quotes', () => {
    expect(formatRow({ a: 'x,y', b: 'x\ny', c: 'x\ry', d: 'say "x"' })).toBe('"x,y","x\ny","x\ry","say ""x"""\n')
  })

  it('leaves plain text, numbers and instants as they are, and what is not known empty', () => {
    const at = new Date('2026-01-01T00:00:00Z')
    expect(formatRow({ a: 'plain', b: 12n, c: at, d: null })).toBe('plain,12,2026-01-01T00:00:00Z,\n')
  })
})

describe('openearn export', () => {
  let database: TestDatabase
  let folder: string
  beforeAll(async () => {
    database = await openTestDatabase()
    folder = await mkdtemp(join(tmpdir(), 'openearn-ranges-'))
    vi.stubEnv('DATABASE_URL', urlOf(database.target))
    for (const hour of [0, 1, 2, 3, 4, 5])
      await database.db`
        insert into price_observations (chain_id, address, price_usd, source, observed_at, valid_until)
        values (1, '0xaa', ${hour + 1}, 'test', ${`2026-11-01T0${hour}:00:00Z`}, ${`2026-11-01T0${hour}:30:00Z`})`
  })
  afterAll(async () => {
    vi.unstubAllEnvs()
    await database?.close()
    await rm(folder, { recursive: true, force: true })
  })

  const run = async (...words: string[]): Promise<string> => {
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    try {
      await exportCommand.run([...words, '--out', folder])
      return write.mock.calls.map(([text]) => String(text)).join('')
    } finally {
      write.mockRestore()
    }
  }
  const manifest = async () => JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')).files
  const linesOf = async (file: string) => (await readFile(join(folder, file), 'utf8')).split('\n').slice(1, -1)

  it('writes ranges that go on where the last one ended, and together have every row once', async () => {
    await run('prices')
    expect(await run('prices', '--from', '2026-11-01T00:00:00Z', '--to', '2026-11-01T02:00:00Z')).toContain('2 rows')
    expect(await run('prices', '--from', 'last', '--to', '2026-11-01T03:00:00Z')).toContain('1 rows')
    expect(await run('prices', '--from', 'last', '--to', '2026-11-01T09:00:00Z')).toContain('3 rows')
    const ranges = (await readdir(folder)).filter((file) => file.startsWith('prices-')).sort()
    expect(ranges).toEqual([
      'prices-20261101T000000Z-20261101T020000Z.csv',
      'prices-20261101T020000Z-20261101T030000Z.csv',
      'prices-20261101T030000Z-20261101T090000Z.csv',
    ])
    const lines = (await Promise.all(ranges.map(linesOf))).flat()
    expect(lines).toHaveLength(6)
    expect(lines).toEqual(await linesOf('prices.csv'))
    expect((await manifest()).at(-1)).toMatchObject({
      from: '2026-11-01T03:00:00Z',
      to: '2026-11-01T09:00:00Z',
      rows: 3,
    })
  })

  it('notes the cursor after which events tell what the file lacks', async () => {
    await run('ledger')
    expect((await manifest()).at(-1)).toMatchObject({ file: 'ledger.csv', next: '0-000000000000' })
    const at = new Date('2026-11-01T00:00:00Z')
    await tell(database.db, [{ type: 'chain.final', at, chainId: 1, subject: { kind: 'chain', id: '1' }, data: {} }])
    await flushEvents(database.db)
    await run('ledger')
    expect((await manifest()).at(-1).next).toMatch(/^1-[0-9a-f]{12}$/)
  })

  it.each([
    [['balances', '--from', '2026-11-01T00:00:00Z', '--to', '2026-11-02T00:00:00Z'], /balances has the present/],
    [['prices', '--from', '2026-11-01T00:00:00Z'], /go together/],
    [['prices', '--to', '2026-11-01T00:00:00Z'], /go together/],
    [['prices', '--from', 'yesterday', '--to', '2026-11-01T00:00:00Z'], /--from must be a time/],
    [['prices', '--from', '2026-11-01T00:00:00Z', '--to', 'now'], /--to must be a time/],
    [['prices', '--from', '2026-11-01T00:00:00Z', '--to', '2026-11-01T00:00:00Z'], /--to must be after/],
    [['flows', '--from', 'last', '--to', '2026-11-01T00:00:00Z'], /names no range of flows as csv/],
    [['wallet-days', '--from', '2026-11-01T00:00:00Z', '--to', '2026-11-01T12:00:00Z'], /must be midnights/],
  ])('refuses %j in a sentence', async (words, sentence) => {
    await expect(run(...words)).rejects.toThrow(sentence)
  })
})
