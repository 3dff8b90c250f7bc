import { createHash } from 'node:crypto'
import T, { type Static } from 'typebox'
import { PreparedBody } from '../../../kernel/operation.js'
import { type Pagination, paginate, parsePage } from '../../../kernel/page.js'
import { OpenEnum, pageQuery } from '../../../kernel/wire.js'
import type { OpportunityRecord } from '../opportunityRecord.js'
import { type Bits, countBits, hasBit } from './bits.js'
import { filterQuery, selectBits } from './filter.js'
import { sortOptions, sortOrders } from './sort.js'
import { type CatalogueView, serialise } from './view.js'

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
  sortBy: T.Optional(
    OpenEnum(
      sortOptions.map((option) => option.value),
      { default: 'tvl' },
    ),
  ),
  sortOrder: T.Optional(OpenEnum(sortOrders, { default: 'desc' })),
})

export type Listing = Static<typeof ListingQuery>

export type OpportunityPage = { records: readonly OpportunityRecord[]; pagination: Pagination }

/** Filters, sorts and pages; `within` limits the list to some positions. */
export function selectPage(view: CatalogueView, listing: Listing, within?: Bits): OpportunityPage {
  const request = parsePage(listing)
  const found = selectBits(view, listing, within)
  const records: OpportunityRecord[] = []
  let skipped = 0
  for (const position of view.order(listing.sortBy ?? 'tvl', listing.sortOrder ?? 'desc')) {
    if (records.length === request.limit) break
    if (!hasBit(found, position)) continue
    const record = view.listed[position]
    if (skipped < request.offset) skipped++
    else if (record) records.push(record)
  }
  return { records, pagination: paginate(request, countBits(found)) }
}

const open = Buffer.from('{"data":[')

/** The page as JSON, put together from the bytes of its items, which are not copied; its digest from theirs. */
export function writePage({ records, pagination }: OpportunityPage, includeDeltas: boolean): PreparedBody {
  const parts: Uint8Array[] = [open]
  const hash = createHash('sha256')
  records.forEach((record, index) => {
    const { bytes, following, digest } = serialise(record, includeDeltas)
    parts.push(index === 0 ? bytes : following)
    hash.update(digest)
  })
  const close = `],"pagination":${JSON.stringify(pagination)}}`
  parts.push(Buffer.from(close))
  return new PreparedBody(parts, hash.update(close).digest())
}
