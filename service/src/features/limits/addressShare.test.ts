import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Earn, openEarn } from '../../../test/harness.js'
import { createBudgets, sweepAddresses } from './budgets.js'

let earn: Earn
beforeAll(async () => {
  earn = await openEarn()
})
afterAll(() => earn.close())

async function newKey(hourlyUnits: number, share: number, monthlyUnits: number | null = null) {
  const text = await earn.key({ kind: 'publishable', hourlyUnits })
  const hint = `${text.slice(0, 12)}…${text.slice(-4)}`
  const rows = await earn.db<{ id: string }[]>`select id from api_keys where hint = ${hint}`
  return (network: string) => ({
    ...{ keyId: rows[0]!.id, hourlyUnits, monthlyUnits },
    address: { network, units: share },
  })
}

describe('the share of an address', () => {
  it('is exact for 600 calls at once from 3 addresses through 4 chargers, and so is the budget, in 10 of 10 runs', async () => {
    for (let run = 0; run < 10; run++) {
      const from = await newKey(100, 40)
      const chargers = Array.from({ length: 4 }, () => createBudgets(earn.ctx))
      const costs = Array.from({ length: 600 }, (_, i) => [1, 3, 10][(i * 7 + run) % 3]!)
      const sources = Array.from({ length: 600 }, (_, i) => `192.0.2.${i % 3}`)
      const charges = await Promise.all(
        costs.map((units, i) => chargers[i % 4]!.charge(from(sources[i]!), units, i % 5 === 0 ? 1 : units)),
      )
      const paid = (of?: string) =>
        charges.reduce(
          (sum, { granted }, i) =>
            granted && (of === undefined || of === sources[i]) ? sum + (i % 5 === 0 ? 1 : costs[i]!) : sum,
          0,
        )
      for (const source of new Set(sources)) expect(paid(source)).toBeLessThanOrEqual(40)
      expect(paid()).toBe(100)
      const rows = await earn.db<{ network: string; used: number }[]>`
        select network, used from address_budgets where key_id = ${from('').keyId} order by network`
      expect(rows.map(({ used }) => Number(used))).toEqual(['192.0.2.0', '192.0.2.1', '192.0.2.2'].map(paid))
    }
  })

  it('refuses one address and serves the next; 429 names ip, the next hour, and the headers tell the share', async () => {
    earn.clock.set('2026-11-20T12:59:00Z')
    const from = await newKey(100, 20)
    const budgets = createBudgets(earn.ctx)
    const first = await budgets.charge(from('a'), 15)
    expect(first).toMatchObject({ granted: true, headers: { 'X-RateLimit-Limit': '20', 'X-RateLimit-Used': '15' } })
    expect(await budgets.charge(from('a'), 10)).toMatchObject({
      granted: false,
      limit: 'ip',
      retryAfterSeconds: 60,
      headers: { 'X-RateLimit-Limit': '20', 'X-RateLimit-Remaining': '5', 'X-RateLimit-Used': '15' },
    })
    expect(await budgets.charge(from('b'), 10)).toMatchObject({ granted: true, headers: { 'X-RateLimit-Used': '10' } })
    expect(await budgets.charge(from('a'), 0)).toMatchObject({ granted: true, headers: { 'X-RateLimit-Used': '15' } })
    earn.clock.set('2026-11-20T13:00:00Z')
    expect(await budgets.charge(from('a'), 20)).toMatchObject({ granted: true, headers: { 'X-RateLimit-Used': '20' } })
  })

  it('says hourly where the hour itself is nearer, and charges an address that is refused nothing', async () => {
    const from = await newKey(30, 20)
    const budgets = createBudgets(earn.ctx)
    await budgets.charge(from('a'), 20)
    expect(await budgets.charge(from('b'), 11)).toMatchObject({ granted: false, limit: 'hourly' })
    expect(await budgets.charge(from('b'), 10)).toMatchObject({ granted: true, headers: { 'X-RateLimit-Limit': '30' } })
  })

  it('that is lowered below what was used refuses, and still tells what is used', async () => {
    const from = await newKey(100, 20)
    const budgets = createBudgets(earn.ctx)
    await budgets.charge(from('a'), 20)
    const lowered = { ...from('a'), address: { network: 'a', units: 5 } }
    const charges = await Promise.all([
      budgets.charge(lowered, 0),
      budgets.charge(lowered, 1),
      budgets.charge(lowered, 0),
      budgets.charge(from('b'), 1),
    ])
    expect(charges.map(({ granted }) => granted)).toEqual([true, false, true, true])
  })

  it('leaves no row of hours that are over behind', async () => {
    const from = await newKey(100, 20)
    const budgets = createBudgets(earn.ctx)
    for (let i = 0; i < 5; i++) await budgets.charge(from(`old ${i}`), 1)
    earn.clock.advance(3 * 3_600_000)
    await budgets.charge(from('new'), 1)
    await sweepAddresses(earn.ctx)
    expect((await earn.db`select network from address_budgets`).map((row) => row['network'])).toEqual(['new'])
  })
})
