import { describe, expect, it } from 'vitest'
import { inTurn, type Live, listTouched, type Offer } from './book.js'
import type { Order } from './orderState.js'

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
const idsOf = (offers: readonly Offer[]) => offers.map(({ live }) => live.order.id)

describe('the turn of offers', () => {
  const offers = ['1', '2', '3', '4'].map((id) => offer(id, ['0xaa', '0xbb']))

  it('is the order they came in', () => {
    expect(idsOf(inTurn(offers, new Map()))).toEqual(['1', '2', '3', '4'])
  })

  it('puts what was refused behind all that was not, the longest ago first', () => {
    const refused = new Map([
      ['1', 9],
      ['3', 7],
      ['4', 9],
    ])
    expect(idsOf(inTurn(offers, refused))).toEqual(['2', '3', '1', '4'])
  })
})

describe('what a settlement changes', () => {
  it('is each pair of its route, whichever way it goes', () => {
    const [there, back] = [offer('1', ['0xaa', '0xcc', '0xbb']), offer('2', ['0xbb', '0xcc', '0xaa'])].map(listTouched)
    expect(there).toEqual(expect.arrayContaining(['0xaa 0xcc', '0xbb 0xcc']))
    expect(back).toEqual(expect.arrayContaining(['0xaa 0xcc', '0xbb 0xcc']))
  })
})
