import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { smallCatalogue } from '../../../test/catalogueFile.js'
import { loadRandomCatalogue } from '../../../test/catalogueWorld.js'
import { type Earn, openEarn } from '../../../test/harness.js'
import { slugId } from './import/catalogueFile.js'
import { importCatalogue } from './import/importCatalogue.js'

let earn: Earn

beforeAll(async () => {
  earn = await openEarn()
})
afterAll(() => earn.close())

const options = async () => (await earn.call('GetOpportunityFilterOptions')).body

describe('200', () => {
  it('offers nothing but the sorts while there is no opportunity', async () => {
    const { sortOptions, ...rest } = await options()
    expect(Object.values(rest).every((list) => Array.isArray(list) && list.length === 0)).toBe(true)
    expect(sortOptions.map(({ value }: { value: string }) => value)).toEqual(
      ['tvl', 'name', 'type', 'apr', 'curator', 'provider', 'tvlD1', 'tvlD7', 'tvlD30'].concat([
        'lpsD1',
        'lpsD7',
        'lpsD30',
        'growthApyD1',
        'growthApyD7',
        'growthApyD30',
      ]),
    )
  })

  it('offers what an active opportunity has, lending protocols among the providers', async () => {
    await importCatalogue(earn.ctx, JSON.stringify(smallCatalogue()))
    await earn.ctx.catalogue.refresh()
    const found = await options()
    const named = (list: { name: string }[]) => list.map(({ name }) => name)
    expect(found).toMatchObject({
      chains: [{ chainId: 1 }, { chainId: 8453 }],
      curators: [
        {
          id: slugId.organization('acme'),
          name: 'Acme Curation',
          iconUrl: '',
          landingUrl: 'https://acme.example',
          organizationType: 'curator',
        },
      ],
      partners: [],
      tags: [{ id: slugId.tag('stable'), code: 'stable', name: 'Stablecoins', description: '', color: '#00aa00' }],
      depositTokenSymbols: [
        { symbol: 'USDC', logoUrl: '' },
        { symbol: 'WETH', logoUrl: '' },
      ],
    })
    expect(named(found.providers)).toEqual(['Lendly', 'Northwind'])
    expect(named(found.lendingProtocols)).toEqual(['Lendly'])
    await earn.db`update tokens set symbol = 'usdc' where symbol = 'WETH'`
    await earn.ctx.catalogue.refresh()
    const { depositTokenSymbols } = await options()
    expect(depositTokenSymbols.map(({ symbol }: { symbol: string }) => symbol.toLowerCase())).toEqual(['usdc'])
    await earn.db`update opportunities set active = false where slug = 'usdc-ethereum'`
    await earn.ctx.catalogue.refresh()
    expect(await options()).toMatchObject({ chains: [{ chainId: 8453 }], curators: [], providers: [], tags: [] })
  })

  it('offers only values that find something', async () => {
    await loadRandomCatalogue(earn, 60, 7)
    const found = await options()
    const filters = [
      ['chainIds', found.chains.map((chain: { chainId: number }) => chain.chainId)],
      ['providerId', found.providers.map(({ id }: { id: string }) => id)],
      ['curatorId', found.curators.map(({ id }: { id: string }) => id)],
      ['partnerId', found.partners.map(({ id }: { id: string }) => id)],
      ['lendingProtocolId', found.lendingProtocols.map(({ id }: { id: string }) => id)],
      ['tags', found.tags.map(({ code }: { code: string }) => code)],
      ['depositTokenSymbols', found.depositTokenSymbols.map(({ symbol }: { symbol: string }) => symbol)],
      ['sortBy', found.sortOptions.map(({ value }: { value: string }) => value)],
    ] as const
    for (const [name, values] of filters) {
      expect(values.length).toBeGreaterThan(0)
      for (const value of values) {
        const { status, body } = await earn.call('ListOpportunities', { query: { [name]: value } })
        expect({ name, value, status, some: body.pagination?.total > 0 }).toEqual({
          name,
          value,
          status: 200,
          some: true,
        })
      }
    }
  })
})
