import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadRandomCatalogue, seeded } from '../../../test/catalogueWorld.js'
import { type Earn, openEarn } from '../../../test/harness.js'
import { times } from '../../../test/seed.js'
import type { CatalogueFile } from './import/catalogueFile.js'
import { slugId } from './import/catalogueFile.js'
import { sortOptions } from './memory/sort.js'
import type { Opportunity } from './schema.js'

const seed = 20_261_120
const count = 240
const searches = 120 * times

let earn: Earn
let file: CatalogueFile
let all: Opportunity[]
/** Names by organization id, for the sorts by curator and provider. */
let names: Map<string, string>
const shown = { shop: new Set<string>(), bare: new Set<string>() }

beforeAll(async () => {
  earn = await openEarn()
  file = await loadRandomCatalogue(earn, count, seed)
  const answers = await Promise.all(
    (file.opportunities ?? []).map((entry) =>
      earn.call('GetOpportunity', { params: { id: slugId.opportunity(entry.slug) }, query: { includeDeltas: true } }),
    ),
  )
  all = answers.filter((answer) => answer.status === 200).map((answer) => answer.body)
  names = new Map((file.organizations ?? []).map((entry) => [slugId.organization(entry.slug), entry.name]))
  const shop = file.distributors?.find(({ id }) => id === 'shop')
  for (const entry of file.opportunities ?? [])
    if (shop?.opportunities?.includes(entry.slug) || entry.products?.includes('product-a'))
      shown.shop.add(slugId.opportunity(entry.slug))
})
afterAll(() => earn.close())

type Query = Record<string, string>

/** The rules of the list, written once more and as plainly as possible. */
function reference(items: Opportunity[], query: Query): Opportunity[] {
  const list = (name: string) => {
    const values = (query[name] ?? '')
      .split(',')
      .map((value) => value.trim())
      .filter(Boolean)
    return values.length > 0 ? values : undefined
  }
  const either = (wanted: string[] | undefined, has: (value: string) => boolean) => !wanted || wanted.some(has)
  const lower = (text: string) => text.toLowerCase()
  const kept = items.filter((item) => {
    const { search } = query
    const texts = [
      item.name,
      item.description,
      item.vaultAddress,
      ...[...item.depositTokens, item.baseToken, item.receiptToken].map((token) => token.address),
    ]
    if (search && !texts.some((text) => lower(text).includes(lower(search)))) return false
    if (!either(list('chainIds'), (id) => item.depositTokens.some((token) => token.chainId === Number(id))))
      return false
    if (query['depositToken']) {
      const [address, chainId] = query['depositToken'].split('-')
      const accepts = item.depositTokens.some(
        (token) => lower(token.address) === lower(address ?? '') && token.chainId === Number(chainId),
      )
      if (!accepts) return false
    }
    const symbols = list('depositTokenSymbols')
    if (!either(symbols, (symbol) => item.depositTokens.some((token) => lower(token.symbol) === lower(symbol))))
      return false
    if (query['slug'] && item.slug !== query['slug']) return false
    if (!either(list('tags'), (tag) => item.tags.includes(tag))) return false
    if (!either(list('curatorId'), (id) => item.curatorId === lower(id))) return false
    const providerIds = [...item.providerIds, ...item.lendingProtocolIds]
    if (!either(list('providerId'), (id) => providerIds.includes(lower(id)))) return false
    if (!either(list('partnerId'), (id) => item.partnerIds.includes(lower(id)))) return false
    if (!either(list('lendingProtocolId'), (id) => item.lendingProtocolIds.includes(lower(id)))) return false
    const isKnown = item.freshness.analyticsAt !== null
    if (query['tvlMin'] && (isKnown ? item.tvl : 0) < Number(query['tvlMin'])) return false
    if (query['tvlMax'] && !(isKnown && item.tvl <= Number(query['tvlMax']))) return false
    if (query['minApr'] && item.estimatedApr < Number(query['minApr'])) return false
    if (query['maxApr'] && item.estimatedApr > Number(query['maxApr'])) return false
    if (query['featured'] === 'true' && !item.featured) return false
    if (query['featured'] === 'false' && item.featured) return false
    const { meta } = item
    if (query['directInteractionEnabled'] === 'true' && !meta.directInteractionEnabled) return false
    if (query['routedSwapEnabled'] === 'true' && !meta.routedSwapEnabled) return false
    if (query['depositEnabled'] === 'true' && !meta.depositEnabled) return false
    if (query['withdrawEnabled'] === 'true' && !meta.withdrawEnabled) return false
    if (query['asyncDeposit'] === 'true' && !meta.asyncDeposit) return false
    if (query['asyncWithdraw'] === 'true' && !meta.asyncWithdraw) return false
    return true
  })
  const by = query['sortBy'] || 'tvl'
  const descending = (query['sortOrder'] || 'desc') === 'desc'
  return kept.sort((a, b) => {
    const left = keyOf(a, by)
    const right = keyOf(b, by)
    if (left === null && right !== null) return 1
    if (left !== null && right === null) return -1
    const order = left === null || right === null ? 0 : compare(left, right)
    if (order !== 0) return descending ? -order : order
    return a.id < b.id ? -1 : 1
  })
}

function keyOf(item: Opportunity, by: string): number | string | null {
  const nameOf = (id: string) => names.get(id) ?? ''
  const first = (texts: string[]) => texts.map((text) => text.toLowerCase()).sort(compare)[0] ?? null
  const movement = /^(tvl|lps|growthApy)D(1|7|30)$/.exec(by)
  if (movement) {
    const series = { tvl: item.deltas?.tvl, lps: item.deltas?.lps, growthApy: item.deltas?.apy }[movement[1] as 'tvl']
    return { 1: series?.d1, 7: series?.d7, 30: series?.d30 }[Number(movement[2]) as 1] ?? null
  }
  if (by === 'tvl') return item.freshness.analyticsAt === null ? null : item.tvl
  if (by === 'apr') return item.estimatedApr
  if (by === 'name') return item.name.toLowerCase()
  if (by === 'type') return item.type
  if (by === 'curator') return item.curatorId === null ? null : nameOf(item.curatorId).toLowerCase()
  if (by === 'provider') return first(item.providerIds.map(nameOf))
  throw new Error(`no sort ${by}`)
}

function compare(a: number | string, b: number | string): number {
  if (typeof a === 'number' || typeof b === 'number') return Number(a) - Number(b)
  const left = [...a].map((character) => character.codePointAt(0) ?? 0)
  const right = [...b].map((character) => character.codePointAt(0) ?? 0)
  for (let at = 0; at < Math.min(left.length, right.length); at++)
    if (left[at] !== right[at]) return (left[at] ?? 0) - (right[at] ?? 0)
  return left.length - right.length
}

function randomQuery(random: ReturnType<typeof seeded>): Query {
  const query: Query = {}
  const item = random.pick(all)
  const ids = (read: (from: Opportunity) => readonly string[]) => {
    const some = [...read(item), ...read(random.pick(all))]
    const text = some.length > 0 ? some.join(' , ') : slugId.organization('nobody')
    return random.chance(0.5) ? text.toUpperCase() : text
  }
  const maybe = (name: string, value: () => string) => {
    if (random.chance(0.12)) query[name] = value()
  }
  const token = item.depositTokens[0] ?? item.baseToken
  maybe('search', () =>
    random.pick(['a', '%', '_', 'ALPHA', 'Épsilon', '日', token.address.slice(2, 9), item.name.slice(1, 6), '🚀', ' ']),
  )
  maybe('chainIds', () => random.pick(['1', '1,10', ' 8453 ,,10', '999', '0']))
  maybe('depositToken', () => `${random.chance(0.5) ? token.address.toLowerCase() : token.address}-${token.chainId}`)
  maybe('depositTokenSymbols', () => random.pick(['usdc', 'UsDc,weth', 'EXTRA', '日本', 'none', ',']))
  maybe('slug', () => random.pick([item.slug, item.slug, item.slug.slice(0, -1), item.slug.toUpperCase()]))
  maybe('tags', () => random.pick(['stable', 'eth,new', 'Blue-Chip', 'STABLE', 'none']))
  maybe('curatorId', () => ids((from) => (from.curatorId ? [from.curatorId] : [])))
  maybe('providerId', () => ids((from) => [...from.providerIds, ...from.lendingProtocolIds]))
  maybe('partnerId', () => ids((from) => from.partnerIds))
  maybe('lendingProtocolId', () => ids((from) => from.lendingProtocolIds))
  maybe('tvlMin', () => random.pick(['0', '10', '0.5', '20000', '-1']))
  maybe('tvlMax', () => random.pick(['0', '10', '12345.678', '9999999']))
  maybe('minApr', () => random.pick(['0', '0.3', '4.25', '-1.5']))
  maybe('maxApr', () => random.pick(['0', '0.3', '10', '100']))
  maybe('featured', () => random.pick(['true', 'false', 'null', '']))
  for (const flag of ['directInteractionEnabled', 'routedSwapEnabled', 'depositEnabled', 'withdrawEnabled'])
    maybe(flag, () => random.pick(['true', 'true', 'false', '']))
  for (const flag of ['asyncDeposit', 'asyncWithdraw']) maybe(flag, () => random.pick(['true', 'false']))
  if (random.chance(0.8)) query['sortBy'] = random.pick(sortOptions).value
  if (random.chance(0.6)) query['sortOrder'] = random.pick(['asc', 'desc', ''])
  return query
}

async function walk(operationId: string, params: Record<string, string>, query: Query, limit: number) {
  const items: Opportunity[] = []
  for (let page = 1; ; page++) {
    const answer = await earn.call(operationId, { params, query: { ...query, page, limit } })
    if (answer.status !== 200) throw new Error(`${JSON.stringify(query)}: ${answer.text}`)
    items.push(...answer.body.data)
    if (page >= answer.body.pagination.totalPages) return { items, total: answer.body.pagination.total }
  }
}

describe('200', () => {
  it(
    `equals a plain reference on ${searches} random combinations of filters, sorts and page sizes`,
    async () => {
      const random = seeded(seed)
      let nonEmpty = 0
      for (let round = 0; round < searches; round++) {
        const query = randomQuery(random)
        const [operationId, distributorId] = random.pick([
          ['ListOpportunities', undefined],
          ['ListOpportunitiesByDistributor', 'shop'],
        ] as const)
        const items = distributorId ? all.filter((item) => shown[distributorId].has(item.id)) : all
        const expected = reference([...items], query).map((item) => item.id)
        const limit = random.pick([20, 50, 64, 100])
        const found = await walk(operationId, distributorId ? { distributorId } : {}, query, limit)
        expect(
          found.items.map((item) => item.id),
          `seed ${seed}, ${operationId} ${JSON.stringify(query)}`,
        ).toEqual(expected)
        expect(found.total).toBe(expected.length)
        if (expected.length > 0) nonEmpty++
      }
      expect(nonEmpty).toBeGreaterThan(searches / 3)
    },
    120_000 * times,
  )

  it('gives each id once when all pages are walked, in every sort and order', async () => {
    for (const { value } of sortOptions)
      for (const sortOrder of ['asc', 'desc']) {
        const { items } = await walk('ListOpportunities', {}, { sortBy: value, sortOrder }, 33)
        expect(items).toHaveLength(all.length)
        expect(new Set(items.map((item) => item.id)).size).toBe(all.length)
      }
  })

  it('serves the item GetOpportunity serves, with deltas only when asked', async () => {
    const plain = (await earn.call('ListOpportunities', { query: { limit: 100 } })).body.data
    const full = (await earn.call('ListOpportunities', { query: { limit: 100, includeDeltas: true } })).body.data
    expect([full.length, plain.length]).toEqual(Array(2).fill(Math.min(100, all.length)))
    expect(full).not.toHaveLength(0)
    for (const [index, item] of full.entries()) {
      expect(item).toEqual(all.find((other) => other.id === item.id))
      const { deltas, ...rest } = item
      expect(Object.keys(deltas)).toEqual(['tvl', 'lps', 'apy'])
      expect(plain[index]).toEqual(rest)
    }
  })

  it('clamps the page and the limit, takes the aliases in order, and is empty past the end', async () => {
    const pagination = async (query: string) => (await earn.call('ListOpportunities', { query })).body.pagination
    const total = all.length
    expect(await pagination('')).toEqual({ page: 1, limit: 20, total, totalPages: Math.ceil(total / 20) })
    expect(await pagination('page=0&limit=0')).toMatchObject({ page: 1, limit: 20 })
    expect(await pagination('page=-5&limit=1000')).toMatchObject({ page: 1, limit: 100 })
    expect(await pagination('pageLimit=3&pageSize=4')).toMatchObject({ limit: 4 })
    expect(await pagination('pageLimit=3&pageSize=4&limit=5')).toMatchObject({ limit: 5 })
    const past = await earn.call('ListOpportunities', { query: 'page=99999' })
    expect(past.body).toEqual({
      data: [],
      pagination: { page: 99999, limit: 20, total, totalPages: Math.ceil(total / 20) },
    })
  })

  it('ignores unknown names, snake_case twins and the empty value', async () => {
    const plain = await earn.call('ListOpportunities')
    const query = 'tvlGreaterThan=1&sort_by=nope&chain_ids=x&tags=&search=&featured=&tvlMin=&unknown=1&unknown=2'
    expect((await earn.call('ListOpportunities', { query })).body).toEqual(plain.body)
  })

  it('takes a list repeated, with commas, or both', async () => {
    const one = await earn.call('ListOpportunities', { query: 'tags=stable,new&limit=100' })
    const two = await earn.call('ListOpportunities', { query: 'tags=stable&tags=%20new,&limit=100' })
    expect(two.body).toEqual(one.body)
  })

  it('finds the one with a slug, letter for letter', async () => {
    const find = async (slug: string) =>
      (await earn.call('ListOpportunities', { query: { slug } })).body.data.map((item: Opportunity) => item.id)
    for (const { slug, id } of all.slice(0, 5)) expect(await find(slug)).toEqual([id])
    expect(await find(`${all[0]!.slug.slice(0, -1)}`)).toEqual([])
    expect(await find(`${all[0]!.slug},${all[1]!.slug}`)).toEqual([])
  })

  it('finds a vault by its own address, and those of a share by the address of it', async () => {
    const find = async (search: string): Promise<Opportunity[]> =>
      (await earn.call('ListOpportunities', { query: { search, limit: 100 } })).body.data
    for (const { id, vaultAddress, receiptToken } of all.slice(0, 5)) {
      expect((await find(vaultAddress)).map((item) => item.id)).toContain(id)
      const ofShare = await find(receiptToken.address.toLowerCase())
      expect(ofShare.length).toBeGreaterThan(0)
      expect(ofShare.filter((item) => !JSON.stringify(item).includes(receiptToken.address))).toEqual([])
    }
  })

  it('takes numbers as JSON writes them, exponents included', async () => {
    const page = async (query: Query) =>
      (await earn.call('ListOpportunities', { query: { ...query, limit: '100' } })).body
    expect(await page({ tvlMax: '1e21' })).toEqual(await page({ tvlMax: '1000000000000000000000' }))
    expect(await page({ tvlMax: String(1e21) })).toEqual(await page({ tvlMax: '1000000000000000000000' }))
    expect(await page({ minApr: String(1e-7) })).toEqual(await page({ minApr: '0.0000001' }))
  })

  it('finds no vault of unknown TVL below a most TVL, nor above a least one, but for 0', async () => {
    const find = async (query: Query) => (await walk('ListOpportunities', {}, query, 100)).items.map(({ id }) => id)
    const unknown = all.filter(({ freshness }) => freshness.analyticsAt === null).map(({ id }) => id)
    const worthless = all.filter(({ tvl, freshness }) => tvl === 0 && freshness.analyticsAt !== null)
    expect([unknown.length, worthless.length].every((count) => count > 0)).toBe(true)
    for (const query of [{ tvlMax: '0' }, { tvlMax: '1e30' }, { tvlMin: '0', tvlMax: '1e30' }, { tvlMin: '1e-9' }])
      expect((await find(query)).filter((id) => unknown.includes(id))).toEqual([])
    expect((await find({ tvlMax: '0' })).sort()).toEqual(worthless.map(({ id }) => id).sort())
    for (const tvlMin of ['0', '-1']) expect(await find({ tvlMin })).toHaveLength(all.length)
  })

  it('answers an empty page for tvlMin above tvlMax', async () => {
    const { body } = await earn.call('ListOpportunities', { query: { tvlMin: 2, tvlMax: 1 } })
    expect(body).toEqual({ data: [], pagination: { page: 1, limit: 20, total: 0, totalPages: 0 } })
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it.each([
    'page=x',
    'page=1.5',
    'limit=1e2',
    'sortBy=TVL',
    'sortBy=null',
    'sortOrder=up',
    'chainIds=one',
    'chainIds=1,-1',
    'chainIds=1.5',
    'depositToken=0x1-1',
    `depositToken=0x${'1'.repeat(40)}`,
    `depositToken=0x${'1'.repeat(40)}-x`,
    'curatorId=acme',
    'providerId=1,2',
    'partnerId=x',
    'lendingProtocolId=x',
    'tvlMin=abc',
    'tvlMax=.5',
    'tvlMin=05',
    'minApr=1e999',
    'slug=a&slug=b',
    'minApr=NaN',
    'maxApr=Infinity',
    'featured=yes',
    'depositEnabled=1',
    'includeDeltas=TRUE',
    'sortBy=tvl&sortBy=tvl',
    'search=a&search=b',
    'search=%00',
  ])('refuses %s', async (query) => {
    const { status, body } = await earn.call('ListOpportunities', { query })
    expect({ status, body }).toMatchObject({ status: 400, body: { status: 'INVALID_ARGUMENT', code: 400 } })
    expect(body.context.violations.length).toBeGreaterThan(0)
  })

  it('refuses a list of more than 200 values', async () => {
    const tags = Array.from({ length: 201 }, (_, index) => `t${index}`).join(',')
    expect((await earn.call('ListOpportunities', { query: { tags } })).status).toBe(400)
  })
})
