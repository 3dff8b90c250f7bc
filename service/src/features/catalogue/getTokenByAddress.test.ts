import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addressOf, smallCatalogue } from '../../../test/catalogueFile.js'
import { type Earn, openEarn } from '../../../test/harness.js'
import { importCatalogue } from './import/importCatalogue.js'

let earn: Earn

beforeAll(async () => {
  earn = await openEarn()
  await importCatalogue(earn.ctx, JSON.stringify(smallCatalogue()))
  await earn.db`update tokens set active = false where chain_id = 8453 and symbol = 'WETH'`
  await earn.ctx.catalogue.refresh()
})
afterAll(() => earn.close())

const get = (chainId: number | string, address: string) =>
  earn.call('GetTokenByAddress', { params: { chainId, address } })

describe('200', () => {
  it('answers the token, whatever the case of the address', async () => {
    const lower = await get(1, addressOf(2))
    expect(lower).toMatchObject({ status: 200, body: { symbol: 'WETH', decimals: 18, chainId: 1 } })
    expect((await get(1, `0X${addressOf(2).slice(2).toUpperCase()}`)).body).toEqual(lower.body)
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it.each([
    ['x', addressOf(2)],
    [0, addressOf(2)],
    [1, '0x12'],
    [1, addressOf(2).slice(2)],
    [1, 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'],
  ])('refuses %s %s', async (chainId, address) => {
    expect(await get(chainId, address)).toMatchObject({ status: 400, body: { status: 'INVALID_ARGUMENT' } })
  })
})

describe('404 NOT_FOUND', () => {
  it('answers so for a token unknown on that chain, or not active', async () => {
    for (const [chainId, address] of [
      [1, addressOf(77)],
      [10, addressOf(2)],
      [8453, addressOf(2)],
    ] as const)
      expect(await get(chainId, address)).toMatchObject({ status: 404, body: { status: 'NOT_FOUND' } })
  })
})
