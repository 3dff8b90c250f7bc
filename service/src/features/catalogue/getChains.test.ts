import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { smallCatalogue } from '../../../test/catalogueFile.js'
import { type Earn, openEarn } from '../../../test/harness.js'
import { importCatalogue } from './import/importCatalogue.js'

let earn: Earn

beforeAll(async () => {
  earn = await openEarn()
})
afterAll(() => earn.close())

describe('200', () => {
  it('is an empty page before anything is imported', async () => {
    expect((await earn.call('GetChains')).body).toEqual({
      data: [],
      pagination: { page: 1, limit: 20, total: 0, totalPages: 0 },
    })
  })

  it('lists active chains by id', async () => {
    await importCatalogue(earn.ctx, JSON.stringify(smallCatalogue()))
    await earn.ctx.catalogue.refresh()
    expect((await earn.call('GetChains')).body).toEqual({
      data: [
        { chainId: 1, name: 'Ethereum', logoUrl: '', explorerUrl: 'https://etherscan.io' },
        { chainId: 8453, name: 'Base', logoUrl: '', explorerUrl: '' },
      ],
      pagination: { page: 1, limit: 20, total: 2, totalPages: 1 },
    })
    await earn.db`update chains set active = false where chain_id = 1`
    await earn.ctx.catalogue.refresh()
    const { body } = await earn.call('GetChains', { query: { limit: 1, page: 1 } })
    expect(body).toMatchObject({ data: [{ chainId: 8453 }], pagination: { total: 1 } })
  })

  it('answers with and without the slash at the end', async () => {
    expect((await earn.request('GET', '/v2/chains')).body).toEqual((await earn.request('GET', '/v2/chains/')).body)
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it('refuses a page that is no integer', async () => {
    expect(await earn.call('GetChains', { query: 'page=two' })).toMatchObject({
      status: 400,
      body: { status: 'INVALID_ARGUMENT', context: { violations: [{ path: 'page', message: 'must be an integer' }] } },
    })
  })
})
