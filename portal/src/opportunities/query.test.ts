import { describe, expect, it } from 'vitest'
import { countFilters, toParams, toSort, withFilters, withoutFilters } from './query.js'

const of = (text: string) => new URLSearchParams(text)

describe('the query of the list', () => {
  it('is that of the service, by its names, with a page of 20 and the movements', () => {
    expect(
      toParams(of('search=usd&chainIds=1,10&tvlMin=5e3&depositEnabled=true&sortBy=apr&sortOrder=asc&page=3')),
    ).toEqual({
      ...{ includeDeltas: true, limit: 20, page: 3, search: 'usd', chainIds: '1,10', tvlMin: 5_000 },
      ...{ depositEnabled: true, sortBy: 'apr', sortOrder: 'asc' },
    })
  })

  it('leaves out what the service would refuse, and names that it does not know', () => {
    const plain = { includeDeltas: true, limit: 20, page: 1, sortBy: 'tvl', sortOrder: 'desc' }
    for (const text of [
      ...['', 'page=0', 'page=-1', 'page=x', 'page=1e99', 'tvlMin=many', 'tvlMax=', 'depositEnabled=maybe'],
      ...['sortBy=constructor', 'sortOrder=sideways', 'limit=100', 'includeDeltas=false', '__proto__=1', 'search=%20'],
    ])
      expect(toParams(of(text)), text).toEqual(plain)
    expect(toParams(of(`search=${'a'.repeat(10_000)}`)).search).toHaveLength(200)
  })

  it('sorts names upwards and figures downwards unless told', () => {
    expect(toSort(of('sortBy=name'))).toEqual({ sortBy: 'name', sortOrder: 'asc' })
    expect(toSort(of('sortBy=lpsD7'))).toEqual({ sortBy: 'lpsD7', sortOrder: 'desc' })
    expect(toSort(of('sortBy=name&sortOrder=desc'))).toEqual({ sortBy: 'name', sortOrder: 'desc' })
  })

  it('begins at the first page when a filter changes, and keeps the order when all are removed', () => {
    const query = of('page=4&search=a&sortBy=apr')
    expect(withFilters(query, { tags: 'stable' }).toString()).toBe('search=a&sortBy=apr&tags=stable')
    expect(withFilters(query, { search: '' }).toString()).toBe('sortBy=apr')
    expect([countFilters(query), countFilters(of('sortBy=apr&page=2&search='))]).toEqual([1, 0])
    expect(withoutFilters(of('search=a&featured=true&sortBy=apr')).toString()).toBe('sortBy=apr')
  })
})
