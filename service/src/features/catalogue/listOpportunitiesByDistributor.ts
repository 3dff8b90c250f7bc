import { notFound } from '../../kernel/errors.js'
import { emptyBits } from './bits.js'
import type { CatalogueContext } from './catalogue.js'
import { type Listing, selectPage, writePage } from './listing.js'
import { nameOf, prepare } from './prepared.js'
import { findDistributor } from './snapshot.js'
import { viewOf } from './view.js'

/** What a distributor shows: its configured opportunities and those of its configured products. */
export async function listOpportunitiesByDistributor(
  ctx: CatalogueContext,
  input: Listing & { distributorId: string },
) {
  const snapshot = ctx.catalogue.current()
  if (!findDistributor(snapshot, input.distributorId)) throw notFound('distributor not found')
  return prepare(ctx, nameOf('ListOpportunitiesByDistributor', input), () => {
    const view = viewOf(snapshot)
    const shown = view.columns.distributors.get(input.distributorId) ?? emptyBits(view.columns.size)
    return writePage(selectPage(view, input, shown), input.includeDeltas === true)
  })
}
