import { describe, expect, it } from 'vitest'
import { paginate, paginateNav, parsePage } from './page.js'

describe('pages', () => {
  it('default to 20 items from page 1 and clamp what is out of bounds', () => {
    expect(parsePage({})).toEqual({ page: 1, limit: 20, offset: 0 })
    expect(parsePage({ page: -3, limit: 0 })).toEqual({ page: 1, limit: 20, offset: 0 })
    expect([parsePage({ limit: 1 }).limit, parsePage({ limit: 100 }).limit]).toEqual([1, 100])
    expect(parsePage({ page: 3, limit: 500 })).toEqual({ page: 3, limit: 100, offset: 200 })
  })

  it('take limit before pageSize before pageLimit', () => {
    expect(parsePage({ limit: 5, pageSize: 6, pageLimit: 7 }).limit).toBe(5)
    expect(parsePage({ pageSize: 6, pageLimit: 7 }).limit).toBe(6)
    expect(parsePage({ pageLimit: 7 }).limit).toBe(7)
  })

  it('count pages, and know whether there is a next and a previous one', () => {
    expect(paginate(parsePage({ limit: 10 }), 21)).toEqual({ page: 1, limit: 10, total: 21, totalPages: 3 })
    expect(paginateNav(parsePage({ limit: 10 }), 21)).toMatchObject({ hasNext: true, hasPrevious: false })
    expect(paginateNav(parsePage({ page: 2, limit: 10 }), 21)).toMatchObject({ hasNext: true, hasPrevious: true })
    expect(paginateNav(parsePage({ page: 3, limit: 10 }), 21)).toMatchObject({ hasNext: false, hasPrevious: true })
    expect(paginateNav(parsePage({}), 0)).toMatchObject({ totalPages: 0, hasNext: false, hasPrevious: false })
  })

  it('have a previous page on page 2 of a list of one', () => {
    const second = parsePage({ page: 2, limit: 10 })
    expect(paginateNav(second, 1)).toMatchObject({ totalPages: 1, hasNext: false, hasPrevious: true })
    expect(paginateNav(second, 0)).toMatchObject({ totalPages: 0, hasNext: false, hasPrevious: false })
  })
})
