import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../../test/seed.js'
import type { Order } from '../orders/index.js'
import type { Live } from './book.js'
import { chooseQuoted, countAmounts, isNear, type Looks, listScreens, noteLook, type Wanted } from './screening.js'

function wantedOf(
  id: string,
  given: { amountIn: bigint; minAmountOut: bigint; pair?: string; parts?: bigint[] },
): Wanted {
  const { amountIn, minAmountOut, pair = 'a', parts = [] } = given
  const order = { id, tokenIn: pair, tokenOut: 'out', amountIn, minAmountOut } as Order
  return { live: { order, remaining: amountIn } satisfies Live, amounts: [amountIn, ...parts] }
}

const idsOf = (wanted: readonly Wanted[]) => wanted.map(({ live }) => live.order.id)

describe('the screens of many orders', () => {
  it('are one for a pair and a power of 16, that is not above the smallest amount of its orders', () => {
    const wanted = [
      wantedOf('1', { amountIn: 255n, minAmountOut: 1n }),
      wantedOf('2', { amountIn: 16n, minAmountOut: 1n }),
      wantedOf('3', { amountIn: 256n, minAmountOut: 1n }),
      wantedOf('4', { amountIn: 4_096n, minAmountOut: 1n, parts: [2_048n, 256n] }),
      wantedOf('5', { amountIn: 1n, minAmountOut: 1n, pair: 'b' }),
    ]
    expect(listScreens(wanted, new Map(), 10).map(({ key, amountIn }) => [key, amountIn])).toEqual([
      ['a out 16', 16n],
      ['a out 256', 256n],
      ['b out 1', 1n],
    ])
    const turns = new Map([
      ['a out 16', 3],
      ['a out 256', 2],
    ])
    expect(listScreens(wanted, turns, 2).map(({ key }) => key)).toEqual(['b out 1', 'a out 256'])
  })

  it('show each order that a pool of any depth can fill', () => {
    const random = seededRandom()
    let fillable = 0
    for (let run = 0; run < 5_000; run++) {
      const reserves = [10n ** BigInt(random.int(8, 24)), 10n ** BigInt(random.int(8, 24))] as const
      const pay = (amount: bigint) => (amount * 997n * reserves[1]) / (reserves[0] * 1_000n + amount * 997n)
      const amountIn = BigInt(random.int(1, 1_000_000)) * 10n ** BigInt(random.int(0, 18))
      const out = pay(amountIn)
      const minAmountOut = (out * BigInt(random.int(90, 110))) / 100n
      if (minAmountOut === 0n) continue
      const wanted = wantedOf('1', { amountIn, minAmountOut, parts: random.chance(0.5) ? [amountIn / 2n || 1n] : [] })
      const [screen] = listScreens([wanted], new Map(), 1)
      if (!screen) throw new Error('an order has a screen')
      const paid = new Map([[screen.key, pay(screen.amountIn)]])
      if (wanted.amounts.some((part) => pay(part) * amountIn >= part * minAmountOut)) {
        fillable += 1
        expect(
          isNear(wanted, paid),
          JSON.stringify([String(amountIn), String(minAmountOut), reserves.map(String)]),
        ).toBe(true)
      }
    }
    expect(fillable).toBeGreaterThan(1_000)
  })
})

describe('the orders that are quoted of many', () => {
  const paid = new Map([['a out 256', 300n]])
  const near = ['n1', 'n2', 'n3'].map((id) => wantedOf(id, { amountIn: 1_000n, minAmountOut: 1_100n }))
  const far = ['f1', 'f2', 'f3', 'f4'].map((id) => wantedOf(id, { amountIn: 1_000n, minAmountOut: 2_000n }))
  const wanted = [...far, ...near]

  it('are those near their limit and some of the others, and each has its turn', () => {
    const turns = new Map<string, number>()
    const seen: string[] = []
    for (let look = 1; look <= 4; look++) {
      const chosen = chooseQuoted(wanted, paid, turns, { near: 2, others: 1 })
      expect(countAmounts(chosen)).toBe(3)
      for (const id of idsOf(chosen)) turns.set(id, look)
      seen.push(...idsOf(chosen))
    }
    expect(seen).toEqual(['n1', 'n2', 'f1', 'n3', 'n1', 'f2', 'n2', 'n1', 'f3', 'n3', 'n1', 'f4'])
  })

  it('are one at least of each sort, however many amounts it has', () => {
    const large = wantedOf('p', { amountIn: 4_096n, minAmountOut: 4_100n, parts: [2_048n, 1_024n, 512n, 256n] })
    expect(idsOf(chooseQuoted([large, ...far], paid, new Map(), { near: 2, others: 2 }))).toEqual(['p', 'f1', 'f2'])
  })

  it('are none by a screen that was not asked but in their turn', () => {
    expect(idsOf(chooseQuoted(wanted, new Map(), new Map(), { near: 3, others: 2 }))).toEqual(['f1', 'f2'])
  })
})

describe('looks at many orders', () => {
  it('quote each order and each screen once before any a second time, again and again', () => {
    const wanted = Array.from({ length: 20 }, (_, index) =>
      wantedOf(String(index), { amountIn: 16n, minAmountOut: 100n, pair: `pair ${index}` }),
    )
    const looks: Looks = { look: 0, orders: new Map(), screens: new Map() }
    const [quoted, screened]: [string[], string[]] = [[], []]
    for (let look = 0; look < 12; look++) {
      const screens = listScreens(wanted, looks.screens, 5)
      const chosen = chooseQuoted(wanted, new Map(), looks.orders, { near: 5, others: 5 })
      noteLook(looks, wanted, { chosen, screens })
      quoted.push(...idsOf(chosen))
      screened.push(...screens.map(({ key }) => key))
    }
    for (const all of [quoted, screened])
      for (let round = 0; round < 3; round++) expect(new Set(all.slice(20 * round, 20 * (round + 1))).size).toBe(20)
  })

  it('keep nothing of an order that is wanted no more', () => {
    const [one, two] = ['1', '2'].map((id) => wantedOf(id, { amountIn: 1n, minAmountOut: 1n })) as [Wanted, Wanted]
    const looks: Looks = { look: 0, orders: new Map(), screens: new Map() }
    noteLook(looks, [one, two], { chosen: [one, two], screens: [] })
    noteLook(looks, [two], { chosen: [], screens: [] })
    expect([...looks.orders]).toEqual([['2', 1]])
  })
})
