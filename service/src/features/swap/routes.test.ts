import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { estimateRouteGas, findBestRoute, listRoutes, type Quoted, type Route, usualFees } from './routes.js'

const direct: Route = { exchange: 'v2', tokens: ['a', 'b'] }
const over: Route = { exchange: 'v3', tokens: ['a', 'h', 'b'], fees: [500, 3_000] }

describe('listRoutes', () => {
  it('lists 21 V3 routes of a pair with three fee tiers and two hubs, and 3 of V2', () => {
    const routes = listRoutes({ from: 'a', to: 'b', hubs: ['g', 'h'], v2: true, fees: [500, 3_000, 10_000] })
    expect(routes.filter(({ exchange }) => exchange === 'v3')).toHaveLength(21)
    expect(routes.filter(({ exchange }) => exchange === 'v2').map(({ tokens }) => tokens)).toEqual([
      ['a', 'b'],
      ['a', 'g', 'b'],
      ['a', 'h', 'b'],
    ])
  })

  it('gives each hop over V3 every fee there is, and lists none where there are no fees', () => {
    const ask = { from: 'a', to: 'b', hubs: ['h'], v2: false }
    expect(listRoutes({ ...ask, fees: [500, 3_000] })).toEqual([
      { exchange: 'v3', tokens: ['a', 'b'], fees: [500] },
      { exchange: 'v3', tokens: ['a', 'b'], fees: [3_000] },
      { exchange: 'v3', tokens: ['a', 'h', 'b'], fees: [500, 500] },
      { exchange: 'v3', tokens: ['a', 'h', 'b'], fees: [500, 3_000] },
      { exchange: 'v3', tokens: ['a', 'h', 'b'], fees: [3_000, 500] },
      { exchange: 'v3', tokens: ['a', 'h', 'b'], fees: [3_000, 3_000] },
    ])
    for (const fees of [undefined, []]) expect(listRoutes({ ...ask, fees })).toEqual([])
    expect(usualFees).toEqual([100, 500, 3_000, 10_000])
  })

  it('passes through no end of the swap, and through a hub named twice once', () => {
    const routes = listRoutes({ from: 'a', to: 'b', hubs: ['a', 'h', 'b', 'h'], v2: true, fees: undefined })
    expect(routes.map(({ tokens }) => tokens)).toEqual([
      ['a', 'b'],
      ['a', 'h', 'b'],
    ])
    expect(listRoutes({ from: 'a', to: 'a', hubs: ['h'], v2: true, fees: [500] })).toEqual([])
  })
})

describe('findBestRoute', () => {
  it('takes what leaves most once gas is paid for, not what gives most', () => {
    // By hand: 140,000 gas against 250,000 + 31,000 for a tick, at 1 of the token for 1,000 gas: 140 against 281.
    const quoted = [
      { route: direct, amountOut: 10_000n, ticks: 0 },
      { route: over, amountOut: 10_100n, ticks: 1 },
    ]
    expect(estimateRouteGas(quoted[0] as Quoted)).toBe(140_000n)
    expect(estimateRouteGas(quoted[1] as Quoted)).toBe(281_000n)
    expect(findBestRoute(quoted, { gas: 1_000n, out: 1n })).toMatchObject({ route: direct, netOut: 9_860n })
    expect(findBestRoute(quoted, { gas: 1_000n, out: 0n })).toMatchObject({ route: over, netOut: 10_100n })
  })

  it('takes the first of those that leave the same', () => {
    const quoted = ['g', 'h'].map((hub) => ({
      route: { exchange: 'v2' as const, tokens: ['a', hub, 'b'] },
      ...{ amountOut: 10_000n, ticks: 0 },
    }))
    expect(findBestRoute(quoted, { gas: 1_000n, out: 1n })?.route).toBe(quoted[0]?.route)
  })

  it('finds nothing where no route gives anything', () => {
    expect(findBestRoute([], { gas: 1n, out: 1n })).toBeUndefined()
    expect(findBestRoute([{ route: direct, amountOut: 0n, ticks: 0 }], { gas: 1n, out: 0n })).toBeUndefined()
  })

  it('is the best of all direct and one-hop routes of 200 random graphs of pools, by brute force', () => {
    const nodes = ['a', 'b', 'g', 'h', 'i']
    const reserve = fc.bigInt({ min: 1n, max: 10n ** 24n })
    const pool = fc.record({ x: fc.constantFrom(...nodes), y: fc.constantFrom(...nodes), rx: reserve, ry: reserve })
    const graph = fc.record({
      pools: fc.uniqueArray(pool, { maxLength: 10, selector: ({ x, y }) => [x, y].sort().join() }),
      amountIn: fc.bigInt({ min: 1n, max: 10n ** 22n }),
      gasOut: fc.bigInt({ min: 0n, max: 10n ** 9n }),
    })
    fc.assert(
      fc.property(graph, ({ pools, amountIn, gasOut }) => {
        const give = (from: string, to: string, amount: bigint) => {
          const found = pools.find(({ x, y }) => x !== y && ((x === from && y === to) || (x === to && y === from)))
          if (!found) return undefined
          const [rin, rout] = found.x === from ? [found.rx, found.ry] : [found.ry, found.rx]
          return (amount * 997n * rout) / (rin * 1_000n + amount * 997n)
        }
        const quoted = listRoutes({ from: 'a', to: 'b', hubs: ['g', 'h', 'i'], v2: true, fees: undefined }).flatMap(
          (route) => {
            let amount: bigint | undefined = amountIn
            for (let i = 1; i < route.tokens.length && amount !== undefined; i++)
              amount = give(route.tokens[i - 1] ?? '', route.tokens[i] ?? '', amount)
            return amount === undefined ? [] : [{ route, amountOut: amount, ticks: 0 }]
          },
        )
        const best = findBestRoute(quoted, { gas: 1_000_000n, out: gasOut })
        const cost = (hops: bigint) => ((80_000n + hops * 60_000n) * gasOut) / 1_000_000n
        const straight = give('a', 'b', amountIn)
        const byForce = [
          ...(straight ? [straight - cost(1n)] : []),
          ...['g', 'h', 'i'].flatMap((hub) => {
            const half = give('a', hub, amountIn)
            const whole = half === undefined ? undefined : give(hub, 'b', half)
            return whole ? [whole - cost(2n)] : []
          }),
        ]
        const most = byForce.reduce<bigint | undefined>(
          (max, net) => (max === undefined || net > max ? net : max),
          undefined,
        )
        expect(best?.netOut).toBe(most)
      }),
      { numRuns: 200 },
    )
  })
})
