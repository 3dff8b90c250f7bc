import { type Address, decodeFunctionData } from 'viem'
import { expect, it } from 'vitest'
import { wrappedAbi } from '../../rpc/abis.js'
import { nativeToken } from '../../rpc/native.js'
import type { SwapAsk } from './provider.js'
import { wrapping } from './wrapping.js'

const wrapped = '0x00000000000000000000000000000000000000d1'
const other = '0x00000000000000000000000000000000000000d2'
const native = nativeToken.toLowerCase()
const wallet: Address = '0x00000000000000000000000000000000000000aa'
const ask = (from: string, to: string, wrappedNative: string | null = wrapped) =>
  ({
    settings: { wrappedNative },
    tokenIn: { address: from },
    tokenOut: { address: to },
    amountIn: 1_000n,
  }) as unknown as SwapAsk

it('serves a chain with a wrapped native token, and takes the two tokens either way and no other pair', () => {
  expect([ask(native, wrapped), ask(native, wrapped, null)].map(({ settings }) => wrapping.serves(settings))).toEqual([
    true,
    false,
  ])
  expect([ask(native, wrapped), ask(wrapped, native)].map((each) => wrapping.takes(each))).toEqual([true, true])
  const others = [ask(native, other), ask(other, wrapped), ask(native, wrapped, null), ask(wrapped, wrapped)]
  expect(others.map((each) => wrapping.takes(each))).toEqual(others.map(() => false))
})

it('gives unit for unit, needs no allowance, and says its name', async () => {
  const quotes = [await wrapping.quote(ask(native, wrapped)), await wrapping.quote(ask(wrapped, native))]
  for (const quote of quotes)
    expect(quote).toMatchObject({
      ...{ provider: 'wrapped-native', amountOut: 1_000n, netOut: 1_000n, gas: 60_000n },
      ...{ spender: undefined, target: wrapped, even: true, decoded: true },
    })
  expect(wrapping.spenders(ask(native, wrapped).settings)).toEqual([])
  expect(quotes.map((quote) => quote?.route.map(({ action }) => action))).toEqual([['wrap'], ['unwrap']])
  expect(await wrapping.quote(ask(native, wrapped, null))).toBeUndefined()
})

it('pays the native token to wrap it, and asks for the amount to unwrap it', async () => {
  const call = async (from: string, to: string) =>
    (await wrapping.quote(ask(from, to)))?.build({ wallet, minimumOut: 1_000n, deadline: 1n })
  const [wrap, unwrap] = [await call(native, wrapped), await call(wrapped, native)]
  expect([wrap, unwrap]).toMatchObject([
    { to: wrapped, value: 1_000n },
    { to: wrapped, value: 0n },
  ])
  const decode = (data: `0x${string}` = '0x') => decodeFunctionData({ abi: wrappedAbi, data })
  expect(decode(wrap?.data)).toMatchObject({ functionName: 'deposit' })
  expect(decode(unwrap?.data)).toEqual({ functionName: 'withdraw', args: [1_000n] })
})
