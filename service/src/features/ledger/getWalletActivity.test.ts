import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Earn } from '../../../test/harness.js'
import { openLedgerWorld } from '../../../test/ledgerWorld.js'

let earn: Earn
beforeAll(async () => {
  earn = await openLedgerWorld()
})
afterAll(() => earn?.close())

describe('GetWalletActivity 200', () => {
  it('lists verified entries of all wallets given, in any case, newest first', async () => {
    const addresses = `0x${'0A'.repeat(20)},0X${'ff'.repeat(20)}`
    const answer = await earn.call('GetWalletActivity', { query: { addresses, limit: 3 } })
    expect(answer.body.activity.map((each: { blockNumber: number }) => each.blockNumber)).toEqual([12, 11, 11])
    expect(answer.body.pagination).toEqual({
      page: 1,
      limit: 3,
      total: 4,
      totalPages: 2,
      hasNext: true,
      hasPrevious: false,
    })
    const one = await earn.call('GetWalletActivity', { query: { addresses: `0x${'ff'.repeat(20)}` } })
    expect(one.body.activity.map((each: { blockNumber: number }) => each.blockNumber)).toEqual([12])
  })
})

describe('GetWalletActivity 400 INVALID_ARGUMENT', () => {
  it.each([
    '',
    'addresses=',
    'addresses=0x12',
    `addresses=${Array(1_001)
      .fill(`0x${'0a'.repeat(20)}`)
      .join()}`,
  ])('refuses missing, malformed and too many addresses', async (query) => {
    const answer = await earn.call('GetWalletActivity', { query })
    expect(answer).toMatchObject({ status: 400, body: { status: 'INVALID_ARGUMENT' } })
  })
})
