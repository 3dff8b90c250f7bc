import { describe, expect, it } from 'vitest'
import { unavailable } from '../../kernel/errors.js'
import { findBestQuote, type Quote, type SwapAsk, type SwapProvider } from './provider.js'
import { computeMinimum } from './swapDraft.js'

const ask = {} as SwapAsk
const quoteOf = (provider: string, amountOut: bigint, netOut: bigint): Quote => ({
  ...{ provider, amountOut, netOut, gas: 0n, route: [], spender: undefined, target: provider },
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

describe('findBestQuote', () => {
  it('takes the provider that leaves most once gas is paid for', async () => {
    const best = await findBestQuote([gives('cheap', 100n, 95n), gives('dear', 110n, 90n)], ask)
    expect(best.provider).toBe('cheap')
  })

  it('leaves out a provider that does not answer, and one whose business it is not', async () => {
    const other = provider('other', async () => quoteOf('other', 1_000n, 1_000n), false)
    expect((await findBestQuote([down, gives('up', 1n), other], ask)).provider).toBe('up')
  })

  it('is NO_ROUTE where one answered that it has none, and 503 where none answered', async () => {
    await expect(findBestQuote([down, none], ask)).rejects.toMatchObject({ code: 400, reason: 'NO_ROUTE' })
    await expect(findBestQuote([], ask)).rejects.toMatchObject({ code: 400, reason: 'NO_ROUTE' })
    await expect(findBestQuote([down, down], ask)).rejects.toMatchObject({ code: 503 })
  })

  it('hides no fault of ours behind another provider', async () => {
    const broken = provider('broken', async () => {
      throw new TypeError('ours')
    })
    await expect(findBestQuote([gives('up', 1n), broken], ask)).rejects.toThrow(TypeError)
  })
})

describe('computeMinimum', () => {
  it('is floored, by hand: 99.5 % of 1,001 is 995.995', () => {
    expect(computeMinimum(1_001n, 50n)).toBe(995n)
    expect(computeMinimum(10_000n, 1n)).toBe(9_999n)
    expect(computeMinimum(1n, 1n)).toBe(0n)
  })
})
