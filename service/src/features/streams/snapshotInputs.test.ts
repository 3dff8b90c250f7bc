import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../../test/database.js'
import { listPriceSteps, recordObservations } from '../../prices/index.js'
import { findStreamTarget } from '../../snapshots/index.js'
import { readPaidValues } from '../paid/index.js'
import { listLotSteps, listShareSteps } from '../positions/index.js'
import { toSharePrice } from './amounts.js'
import { readInputs } from './snapshotInputs.js'
import type { StreamRow } from './storeStreams.js'
import type { StreamTerms } from './types.js'

const chainId = 1
const [vault, token] = [`0x${'7a'.repeat(20)}`, `0x${'70'.repeat(20)}`]
const [ann, bob, cat] = ['a', 'b', 'c'].map((letter) => `0x${letter.repeat(40)}`) as [string, string, string]
const start = 1_700_000_000
let test: TestDatabase
let vaultId: number

beforeAll(async () => {
  test = await openTestDatabase()
  const { db } = test
  await db`insert into chains (chain_id, name, slug) values (${chainId}, 'C', 'c')`
  const [row] = await db<{ id: number }[]>`
    insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals, escrow, contracts)
    values (${chainId}, ${vault}, 'erc4626', ${token}, 6, ${vault}, 6, '0xe5', ${db.json({ silo: '0x51' })}) returning id`
  vaultId = row?.id ?? 0
  /** Block n is n × 100 seconds after the start. */
  const moves = [
    { block: 1, wallet: ann, before: 0, after: 50 },
    { block: 2, wallet: bob, before: 0, after: 70 },
    { block: 3, wallet: ann, before: 50, after: 20 },
    { block: 4, wallet: cat, before: 0, after: 30 },
    { block: 5, wallet: bob, before: 70, after: 0 },
  ]
  for (const { block, wallet, before, after } of moves) {
    const values = [before, after].map(String)
    await db`
      insert into balance_changes (chain_id, block_number, block_timestamp, vault_id, transaction_index, wallet, before, after,
        attributed_before, attributed_after)
      values (${chainId}, ${block}, to_timestamp(${start + block * 100}), ${vaultId}, 0, hex_bytes(${wallet}),
        ${values[0] ?? ''}, ${values[1] ?? ''}, ${values[0] ?? ''}, ${values[1] ?? ''})`
    await db`
      insert into balances (chain_id, first_block, vault_id, wallet, shares, attributed)
      values (${chainId}, ${block}, ${vaultId}, hex_bytes(${wallet}), ${values[1] ?? ''}, 0)
      on conflict (vault_id, wallet) do update set shares = excluded.shares`
    await db`
      insert into lot_changes (chain_id, block_number, block_timestamp, vault_id, transaction_index, wallet, distributor_id,
        before, after)
      values (${chainId}, ${block}, to_timestamp(${start + block * 100}), ${vaultId}, 0, hex_bytes(${wallet}),
        ${wallet === cat ? 'beta' : 'alpha'}, ${values[0] ?? ''}, ${values[1] ?? ''})`
    await db`
      insert into lots (chain_id, first_block, vault_id, wallet, distributor_id, shares)
      values (${chainId}, ${block}, ${vaultId}, hex_bytes(${wallet}), ${wallet === cat ? 'beta' : 'alpha'},
        ${values[1] ?? ''})
      on conflict (vault_id, wallet, distributor_id) do update set shares = excluded.shares`
  }
})
afterAll(async () => {
  await test?.close()
})

describe('what a snapshot reads', () => {
  it.each([
    { from: 0, to: 5, held: [], moves: 5 },
    { from: 2, to: 4, held: [`${ann} 50`, `${bob} 70`], moves: 2 },
    { from: 3, to: 3, held: [`${ann} 20`, `${bob} 70`], moves: 0 },
    { from: 5, to: 9, held: [`${ann} 20`, `${cat} 30`], moves: 0 },
  ])(
    'are balances of block $from and every change to block $to, whatever came later',
    async ({ from, to, held, moves }) => {
      const at = start + from * 100
      const steps = await listShareSteps(test.db, { chainId, vaultId, from, to, at })
      const first = steps.slice(0, held.length)
      expect(first.map(({ wallet, shares }) => `${wallet} ${shares}`).sort()).toEqual(held)
      expect(first.every((step) => step.at === at)).toBe(true)
      expect(steps.length).toBe(held.length + moves)
      const lots = await listLotSteps(test.db, { chainId, vaultId, from, to, at }, ['alpha'])
      expect(lots).toEqual(
        steps.filter(({ wallet }) => wallet !== cat).map((step) => ({ ...step, distributorId: 'alpha' })),
      )
      expect(await listLotSteps(test.db, { chainId, vaultId, from, to, at }, [])).toEqual([])
    },
  )

  it('come in one order, though the rows lie in another one after a rebuild', async () => {
    const { db } = test
    const wallets = Array.from({ length: 40 }, (_, index) => `0x${String(10 + index).repeat(20)}`)
    const [row] = await db<{ id: number }[]>`
      insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals)
      values (${chainId}, '0xb3', 'erc4626', ${token}, 6, '0xb3', 6) returning id`
    const id = row?.id ?? 0
    const fill = async (order: readonly string[]) => {
      for (const table of ['balances', 'lots', 'balance_changes', 'lot_changes'])
        await db`delete from ${db(table)} where vault_id = ${id}`
      for (const wallet of order) {
        const at = db`to_timestamp(${start + 200})`
        await db`
          insert into balances (chain_id, first_block, vault_id, wallet, shares, attributed)
          values (${chainId}, 1, ${id}, hex_bytes(${wallet}), 5, 5)`
        await db`
          insert into lots (chain_id, first_block, vault_id, wallet, distributor_id, shares)
          values (${chainId}, 1, ${id}, hex_bytes(${wallet}), 'alpha', 5)`
        await db`
          insert into balance_changes (chain_id, block_number, block_timestamp, vault_id, transaction_index, wallet, before, after,
            attributed_before, attributed_after)
          values (${chainId}, 2, ${at}, ${id}, 0, hex_bytes(${wallet}), 3, 5, 3, 5)`
        await db`
          insert into lot_changes (chain_id, block_number, block_timestamp, vault_id, transaction_index, wallet,
            distributor_id, before, after)
          values (${chainId}, 2, ${at}, ${id}, 0, hex_bytes(${wallet}), 'alpha', 3, 5)`
      }
      const ask = { chainId, vaultId: id, from: 1, to: 2, at: start + 100 }
      return { steps: await listShareSteps(db, ask), lots: await listLotSteps(db, ask, ['alpha']) }
    }
    const told = await fill(wallets)
    expect(told.steps.map(({ wallet }) => wallet)).toEqual([...wallets, ...wallets])
    expect(await fill(wallets.toReversed())).toEqual(told)
  })

  it('are share prices with the newest price of the asset at each, and none of a vault that is all but empty', async () => {
    const { db } = test
    const readings = [
      { at: 0, supply: 10, price: '9', numerator: 5 },
      { at: 100, supply: 1_000, price: null, numerator: 6 },
      { at: 200, supply: 1_000, price: '1.5', numerator: 7 },
      { at: 300, supply: 1_000, price: null, numerator: 8 },
      { at: 400, supply: 1_000, price: '1.25', numerator: 9 },
    ]
    for (const { at, supply, price, numerator } of readings)
      await db`
        insert into vault_snapshots (block_number, block_timestamp, price_observation_id, vault_id, price_exponent,
          total_assets, total_supply, price_numerator, price_usd, block_hash)
        values (${at}, to_timestamp(${start + at}), ${price && at}, ${vaultId}, 6, 1, ${String(supply)},
          ${String(numerator)}, ${price}, decode(lpad('', 64, '0'), 'hex'))`
    const read = async (from: number, to: number) => {
      const range = { from: new Date((start + from) * 1_000), to: new Date((start + to) * 1_000) }
      const { values } = await readPaidValues(db, { vaultId, ...range, carries: true })
      return values.map(({ atMs, numerator, priceUsd, observationId }) => [
        ...[atMs / 1_000 - start, numerator, Number(priceUsd), observationId],
      ])
    }
    expect(await read(0, 1_000)).toEqual([
      [200, 7n, 1.5, 200],
      [300, 8n, 1.5, 200],
      [400, 9n, 1.25, 400],
    ])
    expect(await read(350, 399)).toEqual([
      [200, 7n, 1.5, 200],
      [300, 8n, 1.5, 200],
    ])
    expect(await read(1_000, 1_000)).toEqual([[400, 9n, 1.25, 400]])
    expect(await findStreamTarget(db, vaultId)).toMatchObject({ own: [vault, '0x51', '0xe5'], seenTo: null })
  })

  it('are shown at the price of the newest snapshot, also after shares were sold below it', async () => {
    const { db } = test
    await db`
      insert into share_mints (chain_id, block_number, block_timestamp, vault_id, log_index, block_hash, transaction_hash,
        shares, assets)
      values (${chainId}, 450, to_timestamp(${start + 450}), ${vaultId}, 0, decode(lpad('', 64, '0'), 'hex'),
        decode(lpad('', 64, '0'), 'hex'), '1000000', '2')`
    const target = await findStreamTarget(db, vaultId)
    if (!target) throw new Error('the vault is no target')
    const terms: StreamTerms = {
      ...{ streamId: ann, strategy: { type: 1, tokensPerUsd: 1n }, adapters: [], startAt: start + 400, endAt: null },
      ...{ budget: null, increases: [], rewardDecimals: 6 },
    }
    const stream = { id: ann, targetVaultId: vaultId, pointId: 'points', chainId: null, rewardToken: null }
    const { facts, shown } = await readInputs(db, {
      ...{ stream: stream as unknown as StreamRow, terms, target, previous: undefined, to: start + 1_000 },
      block: { number: 9, hash: `0x${'0'.repeat(64)}` },
    })
    const at = (numerator: bigint) => toSharePrice({ numerator, exponent: 6, priceUsd: '1.25' }, 6)
    expect(facts.sharePrices.map(({ usd }) => usd)).toEqual([at(9n), at(3n)])
    expect(shown).toEqual(at(9n))
  })

  it('are prices of the reward, each until a better source speaks, and the newest one however old', async () => {
    const observe = (at: number, priceUsd: string, rank: 1 | 3, until?: number) => ({
      ...{
        chainId,
        address: token,
        priceUsd,
        source: `source ${rank}`,
        rank,
        observedAt: new Date((start + at) * 1_000),
      },
      ...(until === undefined ? {} : { validUntil: new Date((start + until) * 1_000) }),
    })
    await recordObservations(test.db, [
      observe(100, '2', 3, 500),
      observe(200, '3', 1, 300),
      observe(900, '4', 3, 1_000),
    ])
    const steps = await listPriceSteps(test.db, { chainId, address: token }, { from: start, to: start + 5_000 })
    expect(steps.map(({ at, priceUsd }) => [at - start, priceUsd])).toEqual([
      [100, '2'],
      [200, '3'],
      [301, '2'],
      [501, '3'],
      [900, '4'],
    ])
    const late = await listPriceSteps(test.db, { chainId, address: token }, { from: start + 400, to: start + 400 })
    expect(late.map(({ at, priceUsd }) => [at - start, priceUsd])).toEqual([[400, '2']])
  })
})
