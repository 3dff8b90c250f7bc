import { describe, expect, it } from 'vitest'
import type { Order, OrderState, OrderStatus } from '../orders/index.js'
import {
  computePayable,
  findLack,
  isEnough,
  type Live,
  listAmounts,
  listLive,
  listParts,
  listTaken,
  listTouched,
  type Offer,
  type Turn,
  takeNext,
} from './book.js'

const order = (id: string, changes: Partial<Order> = {}): Order => ({
  ...{
    id,
    organizationId: 'o',
    distributorId: 'acme',
    opportunityId: null,
    chainId: 1,
    settlement: '0x5e',
    relayer: '0x4e',
  },
  ...{ uid: '0x', owner: `0x${id}`, tokenIn: '0xaa', tokenOut: '0xbb', amountIn: 100n, minAmountOut: 10n },
  ...{ partiallyFillable: false, appData: '', appDataHash: '0x', expiresAt: new Date(0), createdAt: new Date(0) },
  ...{ submission: undefined, failedAt: null, failure: null, ...changes },
})
const offer = (id: string, route: readonly string[], changes: Partial<Order> = {}): Offer => {
  const live: Live = { order: order(id, changes), remaining: 100n }
  const hops = route.slice(1).map((to, at) => ({ action: 'swap', from: { address: route[at] }, to: { address: to } }))
  return { live, amountIn: 100n, amountOut: 10n, quote: { route: hops } as unknown as Offer['quote'] }
}

describe('the offer that is tried next', () => {
  const calm: Turn = { penalty: 0, isSuspect: false, worth: undefined, tries: 0, triedAt: -1 }
  const next = (turns: Partial<Turn>[]) => takeNext([...turns.keys()], (index) => ({ ...calm, ...turns[index] }))

  it.each<[string, Partial<Turn>[], number | undefined]>([
    ['is the first that came', [{}, {}, {}], 0],
    ['is none of none', [], undefined],
    [
      'is what failed least',
      [{ penalty: 2 }, { penalty: 1, tries: 9, triedAt: 9, isSuspect: true }, { penalty: 2 }],
      1,
    ],
    [
      'is what no stranger can hold up',
      [
        { isSuspect: true, worth: 9n },
        { tries: 9, triedAt: 9 },
      ],
      1,
    ],
    ['is what is worth more', [{ worth: 7n }, { worth: 8n, tries: 9, triedAt: 9 }, {}], 1],
    [
      'is of the organization of which least was tried',
      [
        { worth: 7n, tries: 2 },
        { worth: 4n, tries: 1, triedAt: 9 },
      ],
      1,
    ],
    ['is what was tried longest ago', [{ triedAt: 9 }, { triedAt: 7 }, { triedAt: 9 }], 1],
  ])('%s', (_name, turns, expected) => {
    expect(next(turns)).toBe(expected)
  })
})

describe('what a settlement changes', () => {
  it('is each pair of its route, whichever way it goes', () => {
    const [there, back] = [offer('1', ['0xaa', '0xcc', '0xbb']), offer('2', ['0xbb', '0xcc', '0xaa'])].map(listTouched)
    expect(there).toEqual(expect.arrayContaining(['0xaa 0xcc', '0xbb 0xcc']))
    expect(back).toEqual(expect.arrayContaining(['0xaa 0xcc', '0xbb 0xcc']))
  })

  it('is the balance of its owner too: of two orders that sell it, through whatever pools, one is settled at a time', () => {
    const sell = (id: string, tokenIn: string, tokenOut: string) =>
      listTouched(offer(id, [tokenIn, tokenOut], { owner: '0x0e', tokenIn, tokenOut }))
    const shared = (a: string[], b: string[]) => a.filter((each) => b.includes(each))
    expect(shared(sell('1', '0xaa', '0xbb'), sell('2', '0xaa', '0xcc'))).toHaveLength(1)
    expect(shared(sell('1', '0xaa', '0xbb'), sell('2', '0xdd', '0xcc'))).toEqual([])
    expect(shared(sell('1', '0xaa', '0xbb'), listTouched(offer('2', ['0xaa', '0xcc'])))).toEqual([])
  })

  it('is a contract wallet as a whole: of its orders, whatever they sell, one is settled at a time', () => {
    const submission: Order['submission'] = {
      signature: '0x',
      scheme: 'eip1271',
      venue: 'local',
      submittedAt: new Date(0),
    }
    const [one, other] = [['0xaa', '0xbb'] as const, ['0xdd', '0xcc'] as const].map(([tokenIn, tokenOut]) =>
      listTouched(offer('1', [tokenIn, tokenOut], { owner: '0x0e', tokenIn, tokenOut, submission })),
    ) as [string[], string[]]
    expect(one.filter((each) => other.includes(each))).toHaveLength(1)
  })
})

describe('what is left of an order', () => {
  const live = (partiallyFillable: boolean, remaining = 100n): Live => ({
    order: order('1', { partiallyFillable }),
    remaining,
  })
  const [whole, parts] = [live(false), live(true)]

  it('may be filled while it is open or filled in part, and in no other state', () => {
    const statuses: OrderStatus[] = ['built', 'open', 'partially-filled', 'filled', 'cancelled', 'expired', 'failed']
    const states = statuses.map((status) => ({ status, filledIn: 30n }) as OrderState)
    const found = listLive(
      statuses.map((status) => order(status)),
      states,
    )
    expect(found.map((each) => [each.order.id, each.remaining])).toEqual([
      ['open', 70n],
      ['partially-filled', 70n],
    ])
  })

  it('is paid for with the less of balance and allowance, as a whole where it is not filled in parts', () => {
    const pay = (of: Live, balance: bigint | undefined, allowance: bigint | undefined) =>
      computePayable(of, { balance, allowance })
    expect([pay(parts, 40n, 60n), pay(parts, 60n, 40n), pay(parts, 900n, 900n)]).toEqual([40n, 40n, 100n])
    expect([pay(whole, 99n, 900n), pay(whole, 100n, 100n)]).toEqual([0n, 100n])
    expect([pay(parts, undefined, 100n), pay(parts, 100n, undefined)]).toEqual([0n, 0n])
  })

  it('lacks what its owner has too little of, and nothing where a token does not tell', () => {
    expect(findLack(whole, { balance: 99n, allowance: 100n })).toContain('balance')
    expect(findLack(whole, { balance: 100n, allowance: 99n })).toContain('allowance')
    expect(findLack(parts, { balance: 1n, allowance: 1n })).toBeUndefined()
    expect(findLack(parts, { balance: 0n, allowance: 1n })).toContain('balance')
    expect(findLack(whole, { balance: undefined, allowance: 0n })).toBeUndefined()
  })

  it('is tried as a whole first, then by halves of what can be paid for; never with nothing', () => {
    expect(listAmounts(whole, { balance: 100n, allowance: 100n })).toEqual([100n])
    expect(listAmounts(whole, { balance: 99n, allowance: 100n })).toEqual([])
    expect(listAmounts(parts, { balance: 100n, allowance: 100n })).toEqual([100n, 50n, 25n, 12n, 6n])
    expect(listAmounts(parts, { balance: 40n, allowance: 100n })).toEqual([40n, 20n, 10n, 5n])
    expect(listParts({ remaining: 1n }, 1n)).toEqual([])
    expect(listParts({ remaining: 5n }, 0n)).toEqual([])
  })

  it('is filled for its part of the least, rounded up, and for nothing never', () => {
    const of = order('1', { amountIn: 3n, minAmountOut: 10n })
    expect([isEnough(of, 1n, 3n), isEnough(of, 1n, 4n), isEnough(of, 3n, 10n)]).toEqual([false, true, true])
    expect(isEnough(order('1', { minAmountOut: 0n }), 1n, 0n)).toBe(false)
  })
})

describe('what queued settlements take', () => {
  const open = { touches: ['0xaa 0xbb'], filledBefore: 20n }
  const take = (remaining: bigint) => listTaken([{ order: order('1'), remaining }], () => open)

  it('is theirs while as much of the order is filled as when they were queued', () => {
    expect([take(80n), take(50n)]).toEqual([['0xaa 0xbb'], []])
    expect(listTaken([{ order: order('1'), remaining: 80n }], () => undefined)).toEqual([])
  })
})
