import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Earn, openEarn } from '../../../test/harness.js'
import { newId } from '../../kernel/ids.js'
import type { Operation } from '../../kernel/operation.js'
import { recordObservation } from '../../prices/index.js'
import { recordSnapshots } from '../../snapshots/index.js'
import { inPlace } from '../../sync/projection.js'
import { writeDerived } from '../../sync/storeDerived.js'
import type { PortfolioContext } from './context.js'
import { deriveFlows, type Flow, type FlowKind } from './flows.js'
import { portfolioOperations } from './operations.js'
import { readEarnedRange, sumInRange } from './range.js'
import { flowsTable } from './storeFlows.js'

const chainId = 31_337
const vault = `0x${'1a'.repeat(20)}`
const asset = `0x${'a1'.repeat(20)}`
const wallet = `0x${'01'.repeat(20)}`

let earn: Earn
let vaultId = 0
let start = 0

/** A vault of an asset with two decimals; shares have three. */
beforeAll(async () => {
  earn = await openEarn()
  const { db } = earn
  start = Math.floor(earn.clock.now().getTime() / 1000) - 100_000
  await db`insert into chains (chain_id, name, slug) values (${chainId}, 'Devnet', 'devnet')`
  await db`insert into tokens (chain_id, address, decimals, symbol, name) values (${chainId}, ${asset}, 2, 'T', 'T')`
  const [row] = await db<{ id: number }[]>`
    insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals)
    values (${chainId}, ${vault}, 'erc4626', ${asset}, 2, ${vault}, 3) returning id`
  vaultId = row?.id ?? 0
  await db`
    insert into opportunities (id, slug, name, type, chain_id, vault_address)
    values (${newId()}, 'o', 'O', 'vault', ${chainId}, ${vault})`
  await earn.ctx.catalogue.refresh()
})
afterAll(() => earn?.close())

beforeEach(async () => {
  await earn.db`truncate flows, vault_snapshots`
  await earn.db`delete from price_observations`
  earn.ctx.catalogue.answers.forget()
})

/** Blocks come every ten seconds. */
const timeOf = (block: number) => start + block * 10
const instant = (block: number) => new Date(timeOf(block) * 1000)

type Told = [block: number, kind: FlowKind, shares: bigint, assets?: bigint]

const write = (flows: readonly Flow[]) =>
  writeDerived(earn.db, [{ table: flowsTable }], [...flows], { chainId, place: inPlace, isLive: true })

const tell = (flows: readonly Told[]) =>
  write(
    flows.map(([blockNumber, kind, shares, assets]) => ({
      ...{ vaultId, wallet, blockNumber, transactionIndex: 0, timestamp: timeOf(blockNumber) },
      ...{ kind, shares, assets: assets ?? null },
    })),
  )

/** A snapshot: a whole share is worth so many cents. */
const observe = (number: number, cents: number) =>
  recordSnapshots(earn.db, [
    {
      ...{ chainId, vaultAddress: vault },
      block: { number, hash: `0x${number.toString(16).padStart(64, '0')}`, timestamp: timeOf(number) },
      figures: {
        ...{ totalAssets: 0n, totalSupply: 0n },
        ...{ priceNumerator: BigInt(Math.round(cents * 1e6)) * 10n ** 6n, priceExponent: 15 },
      },
    },
  ])

const price = (block: number, priceUsd: string) =>
  recordObservation(earn.db, { chainId, address: asset, priceUsd, source: 'test', observedAt: instant(block) })

type Sum = { native: string; usd: string | null }
type Names = 'deposited' | 'withdrawn' | 'start' | 'end' | 'earned'
type Row = { earned: Sum; current: Sum; inRange?: ({ from: string; to: string } & Record<Names, Sum>) | null }

const ask = (query: Record<string, string> = {}) =>
  earn.call('GetWalletPortfolio', { params: { address: wallet }, query })

async function readRow(range?: [from: number, to: number]): Promise<Row> {
  const answer = await ask(
    range && { earnedFrom: instant(range[0]).toISOString(), earnedTo: instant(range[1]).toISOString() },
  )
  expect(answer.status).toBe(200)
  const rows: Row[] = answer.body.portfolio.productsEarnings
  expect(rows).toHaveLength(1)
  return rows[0] as Row
}

/** The figures of a range, as `native usd` each. */
async function figures(from: number, to: number): Promise<Record<Names, string>> {
  const { inRange } = await readRow([from, to])
  const show = (name: Names) => `${inRange?.[name].native} ${inRange?.[name].usd}`
  return {
    ...{ deposited: show('deposited'), withdrawn: show('withdrawn') },
    ...{ start: show('start'), end: show('end'), earned: show('earned') },
  }
}

const cents = (text: string | undefined) => Math.round(Number(text) * 100)

/** A life in the vault: a deposit, a share transfer in and out, a price that falls, a withdrawal, and a second deposit. */
async function live(): Promise<void> {
  await price(0, '1')
  await price(25, '2')
  for (const [block, worth] of [
    [1, 100],
    [10, 111.111111],
    [20, 133.333333],
    [30, 97.777777],
    [40, 123.456789],
  ] as const)
    await observe(block, worth)
  await tell([
    [2, 'deposit', 10_001n, 1_003n],
    [12, 'transfer-in', 777n],
    [17, 'transfer-out', 333n],
    [23, 'withdrawal', 4_000n, 533n],
    [35, 'deposit', 2_000n, 196n],
  ])
}

describe('earnings of a range', () => {
  it('are the worth at its end and what was taken out less what was put in and the worth at its start', async () => {
    await live()
    expect(await figures(15, 25)).toEqual({
      deposited: '0 0',
      // 333 shares at 1.11111111, and what the withdrawal paid.
      withdrawn: '5.69 5.69',
      // 10,778 shares at 1.11111111; 6,445 at 1.33333333, at two dollars.
      start: '11.97 11.97',
      end: '8.59 17.18',
      earned: '2.31 10.9',
    })
    // A price that falls is a loss of its range.
    expect(await figures(25, 31)).toMatchObject({ start: '8.59 17.18', end: '6.3 12.6', earned: '-2.29 -4.58' })
  })

  it('are without a flow of its end, and with one of its start', async () => {
    await live()
    expect(await figures(30, 35)).toMatchObject({ deposited: '0 0', start: '6.3 12.6', end: '6.3 12.6' })
    expect(await figures(35, 36)).toMatchObject({ deposited: '1.96 3.92', start: '6.3 12.6', end: '8.25 16.5' })
  })

  it('add up over any cuts to what the row has earned, in the asset and in dollars, to the last digit', async () => {
    await live()
    const whole = await readRow()
    let seed = 7
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % below
    }
    for (let round = 0; round < 12; round += 1) {
      const inner = Array.from({ length: 1 + random(5) }, () => 1 + random(44))
      const cuts = [...new Set([0, ...inner, 45])].sort((a, b) => a - b)
      let [native, usd] = [0, 0]
      for (const [at, from] of cuts.slice(0, -1).entries()) {
        const { inRange } = await readRow([from, cuts[at + 1] ?? 0])
        native += cents(inRange?.earned.native)
        usd += cents(inRange?.earned.usd ?? undefined)
      }
      expect([cuts, native, usd]).toEqual([cuts, cents(whole.earned.native), cents(whole.earned.usd ?? undefined)])
    }
  })

  it('count shares that wait for a redemption over its end as held', async () => {
    await price(0, '1')
    await observe(1, 100)
    await observe(20, 110)
    await tell([[2, 'deposit', 10_000n, 1_000n]])
    const known = new Map([[vaultId, { isExcluded: () => false }]])
    const at = (blockNumber: number) => ({ vaultId, wallet, blockNumber, transactionIndex: 0 })
    const none = { balanceChanges: [], eventParts: [], pendingChanges: [] }
    const rows = (changes: object) => ({ ...none, ...changes }) as unknown as Parameters<typeof deriveFlows>[1]
    // All shares go to the escrow at 15 and are paid at 25.
    const requested = rows({
      balanceChanges: [{ ...at(15), before: 10_000n, after: 0n }],
      pendingChanges: [{ ...at(15), delta: 10_000n }],
    })
    const claimed = rows({
      pendingChanges: [{ ...at(25), delta: -10_000n }],
      eventParts: [{ ...at(25), kind: 'withdrawal', shares: 10_000n, untold: 0n, assets: 1_120n }],
    })
    await write(deriveFlows({ number: 15, timestamp: timeOf(15) }, requested, known))
    await write(deriveFlows({ number: 25, timestamp: timeOf(25) }, claimed, known))
    const [before, after] = [await figures(10, 21), await figures(21, 30)]
    expect(before).toMatchObject({ withdrawn: '0 0', start: '10 10', end: '11 11', earned: '1 1' })
    expect(after).toMatchObject({ withdrawn: '11.2 11.2', start: '11 11', end: '0 0', earned: '0.2 0.2' })
  })

  it('have no dollars where a price of the range is missing, and have them elsewhere', async () => {
    await observe(1, 100)
    await tell([[2, 'deposit', 10_000n, 1_000n]])
    await price(5, '1')
    await observe(10, 120)
    await observe(20, 130)
    expect(await figures(0, 12)).toMatchObject({ deposited: '10 null', end: '12 12', earned: '2 null' })
    expect(await figures(3, 12)).toMatchObject({ deposited: '0 0', start: '10 null', earned: '2 null' })
    expect(await figures(12, 15)).toMatchObject({ start: '12 12', end: '12 12', earned: '0 0' })
  })

  it('are `current` at an end from the newest snapshot on, and leave an answer without a range as it was', async () => {
    await live()
    const without = await ask()
    const [row] = without.body.portfolio.productsEarnings
    expect(row).not.toHaveProperty('inRange')
    const { inRange, ...rest } = await readRow([36, 41])
    expect(inRange?.end).toEqual(rest.current)
    expect(rest).toEqual(row)
    expect((await ask()).body).toEqual(without.body)
  })
})

describe('all rows of a range together', () => {
  const range = { from: new Date('2026-10-01T00:00:00Z'), to: new Date('2026-11-01T00:00:00Z') }
  const row = (usd: string | null) => {
    const none = { native: '0', usd: '0' }
    const sums = { deposited: none, withdrawn: none, start: none, end: none, earned: { native: '7', usd } }
    return { inRange: { from: '', to: '', ...sums } }
  }
  const sum = (...rows: Parameters<typeof sumInRange>[0]) => sumInRange(rows, range).earnedUsd

  it('are the sum of their dollars, to the last digit', () => {
    expect(sumInRange([row('0.000000000000000001'), row('-2.5'), row('1000000000000')], range)).toEqual({
      from: '2026-10-01T00:00:00Z',
      to: '2026-11-01T00:00:00Z',
      earnedUsd: '999999999997.500000000000000001',
    })
    expect(sum()).toBe('0')
  })

  it('are not known where those of a row are not', () => {
    expect([sum(row('1'), row(null)), sum(row('1'), { inRange: null }), sum({})]).toEqual([null, null, null])
  })

  it('are told where a range is asked for, as its row tells them, and only there', async () => {
    await live()
    const { portfolio } = (await ask({ earnedFrom: instant(15).toISOString(), earnedTo: instant(25).toISOString() }))
      .body
    expect(portfolio.inRange).toEqual({
      ...{ from: portfolio.productsEarnings[0].inRange.from, to: portfolio.productsEarnings[0].inRange.to },
      earnedUsd: '10.9',
    })
    expect((await ask()).body.portfolio).not.toHaveProperty('inRange')
  })
})

it('costs two units more where a range is asked for', () => {
  const [{ cost }] = portfolioOperations as [Operation<PortfolioContext>]
  const costOf = (...names: string[]) =>
    typeof cost === 'function' ? cost(new Map(names.map((name) => [name, ['x']]))) : cost
  expect([costOf('includeProtocolTokens'), costOf('earnedFrom', 'earnedTo')]).toEqual([10, 12])
})

describe('a range', () => {
  const now = new Date('2026-11-20T12:00:00Z')
  const says = (earnedFrom?: string, earnedTo?: string) => {
    try {
      return readEarnedRange({ earnedFrom, earnedTo }, now)
    } catch (error) {
      const { status, message, context } = error as { status: number; message: string; context: unknown }
      return [status, message, context]
    }
  }
  const refusal = (path: string, message: string) => [
    ...[expect.anything(), `${path} ${message}`],
    { violations: [{ path, message }] },
  ]

  it('may end a minute ahead of now and span 366 days, and no more', () => {
    expect(says()).toBeUndefined()
    expect(says('2025-11-19T12:01:00Z', '2026-11-20T12:01:00Z')).toMatchObject({ to: new Date('2026-11-20T12:01:00Z') })
    expect(says('2026-11-01T00:00:00Z', '2026-11-20T12:01:01Z')).toEqual(
      refusal('earnedTo', 'lies in the future; ask for an earlier one'),
    )
    expect(says('2025-11-19T12:00:59Z', '2026-11-20T12:01:00Z')).toEqual(
      refusal('earnedFrom', 'is more than 366 days before earnedTo; ask for a shorter range'),
    )
  })

  it('has both ends, in order', () => {
    const missing = 'is missing; give both earnedFrom and earnedTo, or neither'
    expect(says('2026-11-01T00:00:00Z')).toEqual(refusal('earnedTo', missing))
    expect(says(undefined, '2026-11-01T00:00:00Z')).toEqual(refusal('earnedFrom', missing))
    for (const from of ['2026-11-01T00:00:00Z', '2026-11-02T00:00:00Z'])
      expect(says(from, '2026-11-01T00:00:00Z')).toEqual(refusal('earnedFrom', 'must be before earnedTo'))
  })

  it('that is refused is answered 400 with the path', async () => {
    for (const [query, path] of [
      [{ earnedFrom: '2026-11-01T00:00:00Z' }, 'earnedTo'],
      [{ earnedFrom: 'yesterday', earnedTo: '2026-11-01T00:00:00Z' }, 'earnedFrom'],
    ] as const) {
      const { status, body } = await ask(query)
      expect([status, body.context.violations[0].path]).toEqual([400, path])
    }
  })
})
