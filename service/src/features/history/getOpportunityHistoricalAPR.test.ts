import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type HistoryWorld, historyNow, iso, onGrid, openHistoryWorld } from '../../../test/historyWorld.js'

let world: HistoryWorld
beforeAll(async () => {
  world = await openHistoryWorld()
})
afterAll(() => world.close())

const day = 86_400

describe('200', () => {
  it('is the simple growth of the share price since the newest reading that is at least apyInterval older', async () => {
    // A hundredth more every day.
    const snapshots = onGrid(41, day, (index) => ({ price: 10n ** 18n + BigInt(index) * 10n ** 16n }))
    const vault = await world.vault({ snapshots })
    const { status, body } = await world.ask('APR', vault)
    expect(status).toBe(200)
    expect(body.data).toHaveLength(11)
    expect(body.data[0]).toEqual({
      timestamp: iso(historyNow - 10 * day).replace('.000', ''),
      blockNumber: Math.floor((historyNow - 10 * day) / 10),
      apr: { base: 365, reward: 0, total: 365 },
      effectiveIntervalSeconds: 30 * day,
    })
    // From 1.1 to 1.4 within thirty days.
    expect(body.data[10].apr.base).toBe(331.818181818)
    expect(body.method).toEqual({ id: 'share-price-growth-simple', version: '1', source: 'share-price' })
  })

  it('reaches further back where the series is sparse, and says how far', async () => {
    const snapshots = [
      { at: historyNow - 45 * day, price: 10n ** 18n },
      { at: historyNow - 29 * day, price: 10n ** 18n + 10n ** 15n },
      { at: historyNow, price: 10n ** 18n + 3n * 10n ** 15n },
    ]
    const { body } = await world.ask('APR', await world.vault({ snapshots }))
    expect(body.data).toHaveLength(1)
    expect(body.data[0].effectiveIntervalSeconds).toBe(45 * day)
  })

  it('shows losses as they are, and a total loss', async () => {
    const lost = await world.vault({
      snapshots: [{ at: historyNow - 30 * day }, { at: historyNow, price: 99n * 10n ** 16n }],
    })
    expect((await world.ask('APR', lost)).body.data[0].apr.base).toBe(-12.1666666667)
    const all = await world.vault({ snapshots: [{ at: historyNow - 30 * day }, { at: historyNow, price: 0n }] })
    expect((await world.ask('APR', all)).body.data[0].apr.base).toBe(-1216.66666667)
    expect((await world.ask('APY', all)).body.data[0].apy.base).toBe(-100)
  })

  it('leaves out what grows from nothing, and what is no finite number', async () => {
    const nothing = await world.vault({
      snapshots: [
        { at: historyNow - 30 * day, price: 0n },
        { at: historyNow, price: 1n },
      ],
    })
    expect((await world.ask('APR', nothing)).body.data).toEqual([])
    const doubled = await world.vault({
      snapshots: [
        { at: historyNow - 1, price: 1n },
        { at: historyNow, price: 2n },
      ],
    })
    expect((await world.ask('APY', doubled, { apyInterval: 1 })).body.data).toEqual([])
    expect((await world.ask('APR', doubled, { apyInterval: 1 })).body.data[0].apr.base).toBe(3_153_600_000)
  })

  it('gives the two readings of a point on demand, enough to count it again by hand', async () => {
    const snapshots = onGrid(2, 30 * day, (index) => ({
      price: 1_000_000_000_000_000_000n + BigInt(index) * 5n * 10n ** 16n,
      usd: index === 0 ? null : '0.99950000',
    }))
    const vault = await world.vault({ snapshots })
    const { body } = await world.ask('APR', vault, { includeInputs: true })
    expect(body.data[0].inputs.from).toEqual({
      blockNumber: Math.floor((historyNow - 30 * day) / 10),
      blockHash: `0x${Math.floor((historyNow - 30 * day) / 10)
        .toString(16)
        .padStart(64, '0')}`,
      timestamp: iso(historyNow - 30 * day).replace('.000', ''),
      totalAssets: '1000000000',
      totalSupply: '1000000000',
      priceNumerator: '1000000000000000000',
      sharePrice: '1',
      priceUsd: null,
    })
    expect(body.data[0].inputs.to).toMatchObject({ sharePrice: '1.05', priceUsd: '0.9995' })
    expect((await world.ask('APR', vault)).body.data[0].inputs).toBeUndefined()
  })

  it('does not take a snapshot with too few shares for a reading', async () => {
    const snapshots = onGrid(61, day, (index) =>
      index > 20 && index < 40 ? { price: 7n * 10n ** 18n, supply: 999n } : { price: 10n ** 18n },
    )
    const { body } = await world.ask('APR', await world.vault({ snapshots }))
    expect(body.data.map(({ apr }: { apr: { base: number } }) => apr.base)).toEqual(Array(21).fill(0))
    expect(body.data.at(-1).effectiveIntervalSeconds).toBe(40 * day)
  })

  it('is the same for an address in any case, right checksum or not', async () => {
    const vault = await world.vault({ snapshots: onGrid(40, day, () => ({})) })
    const lower = (await world.ask('APR', vault)).text
    expect((await world.ask('APR', `0x${vault.slice(2).toUpperCase()}`)).text).toBe(lower)
    expect((await world.ask('APR', `0X${vault.slice(2, 20)}${vault.slice(20).toUpperCase()}`)).text).toBe(lower)
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it.each([
    ['a start more than 365 days ago', { startDate: iso(historyNow - 365 * day - 61) }],
    ['a start after the end', { startDate: iso(historyNow - day), endDate: iso(historyNow - day - 1) }],
    ['a start in the future', { startDate: iso(historyNow + 61), endDate: iso(historyNow + 62) }],
    ['no start', { startDate: '' }],
    ['a start that is no date', { startDate: '2026-02-30T00:00:00Z' }],
    ['an end that is no date', { endDate: '2026-11-20' }],
    ['step 0', { step: 0 }],
    ['a negative step', { step: -1 }],
    ['a step above a year', { step: 31_536_001 }],
    ['more than 10,000 buckets', { step: 3_153 }],
    ['apyInterval 0', { apyInterval: 0 }],
    ['an apyInterval above 90 days', { apyInterval: 7_776_001 }],
    ['inputs of more than 1,000 buckets', { step: 31_000, includeInputs: true }],
    ['no boolean', { includeInputs: 'yes' }],
  ])('refuses %s', async (_name, query) => {
    for (const name of ['APR', 'APY', ...('includeInputs' in query ? [] : ['', 'SharePrice', 'TVL'])]) {
      const { status, body } = await world.ask(name, await world.vault(), query as Record<string, string>)
      expect([status, body.status], name).toEqual([400, 'INVALID_ARGUMENT'])
    }
  })

  it('refuses what is no chain and no address', async () => {
    for (const vaultAddress of ['0x12', 'c'.repeat(42), `0x${'g'.repeat(40)}`]) {
      const { status } = await world.ask('APR', vaultAddress)
      expect(status, vaultAddress).toBe(400)
    }
    const params = { chainId: 0, vaultAddress: `0x${'cc'.repeat(20)}` }
    const query = { startDate: iso(historyNow) }
    expect((await world.earn.call('GetOpportunityHistoricalAPR', { params, query })).status).toBe(400)
  })

  it('takes the last start there is: 365 days and a minute ago', async () => {
    const vault = await world.vault({ snapshots: [{ at: historyNow }] })
    expect((await world.ask('APR', vault, { startDate: iso(historyNow - 365 * day - 60) })).status).toBe(200)
  })
})

describe('404 PROTOCOL_UNSUPPORTED', () => {
  it('is said of a vault and a chain we do not know, without Retry-After', async () => {
    const unknown = await world.ask('APR', `0x${'dd'.repeat(20)}`)
    expect([unknown.status, unknown.body.reason]).toEqual([404, 'PROTOCOL_UNSUPPORTED'])
    expect(unknown.headers['retry-after']).toBeUndefined()
  })

  it('is said of a kind that is only listed and watched', async () => {
    const other = await world.ask('APR', await world.vault({ kind: 'other', snapshots: [{ at: historyNow }] }))
    expect([other.status, other.body.reason]).toEqual([404, 'PROTOCOL_UNSUPPORTED'])
    expect(other.headers['retry-after']).toBeUndefined()
  })
})

describe('503 UNAVAILABLE', () => {
  const expectWithheld = async (vault: string, reason: string, retryAfter: string, retryable = true) => {
    const answer = await world.ask('APR', vault)
    expect(answer.body.context).toEqual({ retryable })
    expect([answer.status, answer.body.reason, answer.headers['retry-after']]).toEqual([503, reason, retryAfter])
    // Base never withholds: it leaves the rate out.
    const base = await world.ask('', vault)
    expect(base.status).toBe(200)
    for (const { apy } of base.body.data) expect(apy).toBeNull()
  }

  it('INDEXING_NOT_STARTED of a vault without a snapshot, until the next one is due', async () => {
    await expectWithheld(await world.vault(), 'INDEXING_NOT_STARTED', '900')
  })

  it('INDEXING_NOT_STARTED of a vault whose growth nothing measures', async () => {
    const snapshots = onGrid(60, day, () => ({}))
    // Asking again does not help: an operator has to say what does.
    await expectWithheld(await world.vault({ snapshots, growthSources: [] }), 'INDEXING_NOT_STARTED', '900', false)
  })

  it('INDEXING_STALLED when the newest snapshot is more than three intervals old', async () => {
    const at = historyNow - 2_700
    const late = await world.vault({ snapshots: [{ at: at - 1 - 30 * day }, { at: at - 1 }] })
    await expectWithheld(late, 'INDEXING_STALLED', '30')
    const due = await world.vault({ snapshots: [{ at: at - 30 * day }, { at }] })
    expect((await world.ask('APR', due)).status).toBe(200)
  })

  it('waits for the confirmations of a slow chain before it calls a series stalled', async () => {
    const { db } = world.earn
    const at = historyNow - 2_700 - 40
    const late = await world.vault({ snapshots: [{ at: at - 30 * day }, { at }] })
    expect((await world.ask('APR', late)).status).toBe(503)
    await db`insert into blocks (chain_id, number, timestamp, hash, parent_hash, has_logs)
      select 31337, n, to_timestamp(${historyNow}::bigint + n * 40), '\\x01', '\\x02', false from generate_series(1, 150) n`
    expect((await world.ask('APR', late)).status).toBe(200)
    await db`delete from blocks`
  })

  it('INDEXING_STALLED while the operator has paused it, and not after', async () => {
    const paused = await world.vault({ snapshots: onGrid(60, day, () => ({})) })
    await world.pause(paused, historyNow - 100)
    await expectWithheld(paused, 'INDEXING_STALLED', '900', false)
    await world.earn.db`update vault_pauses set resumed_at = to_timestamp(${historyNow - 10})`
    expect((await world.ask('APR', paused)).status).toBe(200)
  })

  it('looks back to a reading before the range though the vault was paused at other times', async () => {
    // A month between two readings; the pause lies between the older one and the range.
    const snapshots = [{ at: historyNow - 70 * day }, ...onGrid(20, day, () => ({}))]
    const never = await world.vault({ snapshots })
    const paused = await world.vault({ snapshots })
    await world.pause(paused, historyNow - 60 * day, historyNow - 50 * day)
    const [plain, other] = await Promise.all([world.ask('APR', never), world.ask('APR', paused)])
    expect(plain.status, plain.text).toBe(200)
    expect(other.body).toEqual(plain.body)
  })

  it('INDEXING_STALLED while there are too few shares for their price to mean anything', async () => {
    const snapshots = onGrid(60, day, (index) => (index === 59 ? { supply: 999n } : {}))
    await expectWithheld(await world.vault({ snapshots }), 'INDEXING_STALLED', '900')
    await expectWithheld(
      await world.vault({ snapshots: onGrid(60, day, () => ({ supply: 0n })) }),
      'INDEXING_STALLED',
      '900',
    )
    expect((await world.ask('APR', await world.vault({ snapshots, dustFloor: 999n }))).status).toBe(200)
  })
})
