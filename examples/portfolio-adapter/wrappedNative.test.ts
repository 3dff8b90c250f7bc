import type { Hex } from 'viem'
import { expect, it } from 'vitest'
import type { AdapterInput } from '../../service/src/features/portfolio/index.js'
import { wrappedNativeAdapter } from './wrappedNative.js'

const wallet = '0x00000000000000000000000000000000000a11ce'
const wrapped = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'

/** What the adapter looks at of a chain whose wrapped token is this. */
const inputOf = (wrappedNative: string | null) =>
  ({
    ...{ chain: { chainId: 1, nativeSymbol: 'ETH' }, wallet },
    snapshot: { chains: new Map([[1, { wrappedNative }]]) },
  }) as unknown as AdapterInput

const answer = async (result: Hex | undefined) => (await wrappedNativeAdapter.ask(inputOf(wrapped))).answer([result])

it('asks for one balance, and explains the token that it is of', async () => {
  const { reads } = await wrappedNativeAdapter.ask(inputOf(wrapped))
  expect(reads).toEqual([{ target: wrapped, data: `0x70a08231${'0'.repeat(24)}${wallet.slice(2)}` }])
  const { items } = await answer(`0x${(5n * 10n ** 18n).toString(16).padStart(64, '0')}`)
  expect(items).toMatchObject([{ pool: wrapped, supplied: [{ raw: 5n * 10n ** 18n, explains: wrapped }] }])
})

it('has no row for nothing, and names the contract where it does not answer', async () => {
  expect(await answer(`0x${'0'.repeat(64)}`)).toEqual({ items: [] })
  expect(await answer(undefined)).toEqual({ items: [], problems: [`${wrapped} does not answer its balance`] })
})

it('asks nothing of a chain that has no wrapped token', async () => {
  expect((await wrappedNativeAdapter.ask(inputOf(null))).reads).toEqual([])
})
