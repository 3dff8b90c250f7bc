import { describe, expect, it } from 'vitest'
import { openMonth, type TestVault, walletOf } from '../../../test/audit/month.js'
import type { FindingCode } from '../metrics/index.js'
import { boundChance } from './auditEnds.js'
import { auditMonth } from './auditFindings.js'
import { readAuditLimits } from './auditLimits.js'

type Month = ReturnType<typeof openMonth>
const [minute, hour, day] = [60, 3_600, 86_400]

/** A month with a holder in each of two vaults, and something else. */
function audit(draw: (month: Month, vaults: [TestVault, TestVault]) => void) {
  const month = openMonth()
  const vaults: [TestVault, TestVault] = [month.vault({}), month.vault({ chainId: 10, blockSeconds: 2 })]
  for (const vault of vaults) month.deposit({ at: -1, vault, wallet: walletOf('holder'), usd: 1_000 })
  draw(month, vaults)
  return auditMonth(month.finish(), readAuditLimits(undefined)).findings
}
const countOf = (code: FindingCode, draw: Parameters<typeof audit>[0]) =>
  audit(draw).find((finding) => finding.code === code)?.count ?? 0

const stay = (month: Month, vault: TestVault, { at, seconds, usd = 5_000, wallet = walletOf('cheat') }: Stay) => {
  month.deposit({ at, vault, wallet, usd })
  month.exit({ at: at + seconds, vault, wallet })
}
type Stay = { at: number; seconds: number; usd?: number; wallet?: string }

describe('an audit', () => {
  it('names passes of half an hour of a wallet from the fourth on, on chains with short blocks too, but no exit on the same day', () => {
    const passes = (times: number, place: 0 | 1) =>
      countOf('inAndOut', (month, vaults) => {
        for (let index = 0; index < times; index++)
          stay(month, vaults[place], { at: (index * 7 + 1) * hour, seconds: 30 * minute })
        stay(month, vaults[place], { at: 20 * day, seconds: 9 * hour, usd: 500_000, wallet: walletOf('visitor') })
      })
    for (const place of [0, 1] as const) expect([passes(3, place), passes(4, place)]).toEqual([0, 4])
  })

  it('lets a bot go from vault to vault at once, and names the same stays where the money is out between them', () => {
    const walk = (gap: number) =>
      countOf('inAndOut', (month, vaults) => {
        for (let index = 0; index < 40; index++)
          stay(month, vaults[index % 2 === 0 ? 0 : 1], { at: hour + index * (20 * minute + gap), seconds: 20 * minute })
      })
    expect(walk(minute)).toBe(0)
    expect(walk(40 * minute)).toBe(40)
  })

  it('names money that goes round with a part kept of it, and not money that goes on and does not come back', () => {
    const pass = (wallets: number) =>
      countOf('loop', (month, [vault]) => {
        for (let index = 0; index < 9; index++)
          stay(month, vault, {
            ...{ at: (index + 1) * 2 * day, seconds: 2 * day - hour, usd: 5_000 * 0.97 ** index },
            wallet: walletOf(`member ${index % wallets}`),
          })
      })
    expect(pass(3)).toBeGreaterThan(7)
    expect(pass(9)).toBe(0)
  })

  it('names a crowd of unlike amounts over days that one sender pays for, unless its wallets take out parts', () => {
    const pay = (of: { parts: boolean; days: number }) =>
      countOf('paidByOneSender', (month, [vault]) => {
        for (let index = 0; index < 40; index++) {
          const [wallet, sender, at] = [
            walletOf(`paid ${index}`),
            walletOf('payer'),
            Math.floor((index * of.days * day) / 40),
          ]
          month.deposit({ at, vault, wallet, usd: 200 + 37 * ((index * 7) % 40), sender })
          if (of.parts && index % 3 === 0) month.exit({ at: at + day, vault, wallet, part: 0.4 })
        }
      })
    expect(pay({ parts: false, days: 9 })).toBe(40)
    expect(pay({ parts: true, days: 9 })).toBe(0)
    expect(pay({ parts: false, days: 30 })).toBe(0)
  })

  it('names a price that was raised in steps for hours, with money that came before it, and neither a loss nor a harvest', () => {
    const spiked = (month: Month, [vault]: readonly TestVault[], steps: readonly number[]) => {
      for (const [index, factor] of steps.entries()) vault?.spikes.set(10 * day + index * hour, factor)
      if (vault) stay(month, vault, { at: 10 * day - hour, seconds: 7 * hour })
    }
    expect(countOf('staged', (month, vaults) => spiked(month, vaults, [1.01, 1.05, 1.2, 1.2, 1.2]))).toBe(1)
    const changed = (factor: number) =>
      countOf('staged', (month, vaults) => {
        vaults[0].priceAt = (second) => (second < 10 * day + 1 ? 1 : factor)
        spiked(month, vaults, [])
      })
    expect([changed(0.7), changed(1.05)]).toEqual([0, 0])
  })

  it('names stays over the ends of hours, and not the same ones at any time', () => {
    const short = (offset: (index: number) => number) =>
      countOf('bucketEnd', (month, [vault]) => {
        for (let index = 1; index < 30; index++)
          stay(month, vault, { at: index * 20 * hour - offset(index), seconds: 20 * minute })
      })
    expect(short(() => 8 * minute)).toBe(29)
    expect(short((index) => ((index * 37) % 60) * minute)).toBe(0)
  })

  it('bounds chance from above: ten of ten where half is expected, and nothing for what is expected', () => {
    expect(boundChance(10, 10, 5)).toBeCloseTo(2 ** -10, 12)
    expect(boundChance(5, 10, 5)).toBe(1)
    expect(boundChance(0, 0, 0)).toBe(1)
  })

  it('takes wallets with some dollars for dust where hardly any hold ten times as much', () => {
    const small = (others: number) =>
      countOf('belowFloor', (month, [vault]) => {
        for (let index = 0; index < 40; index++)
          month.deposit({ at: index, vault, wallet: walletOf(`dust ${index}`), usd: 8 })
        for (let index = 0; index < others; index++)
          month.deposit({ at: index, vault, wallet: walletOf(`person ${index}`), usd: 90 })
      })
    expect([small(5), small(25)]).toEqual([40, 0])
  })

  it('refuses names that counted blocks with what came after them', () => {
    expect(() => readAuditLimits('inAndOutBlocks=300')).toThrow(/"inAndOutBlocks".*inAndOutSeconds in docs\/audit.md/)
  })
})
