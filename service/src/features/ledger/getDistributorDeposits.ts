import { notFound } from '../../kernel/errors.js'
import { type PageInput, paginateNav, parsePage } from '../../kernel/page.js'
import { type CatalogueContext, findDistributor } from '../catalogue/index.js'
import { toActivity } from './activity.js'
import { listActivity } from './storePages.js'

export type GetDistributorDepositsInput = PageInput & {
  distributorId: string
  opportunityId?: string
  productId?: string
}

/** Verified deposits of one distributor, newest first. */
export async function getDistributorDeposits(ctx: CatalogueContext, input: GetDistributorDepositsInput) {
  const { distributorId, opportunityId, productId } = input
  if (!findDistributor(ctx.catalogue.current(), distributorId)) throw notFound('no such distributor')
  const request = parsePage(input)
  const filter = { kind: 'deposit' as const, distributorId, opportunityId, productId }
  const { rows, total } = await listActivity(ctx.db, filter, request)
  return { deposits: rows.map(toActivity), pagination: paginateNav(request, total) }
}
