import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Earn, openEarn } from '../../../test/harness.js'
import { importCatalogue } from './import/importCatalogue.js'

let earn: Earn

beforeAll(async () => {
  earn = await openEarn()
  const protocols = ['zeta', 'Alpha', 'beta'].map((name) => ({ slug: name.toLowerCase(), name }))
  await importCatalogue(earn.ctx, JSON.stringify({ protocols }))
  await earn.ctx.catalogue.refresh()
})
afterAll(() => earn.close())

describe('200', () => {
  it('lists protocols by name without regard to case, page by page', async () => {
    const { body } = await earn.call('GetProtocols', { query: { limit: 2 } })
    expect(body).toEqual({
      data: [
        { name: 'Alpha', logoUrl: '', siteUrl: '' },
        { name: 'beta', logoUrl: '', siteUrl: '' },
      ],
      pagination: { page: 1, limit: 2, total: 3, totalPages: 2 },
    })
    expect((await earn.call('GetProtocols', { query: { limit: 2, page: 2 } })).body.data).toMatchObject([
      { name: 'zeta' },
    ])
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it('refuses a limit that is no integer', async () => {
    expect(await earn.call('GetProtocols', { query: 'limit=all' })).toMatchObject({
      status: 400,
      body: { status: 'INVALID_ARGUMENT' },
    })
  })
})
