import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Earn } from '../../../test/harness.js'
import { seededRandom, times } from '../../../test/seed.js'
import { drawHistory } from '../../../test/usdDaysHistory.js'
import { openUsdDaysWorld, writeHistory } from '../../../test/usdDaysWorld.js'
import { cutUsdDays } from '../../derive/usdDays.js'
import { formatUnits, parseDecimal } from '../../kernel/amount.js'
import type { Database } from '../../postgres/pool.js'
import { reportDistributor } from './reportDistributor.js'
import { streamWalletDays, type WalletDay } from './walletDays.js'

let earn: Earn
beforeAll(async () => {
  earn = await openUsdDaysWorld(drawHistory(seededRandom()))
  earn.clock.set('2026-11-23T00:00:00Z')
})
afterAll(() => earn?.close())

const rounds = 7
const decimals = 80
const midnights = ['2026-11-20', '2026-11-21', '2026-11-22'].map((day) => new Date(`${day}T00:00:00Z`)) as [
  Date,
  Date,
  Date,
]

/** Moves a history so that midnight is in its middle, and tells who ever had lots. */
async function putAcrossMidnight(db: Database): Promise<void> {
  for (const table of ['lot_changes', 'vault_snapshots', 'share_mints', 'share_readings', 'share_reading_gaps'])
    await db`update ${db(table)} set block_timestamp = block_timestamp + interval '15 hours 30 minutes'`
  for (const table of ['vault_identities', 'chain_cursors'])
    await db`update ${db(table)} set block_timestamp = block_timestamp + interval '15 hours 30 minutes'`
  await db`update blocks set timestamp = timestamp + interval '15 hours 30 minutes'`
  await db`update price_observations set observed_at = observed_at + interval '15 hours 30 minutes'`
  await db`update rules_versions set holds_from = holds_from + interval '15 hours 30 minutes'`
  await db`update attributed_steps set step = step + 62`
  await db`truncate lots`
  await db`
    insert into lots (chain_id, first_block, vault_id, wallet, distributor_id, shares)
    select distinct chain_id, 0, vault_id, wallet, distributor_id, 0 from lot_changes`
}

async function collect(range?: { from: Date; to: Date }): Promise<WalletDay[]> {
  const rows: WalletDay[] = []
  for await (const chunk of streamWalletDays(earn.db, range)) rows.push(...chunk)
  return rows
}

/** USD-days by the rows of wallets alone: their USD-seconds, added, over the seconds of a day, cut once. */
const addUp = (rows: readonly WalletDay[]): string => {
  const units = rows.reduce((sum, row) => sum + parseDecimal(String(row.usd_seconds), decimals), 0n)
  return formatUnits(cutUsdDays({ units, decimals }), 18)
}

describe('wallet-days', () => {
  it('add up over wallets to the report and to what is served, to the digit, on each day and over all of them', async () => {
    const { db, ctx } = earn
    const random = seededRandom()
    const seen = { rows: 0, sums: 0, unguarded: 0, unpriced: 0, wallets: 0, days: 0 }
    for (let round = 0; round < rounds * times; round++) {
      await writeHistory(db, drawHistory(random))
      await putAcrossMidnight(db)
      const rows = await collect()
      const [first, second, third] = midnights
      for (const [from, to] of [
        [first, second],
        [second, third],
        [first, third],
      ] as const) {
        const within = rows.filter((row) => {
          const at = new Date(`${row.day}T00:00:00Z`)
          return at >= from && at < to
        })
        if (to !== third || from === second) expect(await collect({ from, to })).toEqual(within)
        for (const distributorId of ['acme', 'beta']) {
          const report = await reportDistributor(ctx, { distributorId, from, to })
          let total = 0n
          for (const { vaultAddress, chainId, usdDays } of report) {
            const own = within.filter(
              (row) => row.vault === vaultAddress && row.chain_id === chainId && row.distributor_id === distributorId,
            )
            expect(addUp(own), `round ${round}`).toBe(usdDays)
            total += parseDecimal(usdDays, 18)
            seen.sums += own.length > 0 ? 1 : 0
            seen.wallets += own.length > 2 ? 1 : 0
          }
          const { body } = await earn.call('GetDistributorMetrics', {
            params: { distributorId },
            query: { startDate: from.toISOString(), endDate: to.toISOString(), step: 86_400, includeUsdDays: true },
          })
          expect(body.usdDays.total).toBe(formatUnits(total, 18))
        }
      }
      seen.rows += rows.length
      seen.unguarded += rows.filter((row) => Number(row.unguarded_seconds) > 0).length
      seen.unpriced += rows.filter((row) => Number(row.unpriced_seconds) > 0).length
      seen.days += new Set(rows.map((row) => row.day)).size === 2 ? 1 : 0
    }
    console.info(`wallet-days beside reports: ${JSON.stringify(seen)}`)
    for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(5)
  })

  it('are left out of chains that are not read, and of days before the range', async () => {
    await writeHistory(earn.db, drawHistory(seededRandom()))
    await putAcrossMidnight(earn.db)
    const rows = await collect()
    expect(new Set(rows.map((row) => row.chain_id)).size).toBe(2)
    await earn.db`delete from projections where chain_id = 1`
    expect(await collect()).toEqual(rows.filter((row) => row.chain_id !== 1))
    expect(await collect({ from: new Date('2026-11-22T00:00:00Z'), to: new Date('2026-11-23T00:00:00Z') })).toEqual([])
  })
})
