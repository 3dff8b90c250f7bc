import T, { type Static } from 'typebox'
import { type Pagination, paginate, parsePage } from '../../kernel/page.js'
import { pageQuery } from '../../kernel/wire.js'
import { compileFilter, filterQuery } from './filter.js'
import { sortOptions, sortOrders } from './sort.js'
import type { CatalogueView, Listed } from './view.js'

export const includeDeltasQuery = {
  includeDeltas: T.Optional(
    T.Boolean({ description: 'Adds TVL, LP count and APY with their movement over the trailing 1, 7 and 30 days' }),
  ),
}

/** The query of both opportunity lists. */
export const ListingQuery = T.Object({
  ...pageQuery,
  ...filterQuery,
  ...includeDeltasQuery,
  sortBy: T.Optional(T.Enum(sortOptions.map((option) => option.value))),
  sortOrder: T.Optional(T.Enum([...sortOrders])),
})

export type Listing = Static<typeof ListingQuery>

export type ListedPage = { entries: readonly Listed[]; pagination: Pagination }

/** Filters, sorts and pages; `within` limits the list to some ids. */
export function selectPage(view: CatalogueView, listing: Listing, within?: ReadonlySet<string>): ListedPage {
  const request = parsePage(listing)
  const sorted = view.sorted(listing.sortBy ?? 'tvl', listing.sortOrder ?? 'desc')
  const test = compileFilter(listing)
  const inside = within ? sorted.filter((entry) => within.has(entry.id)) : sorted
  const found = test ? inside.filter(test) : inside
  return {
    entries: found.slice(request.offset, request.offset + request.limit),
    pagination: paginate(request, found.length),
  }
}

const open = Buffer.from('{"data":[')
const comma = Buffer.from(',')

/** The page as JSON, put together from the bytes of its items. */
export function writePage({ entries, pagination }: ListedPage, includeDeltas: boolean): Uint8Array {
  const parts: Uint8Array[] = [open]
  entries.forEach((entry, index) => {
    if (index > 0) parts.push(comma)
    parts.push(entry.bytes(includeDeltas))
  })
  parts.push(Buffer.from(`],"pagination":${JSON.stringify(pagination)}}`))
  return Buffer.concat(parts)
}
