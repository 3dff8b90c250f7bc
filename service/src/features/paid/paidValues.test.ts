import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../test/database.js'
import { recordObservations } from '../../prices/index.js'
import { readPaidValues } from './paidValues.js'

const chainId = 31_337
const start = 1_700_000_000
const [inner, outer] = ['1a', '2b'].map((byte) => `0x${byte.repeat(20)}`) as [string, string]
const whole = 10n ** 18n

let test: TestDatabase
let ids: Map<string, number>
beforeAll(async () => {
  test = await openTestDatabase()
})
afterAll(() => test?.close())

beforeEach(async () => {
  const { db } = test
  await db`truncate chains, vaults, vault_snapshots, share_mints, share_readings, price_observations cascade`
  await db`update rules_versions set holds_from = to_timestamp(0)`
  await db`insert into chains (chain_id, name, slug) values (${chainId}, 'C', 'c')`
  ids = new Map()
  for (const [vault, asset] of [
    [inner, '0xdd'],
    [outer, inner],
  ] as const) {
    const [row] = await db<{ id: number }[]>`
      insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals)
      values (${chainId}, ${vault}, 'erc4626', ${asset}, 6, ${vault}, 6) returning id`
    ids.set(vault, row?.id ?? 0)
  }
})

const hashOf = (number: number) => `0x${number.toString(16).padStart(64, '0')}`

/** A snapshot in the block of its second; the price of a share is a whole number of assets. */
async function snapshot(
  vault: string,
  at: number,
  price: bigint,
  priceUsd: string,
  observationId: number | null = null,
) {
  await test.db`
    insert into vault_snapshots (block_number, block_timestamp, price_observation_id, vault_id, price_exponent, total_assets,
      total_supply, price_numerator, price_usd, block_hash)
    values (${at}, to_timestamp(${start + at}), ${observationId}, ${ids.get(vault) ?? 0}, 18, 1, 1000000,
      ${String(price * whole)}, ${priceUsd}, hex_bytes(${hashOf(at)}))`
}

/** A deposit that buys at a price, near enough: the rounding of a unit is a millionth of a millionth. */
async function sell(vault: string, at: number, price: bigint) {
  await test.db`
    insert into share_mints (chain_id, block_number, block_timestamp, vault_id, log_index, block_hash, transaction_hash,
      shares, assets)
    values (${chainId}, ${at}, to_timestamp(${start + at}), ${ids.get(vault) ?? 0}, 0, hex_bytes(${hashOf(at)}),
      hex_bytes(${hashOf(at)}), ${String(whole)}, ${String(price * whole)})`
}

/** The price of the inner share that follows from its snapshot at an instant. */
async function observeShare(at: number, priceUsd: string): Promise<number> {
  await recordObservations(test.db, [
    {
      ...{
        chainId,
        address: inner,
        priceUsd,
        source: `share:${inner}`,
        rank: 2,
        blockNumber: at,
        blockHash: hashOf(at),
      },
      ...{ observedAt: new Date((start + at) * 1_000), validUntil: new Date((start + at + 1_800) * 1_000) },
    },
  ])
  const [row] = await test.db<{ id: number }[]>`select max(id) as id from price_observations`
  return Number(row?.id)
}

const read = async (vault: string, to = 100) => {
  const range = { from: new Date(start * 1_000), to: new Date((start + to) * 1_000) }
  const { values } = await readPaidValues(test.db, { vaultId: ids.get(vault) ?? 0, ...range, carries: false })
  return values.map(({ atMs, numerator, priceUsd }) => [
    ...[atMs / 1_000 - start, Number(numerator) / 1e18, Number(priceUsd)],
  ])
}

describe('the rules version', () => {
  it('leaves the time before it at the price of the snapshot, and holds in the middle of a stretch', async () => {
    await snapshot(inner, 10, 8n, '1')
    await sell(inner, 20, 4n)
    await sell(inner, 40, 2n)
    await snapshot(inner, 60, 2n, '1')
    expect(await read(inner)).toEqual([
      [10, 8, 1],
      [20, 4, 1],
      [40, 2, 1],
      [60, 2, 1],
    ])
    await test.db`update rules_versions set holds_from = to_timestamp(${start + 30})`
    expect(await read(inner)).toEqual([
      [10, 8, 1],
      [30, 4, 1],
      [40, 2, 1],
      [60, 2, 1],
    ])
    await test.db`update rules_versions set holds_from = to_timestamp(${start + 1_000})`
    expect(await read(inner)).toEqual([
      [10, 8, 1],
      [60, 2, 1],
    ])
  })

  it('begins with the month after the update where there are vaults, and at once where there are none', async () => {
    const { db } = test
    const file = await readFile(join(import.meta.dirname, '../../../migrations/0037_share_readings.sql'), 'utf8')
    const note = file.slice(file.indexOf('insert into rules_versions'))
    const noted = async () => {
      await db`delete from rules_versions`
      await db.unsafe(note)
      const [row] = await db<{ isNext: boolean; isFirst: boolean }[]>`
        select holds_from = (date_trunc('month', now() at time zone 'UTC') + interval '1 month') at time zone 'UTC' as "isNext",
          holds_from = to_timestamp(0) as "isFirst"
        from rules_versions where version = 2`
      return row
    }
    expect(await noted()).toEqual({ isNext: true, isFirst: false })
    await db`delete from vaults`
    expect(await noted()).toEqual({ isNext: false, isFirst: true })
  })
})

describe('a price that follows from the share of a vault', () => {
  it('falls with the paid price of that share, and rises again with the next choice only', async () => {
    await snapshot(inner, 10, 8n, '3')
    const id = await observeShare(10, '24')
    await snapshot(outer, 12, 1n, '24', id)
    await sell(inner, 20, 2n)
    await snapshot(inner, 30, 5n, '7')
    await snapshot(outer, 50, 1n, '24', id)
    const next = await observeShare(30, '35')
    await snapshot(outer, 70, 1n, '35', next)
    const values = await read(outer)
    expect(values).toEqual([
      [12, 1, 24],
      [20, 1, 6],
      [50, 1, 6],
      [70, 1, 35],
    ])
  })

  it('is what was chosen where the share never fell, to the last digit, whatever its asset is worth since', async () => {
    await snapshot(inner, 10, 8n, '3')
    const id = await observeShare(10, '24.000000000000000001')
    await snapshot(outer, 12, 1n, '24.000000000000000001', id)
    await sell(inner, 20, 9n)
    await snapshot(inner, 30, 9n, '2')
    const range = { from: new Date(start * 1_000), to: new Date((start + 99) * 1_000) }
    const { values } = await readPaidValues(test.db, { vaultId: ids.get(outer) ?? 0, ...range, carries: false })
    expect(values.map(({ priceUsd }) => priceUsd)).toEqual(['24.000000000000000001'])
  })

  it('keeps what was chosen up to where the rule holds', async () => {
    await snapshot(inner, 10, 8n, '3')
    await snapshot(outer, 12, 1n, '24', await observeShare(10, '24'))
    await sell(inner, 20, 2n)
    await test.db`update rules_versions set holds_from = to_timestamp(${start + 40})`
    expect(await read(outer)).toEqual([
      [12, 1, 24],
      [40, 1, 6],
    ])
  })

  it('leaves a choice that ended before the rule holds, and what was chosen after it, as they are', async () => {
    await snapshot(inner, 10, 8n, '3')
    await snapshot(outer, 12, 1n, '24', await observeShare(10, '24'))
    await sell(inner, 20, 2n)
    await snapshot(outer, 30, 1n, '9')
    await test.db`update rules_versions set holds_from = to_timestamp(${start + 40})`
    expect(await read(outer)).toEqual([
      [12, 1, 24],
      [30, 1, 9],
    ])
  })

  it('leaves a choice that was made after the share fell what was chosen, up to where the rule holds', async () => {
    await snapshot(inner, 10, 8n, '3')
    await sell(inner, 20, 2n)
    await snapshot(outer, 30, 1n, '24', await observeShare(10, '24'))
    expect(await read(outer)).toEqual([[30, 1, 6]])
    await test.db`update rules_versions set holds_from = to_timestamp(${start + 40})`
    expect(await read(outer)).toEqual([
      [30, 1, 24],
      [40, 1, 6],
    ])
  })
})
