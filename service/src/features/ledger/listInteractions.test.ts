import { getAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Earn } from '../../../test/harness.js'
import { entries, hash, idOf, openLedgerWorld, opportunities, product } from '../../../test/ledgerWorld.js'
import { newId } from '../../kernel/ids.js'

let earn: Earn
beforeAll(async () => {
  earn = await openLedgerWorld()
})
afterAll(() => earn?.close())

const list = (query: Record<string, string | number> = {}) => earn.call('ListInteractions', { query })
const places = (answer: { body: { data: { blockNumber: number; logIndex: number }[] } }) =>
  answer.body.data.map(({ blockNumber, logIndex }) => `${blockNumber}.${logIndex}`)

describe('ListInteractions 200', () => {
  it('lists verified entries newest first, with every member', async () => {
    const answer = await list()
    expect(places(answer)).toEqual(['12.0', '11.4', '11.1', '10.1'])
    expect(answer.body.pagination).toEqual({ page: 1, limit: 20, total: 4, totalPages: 1 })
    expect(answer.body.data[3]).toEqual({
      id: idOf(entries[0]!),
      opportunityId: opportunities[0],
      interaction: 'deposit',
      txHash: hash(1001),
      chainId: 31337,
      blockTimestamp: '2023-11-14T22:13:30Z',
      walletAddress: getAddress(`0x${'0a'.repeat(20)}`),
      amountToken: '5',
      amountInUsd: '5',
      tokenSymbol: 'USD',
      tokenIconUrl: 'https://logo/usd',
      isSwap: false,
      distributorId: 'acme',
      logIndex: 1,
      blockNumber: 10,
      amountRaw: '5000000',
      finality: 'final',
      attribution: 'signed',
    })
    expect(answer.body.data[0].finality).toBe('confirmed')
    expect(answer.body.data[2].amountInUsd).toBeNull()
  })

  it('filters by type, distributor, opportunity in any case and product; different filters all apply', async () => {
    expect(places(await list({ interactionType: 'withdraw' }))).toEqual(['11.1'])
    expect(places(await list({ distributorId: 'beta' }))).toEqual(['11.4'])
    expect(places(await list({ opportunityId: opportunities[0]!.toUpperCase() }))).toEqual(['11.1', '10.1'])
    expect(places(await list({ productId: product }))).toEqual(['12.0', '11.4'])
    expect(places(await list({ productId: product, distributorId: 'acme' }))).toEqual(['12.0'])
  })

  it('answers an empty page for an unknown distributor, opportunity or product', async () => {
    for (const query of [{ distributorId: 'nobody' }, { opportunityId: newId() }, { productId: newId() }]) {
      const answer = await list(query)
      expect(answer.body).toEqual({ data: [], pagination: { page: 1, limit: 20, total: 0, totalPages: 0 } })
    }
  })

  it('sorts by each key in both orders, nulls last', async () => {
    expect(places(await list({ sortBy: 'date', sortOrder: 'asc' }))).toEqual(['10.1', '11.1', '11.4', '12.0'])
    expect(places(await list({ sortBy: 'usdValue' }))).toEqual(['12.0', '11.4', '10.1', '11.1'])
    expect(places(await list({ sortBy: 'usdValue', sortOrder: 'asc' }))).toEqual(['10.1', '11.4', '12.0', '11.1'])
    expect(places(await list({ sortBy: 'amount', sortOrder: 'asc' }))).toEqual(['11.1', '10.1', '11.4', '12.0'])
    const byName = (await list({ sortBy: 'opportunity', sortOrder: 'asc' })).body.data
    expect(byName.map((each: { opportunityId: string }) => opportunities.indexOf(each.opportunityId))).toEqual([
      1, 1, 0, 0,
    ])
    expect(places(await list({ sortBy: 'distributor' }))[0]).toBe('11.4')
    expect(places(await list({ sortBy: 'wallet' }))[0]).toBe('12.0')
    expect(places(await list({ sortBy: 'type' }))[0]).toBe('11.1')
  })

  it('pages without overlap, and past the end is empty', async () => {
    const pages = await Promise.all([1, 2, 3].map((page) => list({ page, limit: 2 })))
    expect(pages.flatMap(places)).toEqual(['12.0', '11.4', '11.1', '10.1'])
    expect(pages[2]!.body.pagination).toEqual({ page: 3, limit: 2, total: 4, totalPages: 2 })
  })
})

describe('ListInteractions 400 INVALID_ARGUMENT', () => {
  it.each(['sortBy=size', 'sortOrder=up', 'interactionType=swap', 'opportunityId=1', 'productId=x', 'page=1.5'])(
    'refuses %s',
    async (query) => {
      const answer = await earn.call('ListInteractions', { query })
      expect(answer).toMatchObject({ status: 400, body: { status: 'INVALID_ARGUMENT' } })
    },
  )
})

describe('ListInteractions 410 CURSOR_GONE', () => {
  it.each([newId(), '1-aaaaaaaaaaaa'])('refuses an after that the feed does not hold: %s', async (after) => {
    const answer = await list({ after })
    expect(answer).toMatchObject({
      status: 410,
      body: { reason: 'CURSOR_GONE', context: { oldest: '0-000000000000' } },
    })
  })
})
