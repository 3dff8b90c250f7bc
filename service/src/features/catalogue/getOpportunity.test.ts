import { Compile } from 'typebox/compile'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addressOf, smallCatalogue } from '../../../test/catalogueFile.js'
import { type Earn, openEarn } from '../../../test/harness.js'
import { slugId } from './import/catalogueFile.js'
import { importCatalogue } from './import/importCatalogue.js'
import { pushDeltas } from './jobs.js'
import { OpportunitySchema } from './schema.js'

let earn: Earn
const id = slugId.opportunity('usdc-ethereum')
const bare = slugId.opportunity('usdc-base')

beforeAll(async () => {
  earn = await openEarn()
  await importCatalogue(earn.ctx, JSON.stringify(smallCatalogue()))
  await earn.ctx.catalogue.refresh()
})
afterAll(() => earn.close())

const get = (which: string, query = '') => earn.call('GetOpportunity', { params: { id: which }, query })

describe('200', () => {
  it('answers every member of the contract, with text, numbers and lists where nothing is known', async () => {
    const { status, body } = await get(id)
    expect(status).toBe(200)
    expect(Compile(OpportunitySchema).Errors(body)).toEqual([])
    const usdc = { address: '0xa000000000000000000000000000000000000001', chainId: 1, decimals: 6, symbol: 'USDC' }
    const token = { ...usdc, name: 'USD Coin', logoUrl: '' }
    expect(body).toEqual({
      id,
      slug: 'usdc-ethereum',
      name: 'USDC savings',
      description: 'Lends USDC.',
      type: 'vault',
      kind: 'erc4626',
      tvl: 0,
      estimatedApr: 4.3,
      minDepositAmountUsd: 10,
      minWithdrawAmount: 0,
      featured: true,
      baseToken: { ...token, address: expect.stringMatching(/^0xa0+1$/i) },
      depositTokens: [{ ...token, address: expect.stringMatching(/^0xa0+1$/i) }],
      receiptToken: expect.objectContaining({ symbol: 'vUSDC', decimals: 18 }),
      curator: {
        id: slugId.organization('acme'),
        name: 'Acme Curation',
        description: '',
        iconUrl: '',
        landingUrl: 'https://acme.example',
      },
      incentives: [
        expect.objectContaining({ name: 'Base yield', apr: 4.2, minApr: null, indexed: false, iconUrl: '' }),
        expect.objectContaining({ name: 'Points', apr: null, rewardTypeName: 'Acme points' }),
        expect.objectContaining({ name: 'Bonus', apr: 0.1, minApr: 0, maxApr: 0.2, estPriceUsd: 0.5 }),
      ],
      meta: {
        depositEnabled: true,
        withdrawEnabled: true,
        directInteractionEnabled: true,
        routedSwapEnabled: false,
        asyncDeposit: false,
        asyncWithdraw: false,
        isSecondaryMarket: false,
        depositDisabledReason: '',
        withdrawalDisabledReason: '',
      },
      swapDirectEnabled: true,
      swapRouteEnabled: false,
      tags: ['stable'],
      curatorId: slugId.organization('acme'),
      providerIds: [slugId.organization('northwind')],
      partnerIds: [],
      lendingProtocolIds: [slugId.organization('lendly')],
      productIds: [slugId.product('savings')],
      chainId: 1,
      vaultAddress: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
      freshness: { analyticsAt: null, capabilityAt: null },
    })
  })

  it('leaves curator out where there is none, and says why deposits are off', async () => {
    const { body } = await get(bare)
    expect(body).not.toHaveProperty('curator')
    expect(body).toMatchObject({
      curatorId: null,
      meta: { depositEnabled: false, depositDisabledReason: 'The vault is full.' },
    })
  })

  it('takes the id in any case and answers addresses with their checksum', async () => {
    const { body } = await get(id.toUpperCase())
    expect(body.id).toBe(id)
    expect(body.vaultAddress.toLowerCase()).toBe(addressOf(3))
    expect(body.vaultAddress).not.toBe(addressOf(3))
  })

  it('adds deltas when asked: null until pushed, then what was pushed', async () => {
    const none = { current: null, d1: null, d7: null, d30: null }
    expect((await get(id, 'includeDeltas=true')).body.deltas).toEqual({ tvl: none, lps: none, apy: none })
    const tvl = { current: 5, d1: -1.5, d7: 0, d30: null }
    await pushDeltas(earn.ctx, [{ opportunityId: id, deltas: { tvl } }])
    await earn.ctx.catalogue.refresh()
    const { body } = await get(id, 'includeDeltas=true')
    expect(body.deltas).toEqual({ tvl, lps: none, apy: none })
    expect(Compile(OpportunitySchema).Check(body)).toBe(true)
    expect((await get(id)).body).not.toHaveProperty('deltas')
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it.each(['nope', '00000000-0000-0000-0000-00000000000', `${id}x`, '%00'])('refuses %s as an id', async (bad) => {
    const answer = await earn.request('GET', `/v2/opportunities/${bad}`)
    expect(answer).toMatchObject({ status: 400, body: { status: 'INVALID_ARGUMENT' } })
  })
})

describe('404 NOT_FOUND', () => {
  it('answers so for an id nobody has', async () => {
    const answer = await get('018f4d5e-0000-7000-8000-000000000001')
    expect(answer).toMatchObject({ status: 404, body: { status: 'NOT_FOUND', error: 'no such opportunity' } })
  })

  it('answers so for an opportunity that is not active, and for all of an inactive chain', async () => {
    await earn.db`update opportunities set active = false where id = ${id}`
    await earn.db`update chains set active = false where chain_id = 8453`
    await earn.ctx.catalogue.refresh()
    expect((await get(id)).status).toBe(404)
    expect((await get(bare)).status).toBe(404)
  })
})
