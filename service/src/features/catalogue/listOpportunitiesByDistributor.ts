import { notFound } from '../../kernel/errors.js'
import type { CatalogueContext } from './catalogue.js'
import { type Listing, selectPage, writePage } from './memory/listing.js'
import { nameOf, prepare } from './memory/prepared.js'
import { findDistributor } from './memory/snapshot.js'
import { viewOf } from './memory/view.js'

/** The opportunities of a distributor: its configured ones and those of its configured products. */
export async function listOpportunitiesByDistributor(
  ctx: CatalogueContext,
  input: Listing & { distributorId: string },
) {
  const snapshot = ctx.catalogue.current()
  if (!findDistributor(snapshot, input.distributorId)) throw notFound('no such distributor')
  return prepare(ctx, nameOf('ListOpportunitiesByDistributor', input), () => {
    const view = viewOf(snapshot)
    const shown = view.columns.shownBy(input.distributorId)
    return writePage(selectPage(view, input, shown), input.includeDeltas === true)
  })
}
