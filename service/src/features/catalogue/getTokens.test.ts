import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addressOf, smallCatalogue } from '../../../test/catalogueFile.js'
import { type Earn, openEarn } from '../../../test/harness.js'
import { importCatalogue } from './import/importCatalogue.js'
import type { Token } from './schema.js'

let earn: Earn

beforeAll(async () => {
  earn = await openEarn()
  await importCatalogue(earn.ctx, JSON.stringify(smallCatalogue()))
  await earn.db`update tokens set active = false where chain_id = 8453 and symbol = 'WETH'`
  await earn.ctx.catalogue.refresh()
})
afterAll(() => earn.close())

const list = async (query: Record<string, string | number> = {}) => {
  const { body } = await earn.call('GetTokens', { query })
  return body.data.map((token: Token) => `${token.chainId} ${token.symbol}`)
}

describe('200', () => {
  it('lists active tokens by chain and symbol', async () => {
    expect(await list()).toEqual(['1 USDC', '1 vUSDC', '1 WETH', '8453 USDC', '8453 vUSDC'])
    expect((await earn.call('GetTokens', { query: { limit: 1 } })).body).toEqual({
      data: [
        {
          address: expect.stringMatching(/^0xA0+1$/i),
          chainId: 1,
          decimals: 6,
          symbol: 'USDC',
          name: 'USD Coin',
          logoUrl: '',
        },
      ],
      pagination: { page: 1, limit: 1, total: 5, totalPages: 5 },
    })
  })

  it('limits to a chain', async () => {
    expect(await list({ chainId: 8453 })).toEqual(['8453 USDC', '8453 vUSDC'])
    expect(await list({ chainId: 10 })).toEqual([])
  })

  it('searches part of address, name and symbol without regard to case, literally', async () => {
    expect(await list({ search: 'ETHER' })).toEqual(['1 WETH'])
    expect(await list({ search: 'vus', chainId: 1 })).toEqual(['1 vUSDC'])
    expect(await list({ search: addressOf(2).toUpperCase().slice(3) })).toEqual(['1 WETH'])
    expect(await list({ search: '%' })).toEqual([])
    expect(await list({ search: '_' })).toEqual([])
  })

  it('lists nothing of an inactive chain', async () => {
    await earn.db`update chains set active = false where chain_id = 1`
    await earn.ctx.catalogue.refresh()
    expect(await list()).toEqual(['8453 USDC', '8453 vUSDC'])
    await earn.db`update chains set active = true`
    await earn.ctx.catalogue.refresh()
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it.each(['chainId=0', 'chainId=-1', 'chainId=x', 'chainId=1&chainId=2', 'page=x', 'search=%00'])(
    'refuses %s',
    async (query) => {
      expect(await earn.call('GetTokens', { query })).toMatchObject({
        status: 400,
        body: { status: 'INVALID_ARGUMENT' },
      })
    },
  )
})
