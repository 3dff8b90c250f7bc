import { describe, expect, it } from 'vitest'
import { invalidArgument, unavailable } from '../../kernel/errors.js'
import { listQuotes, type Quote, type SwapAsk, type SwapProvider, UnfitQuote, useBestQuote } from './provider.js'

const ask = {} as SwapAsk
const quoteOf = (provider: string, amountOut: bigint, netOut: bigint): Quote => ({
  ...{ provider, amountOut, netOut, gas: 0n, route: [], spender: undefined, target: provider },
  decoded: true,
  build: () => ({ to: '0x', data: '0x', value: 0n }),
})
const provider = (name: string, quote: () => Promise<Quote | undefined>, takes = true): SwapProvider => ({
  ...{ name, quote, serves: () => true, takes: () => takes, spenders: () => [] },
})
const gives = (name: string, amountOut: bigint, netOut = amountOut) =>
  provider(name, async () => quoteOf(name, amountOut, netOut))
const none = provider('none', async () => undefined)
const down = provider('down', async () => {
  throw unavailable('down')
})

describe('listQuotes', () => {
  it('takes the provider that leaves most once gas is paid for', async () => {
    const [best] = await listQuotes([gives('cheap', 100n, 95n), gives('dear', 110n, 90n)], ask)
    expect(best.provider).toBe('cheap')
  })

  it('charges a quote that tells no worth of gas by what the first that can says of it', async () => {
    const telling = (name: string, out: bigint) =>
      provider(name, async () => ({ ...quoteOf(name, 50n, 50n), gasValue: { gas: 10n, out } }))
    const silent = provider('silent', async () => ({ ...quoteOf('silent', 100n, 100n), gas: 20n }))
    const quotes = await listQuotes([silent, telling('first', 5n), telling('second', 40n)], ask)
    expect(quotes.map(({ provider: name, netOut }) => [name, netOut])).toEqual([
      ['silent', 90n],
      ['first', 50n],
      ['second', 50n],
    ])
  })

  it('leaves out a provider that does not answer, and one whose business it is not', async () => {
    const other = provider('other', async () => quoteOf('other', 1_000n, 1_000n), false)
    expect((await listQuotes([down, gives('up', 1n), other], ask)).map(({ provider: name }) => name)).toEqual(['up'])
  })

  it('is NO_ROUTE where one answered that it has none, and 503 where none answered', async () => {
    await expect(listQuotes([down, none], ask)).rejects.toMatchObject({ code: 400, reason: 'NO_ROUTE' })
    await expect(listQuotes([], ask)).rejects.toMatchObject({ code: 400, reason: 'NO_ROUTE' })
    await expect(listQuotes([down, down], ask)).rejects.toMatchObject({ code: 503 })
  })

  it('hides no fault of ours behind another provider', async () => {
    const broken = provider('broken', async () => {
      throw new TypeError('ours')
    })
    await expect(listQuotes([gives('up', 1n), broken], ask)).rejects.toThrow(TypeError)
  })
})

describe('useBestQuote', () => {
  const own = quoteOf('own', 1n, 1n)
  const third = { ...quoteOf('third', 2n, 2n), decoded: false }
  const unfit = (why: string) => new UnfitQuote(invalidArgument(why, { reason: 'TOKEN_UNSUPPORTED' }))

  it('goes on to the next quote where the best is unfit', async () => {
    const used = await useBestQuote([third, own], async (quote) => {
      if (!quote.decoded) throw unfit('a lie')
      return quote.provider
    })
    expect(used).toBe('own')
  })

  const choose = (quotes: readonly Quote[], given: Record<string, bigint>) =>
    useBestQuote(quotes, async ({ provider: name }, see) => {
      const got = given[name]
      if (got === undefined) throw unfit(name)
      see(got)
      return name
    })
  const claims = (name: string, amountOut: bigint, cost = 0n) => ({
    ...quoteOf(name, amountOut, amountOut - cost),
    decoded: false,
  })
  const exchange = quoteOf('exchange', 1_000n, 990n)

  it.each([
    ['claims more and gives less than the exchange', [claims('third', 1_010n)], { third: 960n }, 'exchange'],
    ['gives a unit less than the exchange', [claims('third', 1_010n)], { third: 999n }, 'exchange'],
    ['gives what the exchange does, at less gas', [claims('third', 1_010n)], { third: 1_000n }, 'third'],
    ['gives more, which its gas takes', [claims('third', 1_050n, 20n)], { third: 1_009n }, 'exchange'],
    ['gives more than its gas takes', [claims('third', 1_050n, 20n)], { third: 1_010n }, 'third'],
    ['claims no gas and gives less than the exchange', [claims('third', 995n)], { third: 995n }, 'exchange'],
    [
      'claims most and gives less than another',
      [claims('a', 1_100n), claims('b', 1_050n)],
      { a: 1_020n, b: 1_050n },
      'b',
    ],
    [
      'gives as much as another that claims less',
      [claims('a', 1_100n), claims('b', 1_050n)],
      { a: 1_040n, b: 1_040n },
      'a',
    ],
    [
      'is unfit beside one that gives less than the exchange',
      [claims('a', 1_100n), claims('b', 1_050n)],
      { b: 999n },
      'exchange',
    ],
  ])('uses what was seen to give most where a third party %s', async (_case, thirds, given, used) => {
    expect(await choose([...thirds, exchange], { exchange: 1_000n, ...given })).toBe(used)
  })

  it('uses what a third party was seen to give where the router that quoted more is unfit', async () => {
    expect(await choose([claims('third', 1_010n), exchange], { third: 960n })).toBe('third')
    expect(await choose([exchange, claims('third', 900n)], { third: 890n })).toBe('third')
    expect(await choose([claims('a', 1_010n), claims('b', 1_005n)], { a: 950n, b: 960n })).toBe('b')
  })

  it('looks at no third party that claims less than the exchange gives', async () => {
    const tried: string[] = []
    await useBestQuote([exchange, claims('third', 999n)], async ({ provider: name }) => tried.push(name))
    expect(tried).toEqual(['exchange'])
  })

  it('says why a router we know was unfit, and NO_ROUTE where only a third party was', async () => {
    const fail = async ({ provider: name }: Quote) => {
      throw unfit(name)
    }
    await expect(useBestQuote([third, own], fail)).rejects.toMatchObject({
      reason: 'TOKEN_UNSUPPORTED',
      message: 'own',
    })
    await expect(useBestQuote([third], fail)).rejects.toMatchObject({ code: 400, reason: 'NO_ROUTE' })
    const worse = quoteOf('worse', 0n, 0n)
    await expect(useBestQuote([third, own, worse], fail)).rejects.toMatchObject({ message: 'own' })
  })

  it('stops at what is not the quote’s own fault', async () => {
    const tried: string[] = []
    const fail = async ({ provider: name }: Quote) => {
      tried.push(name)
      throw unavailable('the node is gone')
    }
    await expect(useBestQuote([third, own], fail)).rejects.toMatchObject({ code: 503 })
    expect(tried).toEqual(['third'])
  })
})
