import { type PageInput, paginate, parsePage } from '../../kernel/page.js'
import type { CatalogueContext } from '../catalogue/index.js'
import { toActivity } from './activity.js'
import { listActivity, type SortBy, type SortOrder } from './storePages.js'

export type ListInteractionsInput = PageInput & {
  interactionType?: 'deposit' | 'withdraw'
  distributorId?: string
  opportunityId?: string
  productId?: string
  sortBy?: SortBy
  sortOrder?: SortOrder
}

/** Verified deposits and withdrawals. Unknown distributors, opportunities and products have none. */
export async function listInteractions(ctx: CatalogueContext, input: ListInteractionsInput) {
  const request = parsePage(input)
  const { distributorId, opportunityId, productId } = input
  const filter = { kind: input.interactionType, distributorId, opportunityId, productId }
  const sort = { by: input.sortBy ?? 'date', order: input.sortOrder ?? 'desc' }
  const { rows, total } = await listActivity(ctx.db, filter, request, sort)
  return { data: rows.map(toActivity), pagination: paginate(request, total) }
}
