import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Earn, openEarn } from '../../../test/harness.js'
import { newId } from '../../kernel/ids.js'
import { recordObservation } from '../../prices/index.js'
import { recordSnapshots } from '../../snapshots/index.js'
import { inPlace } from '../../sync/projection.js'
import { writeDerived } from '../../sync/storeDerived.js'
import { listEarnings } from './earnings.js'
import { deriveFlows, type Flow, type FlowKind } from './flows.js'
import { flowsTable, listFlowsVaults } from './storeFlows.js'

const chainId = 31_337
const vaults = ['1a', '2b'].map((byte) => `0x${byte.repeat(20)}`)
const asset = `0x${'a1'.repeat(20)}`
const opportunities = [newId(), newId()] as const
const wallet = `0x${'01'.repeat(20)}`
const start = Date.parse('2026-11-20T00:00:00Z') / 1000

let earn: Earn
let ids: number[] = []

/** Two vaults of an asset with two decimals; shares have three. */
beforeAll(async () => {
  earn = await openEarn()
  const { db } = earn
  await db`insert into chains (chain_id, name, slug) values (${chainId}, 'Devnet', 'devnet')`
  await db`insert into tokens (chain_id, address, decimals, symbol, name) values (${chainId}, ${asset}, 2, 'T', 'T')`
  for (const [index, vault] of vaults.entries()) {
    await db`
      insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals)
      values (${chainId}, ${vault}, 'erc4626', ${asset}, 2, ${vault}, 3)`
    await db`
      insert into opportunities (id, slug, name, type, chain_id, vault_address)
      values (${opportunities[index] ?? ''}, ${`o${index}`}, ${`O${index}`}, 'vault', ${chainId}, ${vault})`
  }
  await earn.ctx.catalogue.refresh()
  ids = (await db<{ id: number }[]>`select id from vaults where chain_id = ${chainId} order by address`).map(
    ({ id }) => id,
  )
})
afterAll(() => earn?.close())

beforeEach(async () => {
  await earn.db`truncate flows, vault_snapshots, vault_identities`
  await earn.db`delete from price_observations`
})

/** Blocks come every ten seconds. */
const timeOf = (blockNumber: number) => start + blockNumber * 10
const instant = (blockNumber: number) => new Date(timeOf(blockNumber) * 1000)

type Told = [block: number, kind: FlowKind, shares: bigint, assets?: bigint]

async function tell(flows: readonly Told[], vault = 0): Promise<void> {
  const rows = flows.map(
    ([blockNumber, kind, shares, assets]): Flow => ({
      ...{ vaultId: ids[vault] ?? 0, wallet, blockNumber, transactionIndex: 0, timestamp: timeOf(blockNumber) },
      ...{ kind, shares, assets: assets ?? null },
    }),
  )
  await writeDerived(earn.db, [{ table: flowsTable }], rows, { chainId, place: inPlace, isLive: true })
}

/** A snapshot: 10^15 shares, the whole share and twelve digits more, are worth so many cents times 10^12. */
const observe = (place: number, cents: number, vault = 0, { blockNumber = place } = {}) =>
  recordSnapshots(earn.db, [
    {
      ...{ chainId, vaultAddress: vaults[vault] ?? '' },
      block: {
        number: blockNumber,
        hash: `0x${blockNumber.toString(16).padStart(64, '0')}`,
        timestamp: timeOf(place),
      },
      figures: {
        ...{ totalAssets: 0n, totalSupply: 0n },
        ...{ priceNumerator: BigInt(Math.round(cents * 1e6)) * 10n ** 6n, priceExponent: 15 },
      },
    },
  ])

const price = (blockNumber: number, priceUsd: string) =>
  recordObservation(earn.db, { chainId, address: asset, priceUsd, source: 'test', observedAt: instant(blockNumber) })

const list = () => listEarnings(earn.ctx, wallet)
/** The one row, as `native usd` each. */
async function readRow() {
  const { earnings, unvalued } = await list()
  expect(unvalued).toEqual([])
  expect(earnings).toHaveLength(1)
  const [row] = earnings
  const show = (sum: { native: string; usd: string | null } | undefined) => `${sum?.native} ${sum?.usd}`
  return {
    deposited: show(row?.deposited),
    withdrawn: show(row?.withdrawn),
    current: show(row?.current),
    earned: show(row?.earned),
  }
}

describe('earnings', () => {
  it('are what is held and was taken out less what was put in, in the asset and in dollars of each time', async () => {
    await price(0, '1')
    await observe(0, 100)
    // A whole share for a unit of the asset each.
    await tell([[1, 'deposit', 10_000n, 1_000n]])
    await price(2, '2')
    await tell([[3, 'withdrawal', 4_000n, 480n]])
    await observe(4, 150)
    expect(await readRow()).toEqual({
      deposited: '10 10',
      withdrawn: '4.8 9.6',
      // 6 shares at 1.5 each, at 2 dollars.
      current: '9 18',
      earned: '3.8 17.6',
    })
    const [row] = (await list()).earnings
    expect([row?.opportunityId, row?.firstDepositAt, row?.lastActivityAt]).toEqual([
      opportunities[0],
      instant(1),
      instant(3),
    ])
  })

  it('may be a loss', async () => {
    await price(0, '1')
    await tell([[1, 'deposit', 10_000n, 1_000n]])
    await observe(4, 90)
    expect(await readRow()).toEqual({ deposited: '10 10', withdrawn: '0 0', current: '9 9', earned: '-1 -1' })
  })

  it('value what was transferred by the newest snapshot at or before its block, before the first by that one', async () => {
    await price(0, '1')
    await observe(5, 100)
    await observe(8, 200)
    await tell([
      [1, 'transfer-in', 1_000n],
      [7, 'transfer-in', 1_000n],
      [8, 'transfer-in', 1_000n],
      [9, 'transfer-out', 500n],
    ])
    expect(await readRow()).toEqual({ deposited: '4 4', withdrawn: '1 1', current: '5 5', earned: '2 2' })
    expect((await list()).earnings[0]?.firstDepositAt).toBeNull()
  })

  it('value a transfer by no snapshot of a later block with the same time', async () => {
    await price(0, '1')
    await observe(5, 100)
    await observe(8, 200, 0, { blockNumber: 9 })
    await tell([[8, 'transfer-in', 1_000n]])
    expect((await readRow()).deposited).toBe('1 1')
    await tell([[9, 'transfer-in', 1_000n]])
    expect((await readRow()).deposited).toBe('3 3')
  })

  it('follow a snapshot that came late, and say the same of facts whenever they are asked', async () => {
    await price(0, '1')
    await observe(1, 100)
    await observe(9, 100)
    await tell([[5, 'transfer-in', 1_000n]])
    expect((await readRow()).deposited).toBe('1 1')
    await observe(4, 150)
    expect((await readRow()).deposited).toBe('1.5 1.5')
  })

  it('cut what shares are worth to the unit, flow by flow', async () => {
    await price(0, '1')
    await observe(0, 100)
    await tell([
      [1, 'transfer-in', 9n],
      [2, 'transfer-in', 9n],
      [3, 'transfer-in', 19n],
    ])
    // 0.9, 0.9 and 1.9 cents of a wallet that holds 3.7 of them.
    expect(await readRow()).toEqual({
      deposited: '0.01 0.01',
      withdrawn: '0 0',
      current: '0.03 0.03',
      earned: '0.02 0.02',
    })
  })

  it('have no worth in dollars where a flow has no price of its time, and keep the sums that have', async () => {
    await tell([[1, 'deposit', 10_000n, 1_000n]])
    await price(2, '1')
    await tell([[3, 'withdrawal', 1_000n, 100n]])
    await observe(4, 100)
    expect(await readRow()).toEqual({ deposited: '10 null', withdrawn: '1 1', current: '9 9', earned: '0 null' })
  })

  it('of a wallet that has left need no snapshot; of one that holds shares nothing is said before the first', async () => {
    await price(0, '1')
    await tell([
      [1, 'deposit', 10_000n, 1_000n],
      [2, 'withdrawal', 10_000n, 1_100n],
    ])
    expect(await readRow()).toEqual({ deposited: '10 10', withdrawn: '11 11', current: '0 0', earned: '1 1' })
    await tell([[3, 'deposit', 10_000n, 1_000n]], 1)
    expect((await list()).earnings.map(({ opportunityId }) => opportunityId)).toEqual([opportunities[0]])
    expect((await list()).unvalued).toEqual([{ opportunityId: opportunities[1], chainId }])
  })

  it('value an event by its shares where the vault was of a token nobody knows', async () => {
    await price(0, '1')
    await observe(0, 100)
    for (const [block, token] of [
      [2, asset],
      [6, `0x${'ee'.repeat(20)}`],
      [9, asset],
    ] as const)
      await earn.db`
        insert into vault_identities (vault_id, block_number, block_hash, asset, receipt_token, asset_decimals, receipt_decimals)
        values (${ids[0] ?? 0}, ${block}, hex_bytes(${`0x${'00'.repeat(32)}`}), ${token}, ${vaults[0] ?? ''}, 2, 3)`
    await tell([
      [1, 'deposit', 1_000n, 100n],
      [5, 'deposit', 1_000n, 5_000_000n],
    ])
    expect(await readRow()).toEqual({ deposited: '2 2', withdrawn: '0 0', current: '2 2', earned: '0 0' })
  })

  it('add up in every row, and over the rows of a product, to the last digit', async () => {
    await price(0, '1.000000000000000003')
    await observe(0, 133.333333)
    await observe(0, 77.777777, 1)
    await tell([
      [1, 'deposit', 10_001n, 1_003n],
      [2, 'transfer-in', 7n],
      [3, 'transfer-out', 1_111n],
    ])
    await tell([[1, 'transfer-in', 999n]], 1)
    const { earnings } = await list()
    expect(earnings).toHaveLength(2)
    const scaled = (text: string | null) => {
      const [whole = '', fraction = ''] = (text ?? '').replace('-', '').split('.')
      return BigInt(`${text?.startsWith('-') ? '-' : ''}${whole}${fraction.padEnd(18, '0')}`)
    }
    const sums = { native: 0n, usd: 0n }
    // By hand: 1186 of 8,897 shares, 148 of 1,111 taken out, 1,003 put in, 0 of 7; 77 of 999 in the other vault.
    expect(
      earnings.map(({ deposited, withdrawn, current }) => [deposited, withdrawn, current].map((each) => each.native)),
    ).toEqual([
      ['10.03', '1.48', '11.86'],
      ['0.77', '0', '0.77'],
    ])
    for (const { deposited, withdrawn, current, earned } of earnings)
      for (const of of ['native', 'usd'] as const) {
        const wanted = scaled(current[of]) + scaled(withdrawn[of]) - scaled(deposited[of])
        expect(scaled(earned[of])).toBe(wanted)
        sums[of] += scaled(earned[of])
      }
    expect(sums).toEqual({ native: 3_310000000000000000n, usd: 3_310000000000000009n })
  })

  it('are what the worked example of docs/methodology.md counts', async () => {
    const text = await readFile(new URL('../../../../docs/methodology.md', import.meta.url), 'utf8')
    const cellsOf = (names: string) =>
      [...text.matchAll(new RegExp(`^\\| (?:${names}) \\|.*$`, 'gm'))].map(([row]) =>
        row.split('|').map((cell) => cell.trim()),
      )
    const rows = cellsOf('deposit|withdrawal|transfer-in|transfer-out|now')
    expect(rows).toHaveLength(5)
    for (const [at, [, kind = '', shares = '', assets = '', sharePrice = '', usd = '']] of rows.entries()) {
      const block = 2 * at + 1
      await price(block, usd)
      await observe(block, Number(sharePrice) * 100)
      const flow = [block + 1, kind as FlowKind, BigInt(shares) * 1_000n] as const
      if (kind !== 'now') await tell([assets === '' ? [...flow] : [...flow, BigInt(assets) * 100n]])
    }
    const sums = cellsOf('deposited|withdrawn|current|earned').map(([, of, native, usd]) => [of, `${native} ${usd}`])
    expect(sums).toHaveLength(4)
    expect(await readRow()).toEqual(Object.fromEntries(sums))
  })

  it('are none for a wallet that was never there, and leave out vaults the catalogue does not show', async () => {
    await observe(0, 100)
    expect(await list()).toEqual({ earnings: [], unvalued: [] })
    await tell([[1, 'deposit', 1_000n, 100n]])
    await earn.db`update opportunities set active = false where id = ${opportunities[0]}`
    await earn.ctx.catalogue.refresh()
    const inactive = await list()
    await earn.db`delete from opportunities where id = ${opportunities[0]}`
    await earn.ctx.catalogue.refresh()
    expect(inactive.earnings).toHaveLength(1)
    expect(await list()).toEqual({ earnings: [], unvalued: [] })
  })
})

it('has no flow of the vault itself, nor of an address that nobody has', async () => {
  const [vaultId = 0] = ids
  const known = await listFlowsVaults(earn.db, chainId)
  const place = { vaultId, blockNumber: 1, transactionIndex: 0, timestamp: 0, before: 0n, after: 5n }
  const change = (holder: string) => ({ ...place, wallet: holder, attributedBefore: 0n, attributedAfter: 0n })
  const others = [vaults[0] ?? '', `0x${'00'.repeat(18)}dead`, `0x${'00'.repeat(20)}`]
  const balanceChanges = [...others, wallet].map(change)
  const flows = deriveFlows({ number: 1, timestamp: 0 }, { balanceChanges, eventParts: [], pendingChanges: [] }, known)
  expect(flows.map((flow) => flow.wallet)).toEqual([wallet])
})
