import { testTokenAbi, testTokenBytecode } from '@openearn/contracts'
import type { Address } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../../contracts/test/anvil.js'
import { goneNode } from '../../../test/actionWorld.js'
import { openSwapWorld, type SwapWorld } from '../../../test/chain/swapWorld.js'

let world: SwapWorld['world']
let dollar: Address

beforeAll(async () => {
  const opened = await openSwapWorld({ pegUsd: '1' })
  world = opened.world
  ;[dollar] = opened.tokens
})
afterAll(() => world.close())

const tokens = (query: Record<string, string | number> = {}) => world.earn.call('GetSwapTokens', { query })
const symbols = (answer: Awaited<ReturnType<typeof tokens>>) =>
  answer.body.data.map(({ symbol }: { symbol: string }) => symbol)

describe('200', () => {
  it('lists the native token first, then the others by symbol, with their prices', async () => {
    const answer = await tokens({ chainId: world.chainId })
    expect(symbols(answer)).toEqual(['ETH', 'TUSD', 'WETH'])
    expect(answer.body.data[1]).toEqual({
      ...{ address: dollar, chainId: '31337', symbol: 'TUSD', name: 'TUSD', decimals: 6 },
      ...{ isNative: false, logoUrl: '', priceUsd: 1 },
    })
    expect(answer.body.pagination).toEqual({
      ...{ page: 1, limit: 20, total: 3, totalPages: 1 },
      ...{ hasNext: false, hasPrevious: false },
    })
  })

  it('searches symbol, name and address, and tells of the pages around', async () => {
    expect(symbols(await tokens({ search: 'eth' }))).toEqual(['ETH', 'WETH'])
    expect(symbols(await tokens({ search: dollar.slice(0, 20).toUpperCase().replace('X', 'x') }))).toEqual(['TUSD'])
    const second = await tokens({ limit: 1, page: 2 })
    expect(symbols(second)).toEqual(['TUSD'])
    expect(second.body.pagination).toMatchObject({ hasNext: true, hasPrevious: true })
    for (const limit of ['1000', '99999999999999999999'])
      expect((await tokens({ limit })).body.pagination.limit).toBe(300)
  })

  it('reads an address nobody listed from its chain, cleans its text and never prices it', async () => {
    const args = ['<b>Free</b>\u202e money', 'FR\u0000EE', 9]
    const address = await world.anvil.deploy({ abi: testTokenAbi, bytecode: testTokenBytecode, args })
    const answer = await tokens({ chainId: world.chainId, search: address.toLowerCase() })
    expect(answer.body).toMatchObject({
      data: [{ address, symbol: 'FREE', name: 'Free money', decimals: 9, priceUsd: 0, isNative: false }],
      pagination: { total: 1 },
    })
    expect((await tokens({ search: address })).body.data).toEqual([])
    expect((await tokens({ chainId: world.chainId, search: account(5).address })).body.data).toEqual([])
  })

  it('shows no token that is switched off or cannot be moved, and nothing of a chain without swaps', async () => {
    await world.earn.db`update tokens set active = false where address = ${dollar.toLowerCase()}`
    await world.refresh()
    expect(symbols(await tokens())).toEqual(['ETH', 'WETH'])
    expect((await tokens({ chainId: world.chainId, search: dollar })).body.data).toEqual([])
    await world.earn.db`
      update tokens set active = true, unsupported_reason = 'it rebases' where address = ${dollar.toLowerCase()}`
    await world.refresh()
    expect(symbols(await tokens())).toEqual(['ETH', 'WETH'])
    expect((await tokens({ chainId: 4242 })).body.data).toEqual([])
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it('refuses a limit that is no number', async () => {
    expect((await tokens({ limit: 'many' })).status).toBe(400)
  })
})

describe('503 UNAVAILABLE', () => {
  it('says so when the chain of an unlisted address cannot be read', async () => {
    const look = () => tokens({ chainId: world.chainId, search: account(6).address })
    const { status, body } = await world.withNode(goneNode, look)
    expect([status, body.context]).toEqual([503, { retryable: true }])
  })
})
