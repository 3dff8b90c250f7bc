/** A page asked for: `page` from 1, `limit` items, rows to skip. */
export type PageRequest = { page: number; limit: number; offset: number }

export type PageInput = { page?: number; limit?: number; pageSize?: number; pageLimit?: number }

export type Pagination = { page: number; limit: number; total: number; totalPages: number }
export type PaginationNav = Pagination & { hasNext: boolean; hasPrevious: boolean }

const limitDefault = 20

/**
 * Reads the four pagination members. `page` below 1 is 1; `limit` below 1 is 20, above `limitMax` is `limitMax`;
 * `pageSize` and `pageLimit` stand in for `limit`, in that order.
 */
export function parsePage(input: PageInput, limitMax = 100): PageRequest {
  const page = Math.max(1, input.page ?? 1)
  const asked = input.limit ?? input.pageSize ?? input.pageLimit ?? limitDefault
  const limit = asked < 1 ? limitDefault : Math.min(asked, limitMax)
  return { page, limit, offset: Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER) }
}

/** The `pagination` member of a page. */
export function paginate(request: PageRequest, total: number): Pagination {
  return { page: request.page, limit: request.limit, total, totalPages: Math.ceil(total / request.limit) }
}

/** The `pagination` member with `hasNext` and `hasPrevious`. */
export function paginateNav(request: PageRequest, total: number): PaginationNav {
  const pagination = paginate(request, total)
  return { ...pagination, hasNext: request.page < pagination.totalPages, hasPrevious: request.page > 1 && total > 0 }
}
