import { describe, expect, it } from 'vitest'
import { seededRandom, times } from '../../../test/seed.js'
import { computeState, type OrderEvent, type OrderStatus } from './orderState.js'

const created = new Date('2026-01-01T00:00:00Z')
const start = created.getTime() / 1_000
const order = {
  ...{ amountIn: 100n, createdAt: created, expiresAt: new Date((start + 600) * 1_000) },
  ...{ submission: { submittedAt: new Date((start + 10) * 1_000) }, failedAt: null, failure: null },
}
const trade = (blockNumber: number, amountIn: bigint): OrderEvent => ({
  ...{ blockNumber, timestamp: start + blockNumber * 12, kind: 'trade', transactionHash: `0x${blockNumber}` },
  ...{ amountIn, amountOut: 2n * amountIn },
})
const invalidated = (blockNumber: number): OrderEvent => ({
  ...{ ...trade(blockNumber, 0n), kind: 'invalidated', amountOut: 0n },
})
const confirmedAt = (blockNumber: number) => ({ blockNumber, at: new Date((start + blockNumber * 12) * 1_000) })

describe('the state of an order', () => {
  it('sums its trades, and is terminal once the block that ends it is confirmed', () => {
    const events = [trade(5, 40n), trade(9, 60n)]
    expect(computeState(order, events.slice(0, 1), confirmedAt(20))).toMatchObject({
      ...{ status: 'partially-filled', filledIn: 40n, filledOut: 80n, isTerminal: false },
    })
    expect(computeState(order, events, confirmedAt(8))).toMatchObject({ status: 'filled', isTerminal: false })
    expect(computeState(order, events, confirmedAt(9))).toMatchObject({
      ...{ status: 'filled', filledIn: 100n, filledOut: 200n, isTerminal: true, transactionHashes: ['0x5', '0x9'] },
      updatedAt: new Date((start + 108) * 1_000),
    })
  })

  it('is cancelled by the contract’s own event, but not after it was filled nor after its last second', () => {
    expect(computeState(order, [trade(5, 40n), invalidated(6)], confirmedAt(6)).status).toBe('cancelled')
    expect(computeState(order, [trade(5, 100n), invalidated(6)], confirmedAt(6)).status).toBe('filled')
    expect(computeState(order, [invalidated(50)], confirmedAt(50)).status).toBe('cancelled')
    expect(computeState(order, [invalidated(51)], confirmedAt(51)).status).toBe('expired')
  })

  it('expires by the time of a confirmed block, never by that of the head, and is not expired while nothing is read', () => {
    expect(computeState(order, [], confirmedAt(50))).toMatchObject({ status: 'open', isTerminal: false })
    expect(computeState(order, [], confirmedAt(51))).toMatchObject({ status: 'expired', isTerminal: true })
    expect(computeState(order, [], null).status).toBe('open')
  })

  it('that failed follows the chain again where that fills, cancels or outlives it', () => {
    const failed = { ...order, failedAt: new Date((start + 100) * 1_000), failure: 'gone' }
    expect(computeState(failed, [], confirmedAt(20))).toMatchObject({
      status: 'failed',
      error: 'gone',
      isTerminal: false,
    })
    expect(computeState(failed, [trade(21, 40n)], confirmedAt(20))).toMatchObject({
      status: 'partially-filled',
      error: null,
    })
    expect(computeState(failed, [trade(21, 100n)], confirmedAt(20)).status).toBe('filled')
    expect(computeState(failed, [invalidated(21)], confirmedAt(20)).status).toBe('cancelled')
    expect(computeState(failed, [], confirmedAt(51)).status).toBe('expired')
  })
})

/** Which state may follow which while no block is taken back. A trade proves that an order had been signed. */
const legal: Readonly<Record<OrderStatus, readonly OrderStatus[]>> = {
  built: ['open', 'expired', 'cancelled', 'partially-filled', 'filled'],
  open: ['partially-filled', 'filled', 'cancelled', 'expired', 'failed'],
  'partially-filled': ['filled', 'cancelled', 'expired'],
  failed: ['partially-filled', 'filled', 'cancelled', 'expired'],
  filled: [],
  cancelled: [],
  expired: [],
}

/**
 * Random lives of orders on a chain that reorganises: after each event the state is held against what may follow the one
 * before. Answers what was met.
 */
function play(compute: typeof computeState) {
  const random = seededRandom()
  const confirmations = 4
  const met = { states: 0, reorgs: 0, taken: 0, reached: new Set<OrderStatus>() }
  while (met.states < 10_000 * times) {
    let own: Parameters<typeof computeState>[0] = { ...order, submission: undefined }
    /** Of each block its events; the settlement contract lets none be filled beyond its amount or after its end. */
    let blocks: OrderEvent[][] = []
    let confirmed = 0
    /** Nobody trades some orders much: they live to their end. */
    const share = random.chance(0.5) ? 1 : 0.02
    const filled = () => blocks.flat().reduce((sum, { amountIn }) => sum + amountIn, 0n)
    const isInvalid = () => blocks.flat().some(({ kind }) => kind === 'invalidated')
    let before: ReturnType<typeof computeState> | undefined
    const check = (isReorg: boolean) => {
      const events = blocks.flat()
      const now = compute(own, events, confirmed === 0 ? null : confirmedAt(confirmed))
      met.states += 1
      met.reached.add(now.status)
      if (before && before.status !== now.status) {
        expect(before.isTerminal, `${before.status} -> ${now.status}`).toBe(false)
        if (!isReorg) expect(legal[before.status], `${before.status} -> ${now.status}`).toContain(now.status)
      }
      expect(now.filledIn <= own.amountIn).toBe(true)
      expect([now.filledIn, now.filledOut]).toEqual([filled(), 2n * filled()])
      if (before?.isTerminal) expect(now).toEqual(before)
      if (isReorg) met.reorgs += 1
      if (isReorg && before?.status !== now.status) met.taken += 1
      before = now
    }
    check(false)
    for (let step = 0; step < 90; step++) {
      const choice = random.int(0, 11)
      if (choice === 0 && blocks.length > confirmed) {
        blocks = blocks.slice(0, random.int(confirmed, blocks.length - 1))
        check(true)
        continue
      }
      if (choice === 1 && !own.submission) own = { ...own, submission: order.submission }
      else if (choice === 2 && own.submission && filled() === 0n && !isInvalid() && !own.failedAt && blocks.length < 45)
        own = { ...own, failedAt: new Date((start + blocks.length * 12) * 1_000), failure: 'gone' }
      else {
        const number = blocks.length + 1
        const left = own.amountIn - filled()
        const canTrade = left > 0n && !isInvalid() && number * 12 <= 600
        if (choice < 5 && canTrade && random.chance(share))
          blocks.push([trade(number, BigInt(random.int(1, Number(left))))])
        else if (choice === 5 && random.chance(0.3 * share)) blocks.push([invalidated(number)])
        else blocks.push([])
        confirmed = Math.max(confirmed, blocks.length - confirmations)
      }
      check(false)
    }
  }
  return met
}

it('10,000 random events of orders with reorganisations: no illegal transition, and none of a terminal state', () => {
  const { reached, reorgs, taken } = play(computeState)
  expect([...reached].sort()).toEqual(Object.keys(legal).sort())
  expect(reorgs).toBeGreaterThan(500 * times)
  // So many took a state back.
  expect(taken).toBeGreaterThan(20 * times)
})

it.each<[string, typeof computeState]>([
  [
    'is terminal before its block is confirmed',
    (...given) => {
      const state = computeState(...given)
      return state.status === 'filled' || state.status === 'cancelled' ? { ...state, isTerminal: true } : state
    },
  ],
  ['does not count a second trade', (of, events, confirmed) => computeState(of, events.slice(0, 1), confirmed)],
  [
    'goes back from filled by itself',
    (of, events, confirmed) => {
      const state = computeState(of, events, confirmed)
      return state.status === 'filled' && events.length === 3 ? { ...state, status: 'open' } : state
    },
  ],
])('the random events notice a state that %s', (_what, broken) => {
  expect(() => play(broken)).toThrow()
})
