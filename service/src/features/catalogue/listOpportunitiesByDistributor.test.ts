import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { smallCatalogue } from '../../../test/catalogueFile.js'
import { type Earn, openEarn } from '../../../test/harness.js'
import { slugId } from './import/catalogueFile.js'
import { importCatalogue } from './import/importCatalogue.js'
import type { Opportunity } from './schema.js'

let earn: Earn

beforeAll(async () => {
  earn = await openEarn()
  const file = smallCatalogue()
  const distributors = [
    ...file.distributors,
    { id: 'picky', organization: 'walletco', opportunities: ['usdc-base'] },
    { id: 'both', organization: 'walletco', opportunities: ['usdc-base', 'usdc-ethereum'], products: ['savings'] },
  ]
  await importCatalogue(earn.ctx, JSON.stringify({ ...file, distributors }))
  await earn.ctx.catalogue.refresh()
})
afterAll(() => earn.close())

const list = async (distributorId: string, query = '') => {
  const answer = await earn.call('ListOpportunitiesByDistributor', { params: { distributorId }, query })
  return { status: answer.status, slugs: answer.body.data?.map((item: Opportunity) => item.slug), body: answer.body }
}

describe('200', () => {
  it('shows configured opportunities and those of configured products, each once', async () => {
    expect((await list('walletco')).slugs).toEqual(['usdc-ethereum'])
    expect((await list('picky')).slugs).toEqual(['usdc-base'])
    const both = await list('both', 'sortBy=name&sortOrder=asc')
    expect(both.slugs).toEqual(['usdc-base', 'usdc-ethereum'])
    expect(both.body.pagination.total).toBe(2)
  })

  it('is empty for a distributor with nothing configured', async () => {
    expect(await list('empty')).toMatchObject({ status: 200, slugs: [] })
  })

  it('applies the filters of the list inside the distributor', async () => {
    expect((await list('both', 'chainIds=8453')).slugs).toEqual(['usdc-base'])
    expect((await list('walletco', 'chainIds=8453')).slugs).toEqual([])
  })

  it('leaves out what is not active', async () => {
    await earn.db`update opportunities set active = false where id = ${slugId.opportunity('usdc-base')}`
    await earn.ctx.catalogue.refresh()
    expect((await list('both')).slugs).toEqual(['usdc-ethereum'])
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it('refuses malformed parameters as the list does', async () => {
    expect(await list('walletco', 'sortBy=nope')).toMatchObject({ status: 400, body: { status: 'INVALID_ARGUMENT' } })
  })
})

describe('404 NOT_FOUND', () => {
  it('answers so for a distributor nobody registered; codes compare byte for byte', async () => {
    expect(await list('nobody')).toMatchObject({ status: 404, body: { status: 'NOT_FOUND' } })
    expect((await list('WalletCo')).status).toBe(404)
  })
})
