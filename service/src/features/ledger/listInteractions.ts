import { invalidArgument } from '../../kernel/errors.js'
import { type PageInput, paginate, parsePage } from '../../kernel/page.js'
import type { Queryable } from '../../postgres/pool.js'
import type { CatalogueContext } from '../catalogue/index.js'
import { type Activity, toActivity } from './activity.js'
import { type ActivityFilter, listActivity, listVerified, type SortBy, type SortOrder } from './storePages.js'

/** Reads entries in the order in which they were told as confirmed, after a cursor or an entry. */
export type ReadConfirmed = (
  db: Queryable,
  input: { after: string; limit: number },
) => Promise<{ entries: { id: string; cursor: string }[]; from: string; next: string; isMore: boolean }>

export type LedgerContext = CatalogueContext & { readonly readConfirmed: ReadConfirmed }

export type ListInteractionsInput = PageInput & {
  interactionType?: 'deposit' | 'withdraw'
  distributorId?: string
  opportunityId?: string
  productId?: string
  sortBy?: SortBy
  sortOrder?: SortOrder
  after?: string
}

/** Told entries that are looked at in one step, and at most in one call. A page of rare entries may be empty: `next` goes on. */
const batchSize = 1_000
const batchesMax = 20

/**
 * Verified deposits and withdrawals. Unknown distributors, opportunities and products have none. With `after` they come in the
 * order in which they were told, and `next` goes on; throws 410 where the place of `after` is not in the feed any more.
 */
export async function listInteractions(ctx: LedgerContext, input: ListInteractionsInput) {
  const request = parsePage(input)
  const { distributorId, opportunityId, productId, after } = input
  const filter = { kind: input.interactionType, distributorId, opportunityId, productId }
  if (after !== undefined) {
    refuse(input, 'sortBy')
    refuse(input, 'page')
    return listAfter(ctx, { filter, after, limit: request.limit })
  }
  const sort = { by: input.sortBy ?? 'date', order: input.sortOrder ?? 'desc' }
  const { rows, total } = await listActivity(ctx.db, filter, request, sort)
  return { data: rows.map(toActivity), pagination: paginate(request, total) }
}

function refuse(input: ListInteractionsInput, name: 'sortBy' | 'page'): void {
  if (input[name] === undefined) return
  const message = 'cannot be used with after, which lists the oldest first and goes on by next'
  throw invalidArgument(`${name} ${message}`, { context: { violations: [{ path: name, message }] } })
}

async function listAfter(
  { db, readConfirmed }: LedgerContext,
  { filter, after, limit }: { filter: ActivityFilter; after: string; limit: number },
): Promise<{ data: Activity[]; next: string }> {
  const data: Activity[] = []
  const isFiltered = Object.values(filter).some((each) => each !== undefined)
  let place = after
  for (let batches = 0; batches < batchesMax; batches++) {
    const { entries, from, next, isMore } = await readConfirmed(db, {
      after: place,
      limit: isFiltered ? batchSize : limit,
    })
    const ids = entries.map(({ id }) => id)
    const { standing, rows } = await listVerified(db, filter, ids)
    const listed = new Map(rows.map((row) => [row.id, row]))
    place = from
    for (const { id, cursor } of entries) {
      // An entry that stands in the feed and cannot be read is being derived anew: the next call finds it, or what was told since.
      if (!standing.has(id)) return { data, next: place }
      place = cursor
      const row = listed.get(id)
      if (row && data.push(toActivity(row)) === limit) return { data, next: place }
    }
    place = next
    if (!isMore) break
  }
  return { data, next: place }
}
