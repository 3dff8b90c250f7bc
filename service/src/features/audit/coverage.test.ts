import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Earn } from '../../../test/harness.js'
import { seededRandom } from '../../../test/seed.js'
import { drawHistory } from '../../../test/usdDaysHistory.js'
import { openUsdDaysWorld } from '../../../test/usdDaysWorld.js'
import { newId } from '../../kernel/ids.js'
import { reportCoverage } from './coverage.js'

const hash = (n: number) => `0x${n.toString(16).padStart(64, '0')}`
const wallet = `0x${'01'.repeat(20)}`
const range = { from: new Date('2026-11-01T00:00:00Z'), to: new Date('2026-12-01T00:00:00Z') }
const hour = 3_600_000

let earn: Earn
let vaultId = 0
beforeAll(async () => {
  earn = await openUsdDaysWorld(drawHistory(seededRandom()))
  const [row] = await earn.db<{ id: number }[]>`select min(id) as id from vaults where chain_id = 1`
  vaultId = row?.id ?? 0
})
afterAll(() => earn?.close())

/** A deposit of 100 shares in a block and transaction of its own, of which a part is credited. */
async function deposit(
  n: number,
  told: { codes?: string[]; distributorId?: string; problems?: string[]; credited?: number },
  hours = n,
) {
  const { db } = earn
  const at = new Date(range.from.getTime() + hours * hour)
  await db`
    insert into flows (chain_id, block_number, block_timestamp, vault_id, transaction_index, wallet, kind, shares, assets)
    values (1, ${n}, ${at}, ${vaultId}, 0, hex_bytes(${wallet}), 'deposit', 100, 100)`
  if (told.credited)
    await db`
      insert into interactions (id, chain_id, vault_id, kind, block_number, block_hash, block_timestamp, transaction_hash,
        transaction_index, log_index, wallet, distributor_id, attribution, assets, shares, is_swap)
      values (${newId()}, 1, ${vaultId}, 'deposit', ${n}, ${hash(n)}, ${at}, ${hash(n)}, 0, 0, ${wallet}, 'acme', 'signed', 1,
        ${told.credited}, false)`
  await db`
    insert into transaction_attributions (chain_id, block_number, block_timestamp, transaction_index, block_hash,
      transaction_hash, sender, distributor_id, codes, problems)
    values (1, ${n}, ${at}, 0, hex_bytes(${hash(n)}), hex_bytes(${hash(n)}), hex_bytes(${wallet}), ${told.distributorId ?? null},
      ${told.codes ?? []}, ${told.problems ?? []})`
}

const ownRow = async () => {
  const [vault] = await earn.db<{ address: string }[]>`select address from vaults where id = ${vaultId}`
  return (await reportCoverage(earn, range)).find(({ vaultAddress }) => vaultAddress === vault?.address)
}

describe('the coverage of a month', () => {
  it('says what became of deposited shares: credited, and left out by which rule', async () => {
    const codes = ['acme']
    await deposit(1, { codes, distributorId: 'acme', credited: 70 })
    await deposit(2, {})
    await deposit(3, {})
    await deposit(4, { codes: ['nobody'] })
    await deposit(5, { codes, problems: ['needs a trace'] })
    await deposit(6, { codes, distributorId: 'acme', credited: 100, problems: ['signature already used'] })
    // Of a month before, and of a block that was taken back.
    await deposit(7, {}, -1)
    await earn.db`update transaction_attributions set retracted = true where block_number = 4`
    await earn.db`insert into call_paths (chain_id, block_number, transaction_index) values (1, 5, 0)`
    expect((await ownRow())?.deposited).toEqual({
      attributed: '170',
      unattributed: { 'code does not count for the wallet': '30', 'needs a trace': '100', 'no code': '300' },
      untraced: 1,
    })
    await earn.db`update transaction_attributions set retracted = false where block_number = 4`
    expect((await ownRow())?.deposited.unattributed).toMatchObject({ 'code not registered': '100', 'no code': '200' })
  })

  it('counts time without a snapshot and without a price, and the most another source of the price differs', async () => {
    const { db } = earn
    const whole = range.to.getTime() - range.from.getTime()
    expect(await ownRow()).toMatchObject({ unseenMs: whole, unpricedMs: whole, unguardedMs: 0, secondPrice: null })
    const [asset] = await db<{ asset: string }[]>`select lower(asset) as asset from vaults where id = ${vaultId}`
    const observe = async (priceUsd: string, source: string, at: number) => {
      const [row] = await db<{ id: number }[]>`
        insert into price_observations (chain_id, address, price_usd, source, observed_at)
        values (1, ${asset?.asset ?? ''}, ${priceUsd}, ${source}, ${new Date(range.from.getTime() + at * hour)}) returning id`
      return row?.id
    }
    for (const [at, price] of [
      [10, 2],
      [11, null],
      [12, 2],
    ] as const) {
      const id = price === null ? null : await observe(String(price), 'one', at)
      await db`
        insert into vault_snapshots (block_number, block_timestamp, price_observation_id, vault_id, price_exponent, total_assets,
          total_supply, price_numerator, price_usd, block_hash)
        values (${at}, ${new Date(range.from.getTime() + at * hour)}, ${id ?? null}, ${vaultId}, 6, 1, 1, 1, ${price},
          hex_bytes(${hash(at)}))`
    }
    // Half an hour of each stretch is within two intervals of a snapshot.
    expect(await ownRow()).toMatchObject({ unseenMs: whole - 1.5 * hour, unpricedMs: 11 * hour, secondPrice: null })
    await observe('2.01', 'other', 9)
    await observe('1.98', 'other', 11.5)
    expect((await ownRow())?.secondPrice).toEqual({ snapshots: 2, deviationBps: 100 })
  })
})
