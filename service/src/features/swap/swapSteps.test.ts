import { type Address, encodeFunctionData, erc20Abi } from 'viem'
import { describe, expect, it } from 'vitest'
import type { EarnError } from '../../kernel/errors.js'
import type { TokenRecord } from '../catalogue/index.js'
import { type Quote, type SwapAsk, UnfitQuote } from './provider.js'
import { assertDecoded, assertGot, assertSwapped, buildSwapSteps, computeMinimum, type SwapSteps } from './swapSteps.js'

const wallet: Address = '0x00000000000000000000000000000000000000aa'
const spender: Address = '0x00000000000000000000000000000000000000bb'
const router: Address = '0x00000000000000000000000000000000000000cc'

const token = (address: string, symbol: string, decimals: number): TokenRecord => ({
  ...{ chainId: 1, address, symbol, name: symbol, decimals, logoUrl: `https://logos/${symbol}` },
  ...({ unsupportedReason: '', approvalReset: false } as unknown as TokenRecord),
})
const tokenIn = token('0x00000000000000000000000000000000000000d1', 'IN', 6)
const tokenOut = token('0x00000000000000000000000000000000000000d2', 'OUT', 18)

const ask = { tokenIn, tokenOut, amountIn: 1_000n, wallet, slippageBps: 50n } as SwapAsk
const known: Quote = {
  ...{ provider: 'own', amountOut: 10_001n, netOut: 10_001n, gas: 120_000n, spender, target: 'the own router' },
  route: [{ action: 'swap', from: tokenIn, to: tokenOut }],
  decoded: true,
  build: ({ minimumOut, deadline }) => ({ to: router, data: `0x${minimumOut}${deadline}`, value: 0n }),
}
const build = (changes: Partial<Quote> = {}, asked: SwapAsk = ask, allowance = 0n): SwapSteps =>
  buildSwapSteps(asked, { ...known, ...changes }, { deadline: 77n, allowance })

/** What a quote is told to be unfit by. */
function unfit(act: () => unknown): EarnError {
  try {
    act()
  } catch (error) {
    expect(error).toBeInstanceOf(UnfitQuote)
    return (error as UnfitQuote).refusal
  }
  throw new Error('it was fit')
}

describe('buildSwapSteps', () => {
  it('calls with the minimum, floored, and the deadline, after an approval of exactly the amount', () => {
    const { approvals, swap, minimumOut } = build()
    expect(minimumOut).toBe(9_950n)
    expect(swap).toMatchObject({ type: 'swap', suffix: 'plain', gasConstant: 240_000n })
    expect(swap.call).toEqual({ to: router, data: '0x995077', value: 0n })
    expect(approvals.map(({ type, call }) => ({ type, to: call.to.toLowerCase(), data: call.data }))).toEqual([
      {
        type: 'approve',
        to: tokenIn.address,
        data: encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, 1_000n] }),
      },
    ])
  })

  it('approves nothing where the allowance is enough, and where nobody takes the token', () => {
    expect(build({}, ask, 1_000n).approvals).toEqual([])
    expect(build({}, ask, 999n).approvals).toHaveLength(1)
    expect(build({ spender: undefined }).approvals).toEqual([])
  })

  it('says of its way what was quoted', () => {
    const details = ({ address, symbol, decimals, logoUrl }: TokenRecord) => ({ address, symbol, decimals, logoUrl })
    const { metadata, description } = build().swap
    expect(metadata).toMatchObject({ provider: 'own', providerImg: '', amountOut: '10001', gas: '120000' })
    expect(metadata?.route).toMatchObject([
      { action: 'swap', from: { ...details(tokenIn), address: expect.stringMatching(/d1$/i) }, to: { symbol: 'OUT' } },
    ])
    expect(description).toContain('the own router')
  })

  it.each([
    ['the whole quote, at a router we know', {}, 10_001n],
    ['the minimum, where its rate moves with time', { moves: true as const }, 9_950n],
    ['the minimum, by a third party', { decoded: false }, 9_950n],
    ['each unit, where they are even', { even: true, spender: undefined }, 10_001n],
  ])('has to give %s', (_what, changes, least) => {
    expect(build(changes).leastGot).toBe(least)
  })

  it('slips nothing where each unit given is a unit got', () => {
    expect(build({ even: true }).minimumOut).toBe(10_001n)
  })

  it.each([
    ['wrap', 'Wrap'],
    ['unwrap', 'Unwrap'],
  ] as const)('describes an even %s as one, and as a swap where it is not even', (action, word) => {
    const route = [{ action, from: tokenIn, to: tokenOut }]
    expect(build({ even: true, route }).swap.description).toMatch(new RegExp(`^${word}`))
    expect(build({ route }).swap.description).toMatch(/^Swap/)
    expect(build({ even: true }).swap.description).toMatch(/^Swap/)
  })

  it('is BELOW_MINIMUM where the minimum would be 0', () => {
    expect(() => build({ amountOut: 1n })).toThrow(expect.objectContaining({ reason: 'BELOW_MINIMUM' }))
    expect(build({ amountOut: 1n, even: true }).minimumOut).toBe(1n)
    expect(build({ amountOut: 2n }, { ...ask, slippageBps: 5_000n }).minimumOut).toBe(1n)
  })

  it('tries the token’s transfer to its spender, but not where nobody takes it or the token rounds', () => {
    expect(build()).toMatchObject({
      probe: { token: tokenIn.address, to: spender, amount: 1_000n },
      givenRounds: false,
    })
    expect(build({ spender: undefined }).probe).toBeUndefined()
    expect(build({ rounds: true })).toMatchObject({ probe: undefined, givenRounds: true })
  })

  it.each(['STF', 'TRANSFER_FROM_FAILED', 'TRANSFER_FAILED', 'TransferHelper: x', 'TF', 'IIA', 'UniswapV2: K'])(
    'says that a token cannot be moved where a router we know reverts with %s',
    (why) => {
      const context = { transactionIndex: 1 }
      const revert = (changes: Partial<Quote>, text: string) =>
        unfit(() => build(changes).swap.explainRevert?.(text, context, undefined))
      expect(revert({}, `it reverts: ${why}`)).toMatchObject({ reason: 'TOKEN_UNSUPPORTED', context })
      expect(revert({}, `it reverts: ${why}`).message).toContain(why)
      expect(revert({ decoded: false }, why)).toMatchObject({ reason: 'SIMULATION_REVERTED', message: why, context })
      expect(revert({}, 'out of gas')).toMatchObject({ reason: 'SIMULATION_REVERTED', message: 'out of gas' })
    },
  )
})

describe('assertSwapped', () => {
  const swapped = (given: bigint | undefined, got: bigint, changes: Partial<Quote> = {}) =>
    assertSwapped({ given, got }, ask, build(changes))

  it('takes what takes exactly what was asked for and gives what was quoted, or more', () => {
    expect(swapped(-1_000n, 10_001n)).toBeUndefined()
    expect(swapped(-1_000n, 20_000n)).toBeUndefined()
  })

  it('refuses a token that gives less than was quoted, though more than the minimum', () => {
    const refusal = unfit(() => swapped(-1_000n, 10_000n))
    expect(refusal).toMatchObject({ reason: 'TOKEN_UNSUPPORTED' })
    expect(refusal.message).toBe('the swap would return 10000, less than the expected 10001')
  })

  it('takes the minimum of a third party, and of a rate that moves, and refuses a unit less', () => {
    for (const changes of [{ decoded: false }, { moves: true as const }]) {
      expect(swapped(-1_000n, 9_950n, changes)).toBeUndefined()
      expect(unfit(() => swapped(-1_000n, 9_949n, changes)).reason).toBe('TOKEN_UNSUPPORTED')
    }
  })

  it.each([
    ['more than was asked for', -1_001n],
    ['less than was asked for', -999n],
    ['nothing that was seen', undefined],
    ['nothing, and gives of the token', 1_000n],
  ])('refuses a swap that takes %s', (_what, given) => {
    const refusal = unfit(() => swapped(given, 10_001n))
    expect(refusal).toMatchObject({ reason: 'TOKEN_UNSUPPORTED' })
    expect(refusal.message).toContain('a different amount')
  })

  it('lets a token that rounds be off by two units either way, and by no third', () => {
    for (const given of [-1_002n, -1_001n, -999n, -998n])
      expect(swapped(given, 10_001n, { rounds: true })).toBeUndefined()
    for (const given of [-1_003n, -997n])
      expect(unfit(() => swapped(given, 10_001n, { rounds: true })).message).toContain('a different amount')
  })
})

describe('assertGot', () => {
  it('takes the least and refuses a unit less', () => {
    expect(assertGot(10_001n, build())).toBeUndefined()
    expect(unfit(() => assertGot(10_000n, build())).reason).toBe('TOKEN_UNSUPPORTED')
  })
})

describe('assertDecoded', () => {
  it('lets what cannot be simulated be built for a router we know alone', () => {
    expect(assertDecoded(known)).toBeUndefined()
    expect(unfit(() => assertDecoded({ ...known, decoded: false }))).toMatchObject({
      reason: 'NO_ROUTE',
      message: 'the route cannot be checked without a simulation',
    })
  })
})

describe('computeMinimum', () => {
  it('is floored, by hand: 99.5 % of 1,001 is 995.995', () => {
    expect(computeMinimum(1_001n, 50n)).toBe(995n)
    expect(computeMinimum(10_000n, 1n)).toBe(9_999n)
    expect(computeMinimum(1n, 1n)).toBe(0n)
  })
})
