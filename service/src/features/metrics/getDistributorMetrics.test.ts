import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Earn } from '../../../test/harness.js'
import { openMetricsWorld, opportunities, product, wallets } from '../../../test/metricsWorld.js'
import { openTelling } from '../../../test/tellingDatabase.js'
import { formatUnits } from '../../kernel/amount.js'
import { newId } from '../../kernel/ids.js'
import { formatAddress } from '../../wallets/format.js'
import { readSeries } from './getDistributorMetrics.js'

let earn: Earn
beforeAll(async () => {
  earn = await openMetricsWorld()
})
afterAll(() => earn?.close())

const day = (time: string) => `2026-11-20T${time}:00Z`
const ask = (query: Record<string, string | number | boolean>, distributorId = 'acme') =>
  earn.call('GetDistributorMetrics', {
    params: { distributorId },
    query: { startDate: day('07:50'), endDate: day('09:50'), ...query },
  })
const seriesOf = async (query: Record<string, string | number | boolean>, distributorId?: string) => {
  const { status, body } = await ask(query, distributorId)
  expect(status).toBe(200)
  return Object.fromEntries(
    body.timeseries.map((each: { timestamp: string; tvl: string }) => [each.timestamp.slice(11, 16), each.tvl]),
  )
}

describe('200 the attributed TVL', () => {
  it('is shares by the newest share price and price at the end of each bucket, 0 while there is no price', async () => {
    expect(await seriesOf({})).toEqual({
      '07:45': '0',
      // 1,000 shares at 1.
      '08:00': '1000',
      // 1,010 at 1.1; the second vault has no snapshot before 08:30, and no price before 09:30.
      '08:15': '1111',
      '08:30': '1111',
      '08:45': '1111',
      // The first wallet has left the first vault.
      '09:00': '11',
      '09:15': '11',
      // And 5 shares of the second vault at 2 × 10.5.
      '09:30': '116',
      '09:45': '116',
    })
  })

  it('is the same by steps that do not lie on 900 s, to the second', async () => {
    const range = { startDate: day('07:59'), endDate: day('08:21'), step: 60 }
    const series = await seriesOf(range)
    expect([series['07:59'], series['08:00'], series['08:14'], series['08:15'], series['08:19']]).toEqual([
      ...['0', '1000', '1000', '1100', '1100'],
    ])
    expect(series['08:20']).toBe('1111')
    expect(Object.keys(series)).toHaveLength(23)
  })

  it('takes what a step holds whose end lies beyond the end of the range, and the newest in the open bucket', async () => {
    const { body } = await ask({ startDate: day('00:00'), endDate: '2027-01-01T00:00:00Z', step: 86_400 })
    expect(body.timeseries).toEqual([{ timestamp: '2026-11-20T00:00:00Z', tvl: '116' }])
  })

  it('has 900 s where step is absent, empty, null or 0', async () => {
    const plain = (await ask({})).text
    for (const step of ['', 'null', 0]) expect((await ask({ step })).text).toBe(plain)
  })

  it('has one bucket where startDate is endDate', async () => {
    const { body } = await ask({ startDate: day('08:10'), endDate: day('08:10') })
    expect(body.timeseries).toEqual([{ timestamp: day('08:00'), tvl: '1000' }])
  })

  it('is of the opportunities and products asked for, both together of what is in both; unknown ids select nothing', async () => {
    const last = async (query: Record<string, string>) => (await seriesOf(query))['09:45']
    expect(await last({ opportunityIds: opportunities[0] })).toBe('11')
    expect(await last({ opportunityIds: opportunities[1].toUpperCase() })).toBe('105')
    expect(await last({ opportunityIds: opportunities.join() })).toBe('116')
    expect(await last({ productIds: product })).toBe('105')
    expect(await last({ opportunityIds: opportunities[0], productIds: product })).toBe('0')
    expect(await last({ opportunityIds: newId() })).toBe('0')
    expect(await last({ productIds: newId() })).toBe('0')
  })

  it('is empty of a distributor nobody knows, and 0 of one that has brought nothing', async () => {
    expect((await ask({ includeTopWallets: true }, 'nobody')).body).toEqual({
      timeseries: [],
      asOf: [],
      topWallets: [],
    })
    expect(Object.values(await seriesOf({}, 'idle'))).toEqual(Array(9).fill('0'))
  })

  it('says how new its figures are, of opportunities with a snapshot in the range', async () => {
    const asOf = async (startDate: string, endDate: string) =>
      new Map(
        (await ask({ startDate, endDate })).body.asOf.map((each: { opportunityId: string; asOf: string }) => [
          each.opportunityId,
          each.asOf,
        ]),
      )
    expect(await asOf(day('07:50'), day('09:50'))).toEqual(
      new Map([
        [opportunities[0], day('08:15')],
        [opportunities[1], day('09:30')],
      ]),
    )
    expect(await asOf(day('08:46'), day('09:20'))).toEqual(new Map())
  })

  it('lists how new the figures are in the order of the ids of the opportunities', async () => {
    const told = (await ask({})).body.asOf.map(({ opportunityId }: { opportunityId: string }) => opportunityId)
    expect(told).toEqual([...opportunities].sort())
    expect(told).toHaveLength(2)
  })
})

describe('200 the USD-days', () => {
  it('are told where they are asked for, of each bucket and of the range, and cost two units more', async () => {
    const { body, headers } = await ask({
      includeUsdDays: true,
      step: 3_600,
      startDate: day('08:00'),
      endDate: day('09:30'),
    })
    // 1,000 USD a quarter of an hour, 1,100 five minutes and 1,111 for 40; then 11 for half an hour.
    const hours = ['1082.333333333333333333', '5.5']
    expect(hours.map((each) => Number(each) / 24)).toEqual(
      body.timeseries.map(({ usdDays }: { usdDays: string }) => Number(usdDays)),
    )
    expect(body.usdDays).toMatchObject({ unpricedSeconds: 70 * 60, to: day('09:30') })
    expect(headers['x-request-cost']).toBe('7')
    const { headers: both } = await ask({ includeUsdDays: true, includeTopWallets: true })
    expect(both['x-request-cost']).toBe('12')
  })

  it('are absent, and ask the database nothing, where they are not asked for', async () => {
    for (const query of [{}, { includeUsdDays: false }]) {
      const { body } = await ask(query)
      expect([body.usdDays, ...body.timeseries.map((point: object) => Object.keys(point).length)]).toEqual([
        ...[undefined, ...Array(9).fill(2)],
      ])
    }
    const asked = async (includeUsdDays: boolean) => {
      const { telling, asked: statements } = openTelling(() => earn.db)
      const input = { distributorId: 'acme', startDate: day('07:50'), endDate: day('09:50'), includeUsdDays }
      await readSeries({ ...earn.ctx, db: telling as never }, input)
      const ofUsdDays = /share_mints|rules_versions|vault_identities|from projections|snapshot_gaps/
      return statements.filter(({ text }) => ofUsdDays.test(text)).length
    }
    expect(await asked(false)).toBe(0)
    expect(await asked(true)).toBeGreaterThan(4)
  })
})

describe('200 the top wallets', () => {
  it('are null unless asked for, those with the most first, as of the latest data, zeros left out', async () => {
    expect((await ask({})).body.topWallets).toBeNull()
    const { body, headers } = await ask({ includeTopWallets: true, endDate: day('08:00') })
    expect(body.topWallets).toEqual([
      { walletAddress: formatAddress(wallets[0] ?? ''), totalTvl: '105', asOf: day('09:30') },
      { walletAddress: formatAddress(wallets[1] ?? ''), totalTvl: '11', asOf: day('08:15') },
    ])
    expect(headers['x-request-cost']).toBe('10')
    expect((await ask({})).headers['x-request-cost']).toBe('5')
  })

  it('rest on confirmed blocks: what is changed above them does not count yet', async () => {
    const { db } = earn
    const [row] = await db<{ id: number }[]>`select min(id) as id from vaults`
    await db`
      insert into lot_changes (chain_id, block_number, block_timestamp, vault_id, transaction_index, wallet, distributor_id, before, after)
      values (31337, 99, '2026-11-20T11:00:00Z', ${row?.id ?? 0}, 0, hex_bytes(${wallets[1] ?? ''}), 'acme', 10000000, 70000000)`
    await db`update lots set shares = 70000000 where wallet = hex_bytes(${wallets[1] ?? ''})`
    const { body } = await ask({ includeTopWallets: true })
    expect(body.topWallets.map(({ totalTvl }: { totalTvl: string }) => totalTvl)).toEqual(['105', '11'])
    expect((await seriesOf({ startDate: day('11:00'), endDate: day('11:30'), step: 60 }))['11:10']).toBe('116')
  })

  it('are exact where wallets differ by less than a float tells, and of equals the lower address is first', async () => {
    const { db } = earn
    const held = Array.from({ length: 120 }, (_, index) => ({
      wallet: `0x${(5 + ((index * 37) % 240)).toString(16).padStart(2, '0').repeat(20)}`,
      shares: 10n ** 24n + BigInt((index * 7) % 60),
    }))
    const [vault] = await db<{ id: number }[]>`select max(id) as id from vaults`
    await db`
      insert into lots (chain_id, first_block, vault_id, wallet, distributor_id, shares)
      select 31337, 1, ${vault?.id ?? 0}, hex_bytes(h.wallet), 'acme', h.shares
      from unnest(${held.map(({ wallet }) => wallet)}::text[], ${held.map(({ shares }) => String(shares))}::numeric[])
        as h (wallet, shares)
      on conflict (vault_id, wallet, distributor_id) do update set shares = excluded.shares`
    const { body } = await ask({ includeTopWallets: true })
    held.sort((a, b) => (a.shares === b.shares ? (a.wallet < b.wallet ? -1 : 1) : a.shares < b.shares ? 1 : -1))
    expect(
      body.topWallets.map(({ walletAddress, totalTvl }: Record<string, string>) => [walletAddress, totalTvl]),
    ).toEqual(
      // Two assets a share, 10.5 dollars each.
      held.slice(0, 50).map(({ wallet, shares }) => [formatAddress(wallet), formatUnits(shares * 21n, 18)]),
    )
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it.each([
    ['startDate after endDate', { startDate: day('10:00') }],
    ['no startDate', { startDate: '' }],
    ['no endDate', { endDate: '' }],
    ['a date without a time', { startDate: '2026-11-20' }],
    ['a day that is none', { startDate: '2026-02-30T00:00:00Z' }],
    ['a negative step', { step: -900 }],
    ['a step that is no integer', { step: '1.5' }],
    ['more than 50,000 buckets', { startDate: '2026-11-20T00:00:00Z', endDate: '2026-11-20T12:00:00Z', step: 0.5 }],
    ['more than 50,000 buckets of a second', { startDate: '2026-11-19T00:00:00Z', endDate: day('12:00'), step: 1 }],
    ['a bad uuid in opportunityIds', { opportunityIds: `${opportunities[0]},x` }],
    ['a bad uuid in productIds', { productIds: 'x' }],
    ['includeTopWallets that is neither true nor false', { includeTopWallets: 'yes' }],
    ['USD-days of too many vaults and days', { includeUsdDays: true, startDate: '1990-01-01T00:00:00Z', step: 86_400 }],
    ['includeUsdDays that is neither true nor false', { includeUsdDays: '1' }],
    ['includeAudit that is neither true nor false', { includeAudit: 'all' }],
  ])('%s', async (_name, query) => {
    expect((await ask(query)).body).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT' })
  })

  it('serves exactly 50,000 buckets, a year by default, and counts them to now', async () => {
    const year = { startDate: '2025-11-20T12:00:00Z', endDate: '2099-01-01T00:00:00Z' }
    expect((await ask(year)).body.timeseries).toHaveLength(35_041)
    const from = new Date(earn.clock.now().getTime() - 49_999_000).toISOString()
    expect((await ask({ startDate: from, endDate: year.endDate, step: 1 })).body.timeseries).toHaveLength(50_000)
  })
})

describe('the flows of the range', () => {
  it('are told with includeFlows alone, for two units more, and are nothing of a distributor that nobody knows', async () => {
    const none = { count: 0, usd: '0', unpriced: 0 }
    const flows = { from: day('07:50'), to: day('09:50'), deposits: none, withdrawals: none }
    const [plain, asked, unknown] = await Promise.all([
      ask({}),
      ask({ includeFlows: true }),
      ask({ includeFlows: true }, 'nobody'),
    ])
    expect(plain.body).not.toHaveProperty('flows')
    expect([asked.body.flows, unknown.body.flows]).toEqual([flows, flows])
    expect({ ...asked.body, flows: undefined }).toEqual({ ...plain.body, flows: undefined })
    const costs = [plain, asked].map(({ headers }) => headers['x-request-cost'])
    expect(costs).toEqual(['5', '7'])
  })
})

describe('403 PERMISSION_DENIED', () => {
  it('is the answer to includeAudit but for a secret key of the organization of the distributor', async () => {
    const other = newId()
    await earn.db`insert into organizations (id, name, organization_type) values (${other}, 'Other', 'distributor')`
    const askAs = (key: string, includeAudit: boolean, distributorId = 'acme') => {
      const query = { startDate: day('07:50'), endDate: day('09:50'), includeAudit }
      return earn.call('GetDistributorMetrics', { params: { distributorId }, query, key })
    }
    const publishable = await earn.key({ kind: 'publishable' })
    const secret = await earn.key({ kind: 'secret' })
    const refused = [
      askAs(publishable, true),
      askAs(await earn.key({ kind: 'secret', organizationId: other }), true),
      askAs(await earn.key({ kind: 'secret', distributorId: 'beta' }), true),
      askAs(secret, true, 'nobody'),
    ]
    for (const { body } of await Promise.all(refused))
      expect(body).toMatchObject({ code: 403, status: 'PERMISSION_DENIED' })
    const allowed = await Promise.all([askAs(publishable, false), askAs(secret, true)])
    expect(allowed.map(({ status }) => status)).toEqual([200, 200])
  })
})
