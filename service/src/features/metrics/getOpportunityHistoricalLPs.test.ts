import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Earn } from '../../../test/harness.js'
import { chainId, openMetricsWorld, vaults, wallets, whole } from '../../../test/metricsWorld.js'
import { countActiveLps } from './index.js'

let earn: Earn
let dated: Earn
beforeAll(async () => {
  earn = await openMetricsWorld()
  // From 09:30 on a hundred shares make an LP, from 10:30 on one.
  const floors = [
    { shares: String(whole(0, 1)) },
    { shares: String(whole(0, 100)), activeFrom: '2026-11-20T09:30:00Z' },
    { shares: String(whole(0, 2)), activeFrom: '2026-11-20T10:30:00Z' },
  ]
  dated = await openMetricsWorld({ floors })
})
afterAll(async () => {
  await earn?.close()
  await dated?.close()
})

const day = (time: string) => `2026-11-20T${time}:00Z`
type Query = Record<string, string | number>
const ask = (query: Query, path: Query = {}, of = earn) =>
  of.call('GetOpportunityHistoricalLPs', {
    params: { chainId, vaultAddress: vaults[0], ...path },
    query: { startDate: day('07:50'), endDate: day('10:40'), ...query },
  })
type Point = { timestamp: string } & Record<'distributor' | 'all', { activeLps: number; participatedLps: number }>
const countsOf = async (query: Query, path: Query = {}, of = earn) => {
  const { status, body } = await ask(query, path, of)
  expect(status).toBe(200)
  return body.data.map(
    ({ timestamp, distributor, all }: Point) =>
      `${timestamp.slice(11, 16)} ${distributor.activeLps}/${distributor.participatedLps} ${all.activeLps}/${all.participatedLps}`,
  )
}

describe('200 the LPs of a vault', () => {
  it('are holders at the end of each bucket inside the range: of what distributors brought, and all', async () => {
    expect(await countsOf({})).toEqual([
      ...['08:00 1/1 1/1', '08:15 2/2 2/2', '08:30 2/2 2/2', '08:45 2/2 2/2', '09:00 1/2 1/2', '09:15 1/2 1/2'],
      ...['09:30 1/2 1/2', '09:45 1/2 1/2', '10:00 2/3 3/4', '10:15 2/3 3/4'],
    ])
  })

  it('have larger buckets by larger steps, and 900 s where step is absent, empty or null', async () => {
    expect(await countsOf({ step: 3_600, endDate: day('10:59') })).toEqual(['08:00 2/2 2/2', '09:00 1/2 1/2'])
    for (const step of ['', 'null']) expect(await countsOf({ step })).toEqual(await countsOf({}))
  })

  it('are an empty series where no bucket lies inside, where nothing is known of the vault, and of a vault nobody knows', async () => {
    expect(await countsOf({ startDate: day('08:01'), endDate: day('08:29') })).toEqual([])
    await earn.db`
      insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals)
      values (${chainId}, ${`0x${'3c'.repeat(20)}`}, 'erc4626', '0xaa', 6, ${`0x${'3c'.repeat(20)}`}, 6)`
    for (const path of [
      { vaultAddress: `0x${'3c'.repeat(20)}` },
      { vaultAddress: `0x${'4d'.repeat(20)}` },
      { chainId: 5 },
    ])
      expect(await countsOf({}, path)).toEqual([])
  })

  it('are 0 before the first fact, and the same vault is asked for in any case', async () => {
    const range = { startDate: '2026-11-19T00:00:00Z', endDate: '2026-11-19T00:15:00Z' }
    expect(await countsOf(range)).toEqual(['00:00 0/0 0/0'])
    const mixed = `0x${vaults[0].slice(2).toUpperCase()}`
    expect(await countsOf({}, { vaultAddress: mixed })).toEqual(await countsOf({}))
  })

  it('need as many shares as the floor that is in force says: a new one counts from its day, who met an old one has participated', async () => {
    expect(await countsOf({ startDate: day('09:00'), endDate: day('11:00') }, {}, dated)).toEqual([
      ...['09:00 1/2 1/2', '09:15 1/2 1/2'],
      // Ten shares are too few now, and so are the seven and the three that come.
      ...['09:30 0/2 0/2', '09:45 0/2 0/2', '10:00 0/2 0/2', '10:15 0/2 0/2'],
      // Two are enough: who holds seven and who holds three have become LPs without doing anything.
      ...['10:30 2/3 3/4', '10:45 2/3 3/4'],
    ])
  })

  it('are counted for lists at instants, null before anything is known', async () => {
    const rows = await dated.db<{ id: number }[]>`select id from vaults where address = ${vaults[0]}`
    const instants = [undefined, new Date(day('09:10')), new Date(day('08:15')), new Date(day('08:00'))]
    const counts = await countActiveLps(dated.db, [rows[0]?.id ?? 0], instants)
    expect([...counts.values()]).toEqual([[3, 2, 1, null]])
  })

  it('never are the vault itself, nor an address that nobody has', async () => {
    const none = await openMetricsWorld({ happenings: [{ time: '08:00', holdings: [] }] })
    const { findChanges } = await import('./changes.js')
    const { listMetricsVaults } = await import('./storeConfiguration.js')
    const known = await listMetricsVaults(none.db, chainId)
    const [vaultId = 0] = [...known.keys()]
    const place = { vaultId, blockNumber: 1, transactionIndex: 0, timestamp: 0, before: 0n, after: 5n }
    const change = (wallet: string) => ({ ...place, wallet, attributedBefore: 0n, attributedAfter: 0n })
    const others = [vaults[0], `0x${'00'.repeat(18)}dead`, `0x${'00'.repeat(20)}`]
    const balanceChanges = [...others, wallets[0] ?? ''].map(change)
    const { crossings } = findChanges({ number: 1, timestamp: 0 }, { balanceChanges, lotChanges: [] }, known)
    expect(crossings.map(({ wallet }) => wallet)).toEqual([wallets[0]])
    await none.close()
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it.each<[string, Query, Query?]>([
    ['startDate over 365 days ago', { startDate: '2025-11-20T11:58:59Z', step: 86_400 }],
    ['startDate after endDate', { startDate: day('11:00') }],
    ['no startDate', { startDate: '' }],
    ['no endDate', { endDate: '' }],
    ['step 0', { step: 0 }],
    ['a negative step', { step: -900 }],
    ['a step that is no multiple of 900', { step: 1_000 }],
    ['a step above the largest', { step: 31_536_900 }],
    ['more than 10,000 buckets', { startDate: '2026-07-01T00:00:00Z' }],
    ['a malformed address', {}, { vaultAddress: '0x12' }],
    ['chain 0', {}, { chainId: 0 }],
  ])('%s', async (_name, query, path) => {
    expect((await ask(query, path)).body).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT' })
  })

  it('leaves a minute to clocks that differ', async () => {
    const { status } = await ask({ startDate: '2025-11-20T11:59:30Z', step: 86_400 })
    expect(status).toBe(200)
  })
})
