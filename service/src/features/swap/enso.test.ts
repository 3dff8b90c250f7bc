import { type Address, encodeAbiParameters, encodeFunctionData, type Hex, parseAbi, parseAbiParameters } from 'viem'
import { describe, expect, it } from 'vitest'
import { enso } from './enso.js'
import type { SwapAsk } from './provider.js'

const routerAbi = parseAbi([
  'struct Token { uint8 tokenType; bytes data; }',
  'function safeRouteSingle(Token tokenIn, Token tokenOut, address receiver, bytes data) payable returns (bytes)',
])
const addressOf = (digit: number) => `0x${String(digit).repeat(40)}` as Address
const [given, got, wallet, router, stranger] = [1, 2, 3, 4, 5].map(addressOf) as [
  ...[Address, Address, Address, Address, Address],
]
const ask = { tokenIn: { address: given }, tokenOut: { address: got }, amountIn: 7n, wallet } as unknown as SwapAsk

const token = (address: Address, amount: bigint) => ({
  tokenType: 1,
  data: encodeAbiParameters(parseAbiParameters('address token, uint256 amount'), [address, amount]),
})

/** An answer whose call is the router's checked form. */
function read(told: { tokenIn?: Address; tokenOut?: Address; receiver?: Address; amount?: bigint; data?: Hex }) {
  const data = encodeFunctionData({
    ...{ abi: routerAbi, functionName: 'safeRouteSingle' },
    args: [
      token(told.tokenIn ?? given, told.amount ?? 7n),
      token(told.tokenOut ?? got, 1n),
      told.receiver ?? wallet,
      told.data ?? '0xabcd',
    ],
  })
  const answer = { gas: '100', amountOut: '9', tx: { to: router, from: wallet, data, value: '0' } }
  return enso.read(answer, ask, { router } as unknown as Parameters<typeof enso.read>[2])
}

describe('an answer of Enso in the checked form of its router', () => {
  it('is taken where it gives the wallet the token that was asked for', () => {
    expect(read({})).toMatchObject({ amountOut: 9n, gas: 100n })
  })

  it.each([
    ['another receiver', { receiver: stranger }],
    ['another token out', { tokenOut: stranger }],
    ['both', { receiver: stranger, tokenOut: stranger }],
    ['another token in', { tokenIn: stranger }],
    ['another amount', { amount: 8n }],
  ])('is refused with %s', (_name, told) => {
    expect(read(told)).toBe('its call does not swap what was asked for')
  })
})
