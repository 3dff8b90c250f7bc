import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Earn } from '../../../test/harness.js'
import { openLedgerWorld, opportunities, product } from '../../../test/ledgerWorld.js'

let earn: Earn
beforeAll(async () => {
  earn = await openLedgerWorld()
})
afterAll(() => earn?.close())

describe('GetDistributorDeposits 200', () => {
  it('lists only verified deposits of the distributor, newest first, with navigation', async () => {
    const answer = await earn.call('GetDistributorDeposits', { params: { distributorId: 'acme' }, query: { limit: 1 } })
    expect(answer.body.deposits.map((each: { blockNumber: number }) => each.blockNumber)).toEqual([12])
    expect(answer.body.pagination).toEqual({
      page: 1,
      limit: 1,
      total: 2,
      totalPages: 2,
      hasNext: true,
      hasPrevious: false,
    })
  })

  it('limits to an opportunity and to a product; an opportunity outside the product leaves nothing', async () => {
    const get = async (query: Record<string, string>) =>
      (await earn.call('GetDistributorDeposits', { params: { distributorId: 'acme' }, query })).body.deposits.length
    expect(await get({ opportunityId: opportunities[0]! })).toBe(1)
    expect(await get({ productId: product })).toBe(1)
    expect(await get({ productId: product, opportunityId: opportunities[0]! })).toBe(0)
  })
})

describe('GetDistributorDeposits 400 INVALID_ARGUMENT', () => {
  it('refuses a malformed opportunity id', async () => {
    const answer = await earn.call('GetDistributorDeposits', {
      params: { distributorId: 'acme' },
      query: { opportunityId: 'x' },
    })
    expect(answer).toMatchObject({ status: 400, body: { status: 'INVALID_ARGUMENT' } })
  })
})

describe('GetDistributorDeposits 404 NOT_FOUND', () => {
  it('does not know an unregistered distributor, and codes compare byte for byte', async () => {
    for (const distributorId of ['nobody', 'ACME']) {
      const answer = await earn.call('GetDistributorDeposits', { params: { distributorId } })
      expect(answer).toMatchObject({ status: 404, body: { status: 'NOT_FOUND' } })
    }
  })
})
