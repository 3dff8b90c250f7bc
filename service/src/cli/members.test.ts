import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../packages/embedded-postgres/src/embedded.js'
import { newId } from '../kernel/ids.js'
import { silentLog } from '../kernel/log.js'
import { migrate, readMigrations } from '../postgres/migrate.js'
import { openDatabase } from '../postgres/pool.js'
import { members } from './members.js'

const first = '0x1111111111111111111111111111111111111111'
const second = '0x2222222222222222222222222222222222222222'
const ton = `0:${'ab'.repeat(32)}`
const users = [newId(), newId(), newId()] as const
let folder: string
let server: EmbeddedPostgres

// The commands find the database of a running service, as an operator's do.
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'members-'))
  await chmod(folder, 0o755)
  vi.stubEnv('OPENEARN_DATA_DIR', folder)
  vi.stubEnv('DATABASE_URL', '')
  server = await startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), log: silentLog, durable: false })
  const db = openDatabase(server.target, { max: 1 })
  await migrate(db, await readMigrations())
  for (const [index, [ecosystem, address]] of [
    ['evm', first] as const,
    ['evm', second] as const,
    ['ton', ton] as const,
  ].entries()) {
    const at = new Date(Date.UTC(2026, 10, 20, 12, index))
    const userId = users[index] ?? ''
    await db`insert into users (id, created_at) values (${userId}, ${at})`
    await db`insert into memberships (ecosystem, address, user_id, created_at)
             values (${ecosystem}, ${address}, ${userId}, ${at})`
  }
  await db.end()
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await server.stop()
  await rm(folder, { recursive: true, force: true })
})

async function run(...words: string[]): Promise<string[]> {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    await members.run(words)
    return write.mock.calls.map(([line]) => String(line).trimEnd().replace(/ {2,}/g, ' | '))
  } finally {
    write.mockRestore()
  }
}

describe('openearn members', () => {
  it('lists the wallets of users, newest first', async () => {
    expect(await run('list')).toEqual([
      'WALLET | USER | JOINED | SIGNED UP THROUGH',
      `ton:${ton} | ${users[2]} | 2026-11-20T12:02:00Z`,
      `evm:${second} | ${users[1]} | 2026-11-20T12:01:00Z`,
      `evm:${first} | ${users[0]} | 2026-11-20T12:00:00Z`,
    ])
    expect(await run('list', '--limit', '1')).toHaveLength(2)
  })

  it('links a wallet to the user of another, once, and keeps a record on both users', async () => {
    const said = `evm:${second} belongs to user ${users[0]}`
    expect(await run('link', `evm:0X${second.slice(2)}`, `evm:${first}`)).toEqual([said])
    expect(await run('link', `evm:${second}`, `evm:${first}`)).toEqual([said])
    const shown = await run('show', `evm:${first}`)
    expect(shown.slice(0, 3).map((line) => line.split(' | ').slice(0, 2))).toEqual([
      ['WALLET', 'USER'],
      [`evm:${first}`, users[0]],
      [`evm:${second}`, users[0]],
    ])
    expect(shown.slice(3)).toEqual(['', 'AT | WHAT | WALLET', expect.stringMatching(`Z \\| linked \\| evm:${second}$`)])
  })

  it('unlinks a wallet, which is no member then', async () => {
    expect(await run('unlink', `ton:${ton}`)).toEqual([`ton:${ton} is no member any more; it may join again`])
    await expect(run('show', `ton:${ton}`)).rejects.toThrow(`ton:${ton} is no member`)
    await expect(run('unlink', `ton:${ton}`)).rejects.toThrow('is no member')
  })

  it('says what is wrong with a wallet that is none', async () => {
    await expect(run('show', first)).rejects.toThrow('name the wallet as ecosystem:address')
    await expect(run('show', 'evm:0x12')).rejects.toThrow('address is not an address of evm')
    await expect(run('link', `evm:${first}`, `evm:${'0x'.padEnd(42, '3')}`)).rejects.toThrow('is no member')
    await expect(run('show')).rejects.toThrow('name the wallet')
    for (const limit of ['0', '1.5', '10000000', 'all 5'])
      await expect(run('list', '--limit', limit), limit).rejects.toThrow('--limit must be a whole number')
    await expect(run('forget')).rejects.toThrow('say list, show, link or unlink')
  })
})
