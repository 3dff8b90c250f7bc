import type { CatalogueContext } from './catalogue.js'
import { type Listing, selectPage, writePage } from './memory/listing.js'
import { nameOf, prepare } from './memory/prepared.js'
import { viewOf } from './memory/view.js'

export async function listOpportunities(ctx: CatalogueContext, input: Listing) {
  const snapshot = ctx.catalogue.current()
  return prepare(ctx, nameOf('ListOpportunities', input), () =>
    writePage(selectPage(viewOf(snapshot), input), input.includeDeltas === true),
  )
}
