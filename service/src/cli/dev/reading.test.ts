import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { smallCatalogue } from '../../../test/catalogueFile.js'
import { openTestDatabase, type TestDatabase } from '../../../test/database.js'
import { importCatalogue } from '../../features/catalogue/import/index.js'
import { fakeClock } from '../../kernel/clock.js'
import { devnetChainId } from '../../rpc/devnet.js'
import { allThere, listUnread, sayWhenAllThere } from './reading.js'

describe('what of the demo is still being read', () => {
  let test: TestDatabase
  const clock = fakeClock('2026-11-20T12:00:00Z')
  const look = () => listUnread({ db: test.db, clock, config: { streamSnapshotSeconds: 43_200 } })

  beforeAll(async () => {
    test = await openTestDatabase()
    const text = JSON.stringify(smallCatalogue())
    await importCatalogue({ db: test.db, clock }, text.replaceAll(/"chainId":1\b/g, `"chainId":${devnetChainId}`))
  })
  afterAll(() => test.close())

  it('is named in words: deposits, then the past, until nothing is left', async () => {
    const { db } = test
    const [vault, ...others] = await db<{ id: number }[]>`
      select id from vaults order by chain_id = ${devnetChainId} desc`
    // Vaults of chains that the devnet only lists are not awaited.
    expect(others).toHaveLength(1)
    expect(await look()).toEqual(['the deposits of 1 vault', 'the past of the vaults'])
    await db`
      insert into sources (chain_id, projection, source, from_block, synced_to, synced)
      select chain_id, 'positions', address, 0, 10, true from vaults`
    expect(await look()).toEqual(['the past of the vaults'])
    await db`
      insert into vault_snapshots (vault_id, block_number, block_timestamp, block_hash, total_assets, total_supply,
        price_numerator, price_exponent)
      select id, 10, ${clock.now()}, decode(repeat('aa', 32), 'hex'), 1, 1, 1, 18 from vaults`
    const [from, to] = [new Date('2026-11-20T11:15:00Z'), new Date('2026-11-20T11:45:00Z')]
    await db`
      insert into snapshot_gaps (vault_id, from_at, to_at, opened_to, opened_at)
      values (${vault?.id ?? 0}, ${from}, ${to}, ${to}, ${clock.now()})`
    expect(await look()).toEqual(['the past of 1 vault (0 %)'])
    await db`delete from snapshot_gaps`
    expect(await look()).toEqual([])
  })

  it('is followed by one line when all is there, and by none after a stop', async () => {
    const said: string[] = []
    const unread = [['the past of 2 vaults'], ['the past of 1 vault'], []]
    const { signal } = new AbortController()
    await sayWhenAllThere({ look: async () => unread.shift() ?? [], say: (line) => said.push(line), clock, signal })
    expect(said).toEqual([`${allThere} (2 s after ready)`])
    const stopped = AbortSignal.abort()
    await sayWhenAllThere({ look: async () => ['more'], say: (line) => said.push(line), clock, signal: stopped })
    expect(said).toHaveLength(1)
  })
})
