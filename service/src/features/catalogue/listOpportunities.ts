import type { CatalogueContext } from './catalogue.js'
import { type Listing, preparePage, selectPage } from './listing.js'
import { viewOf } from './view.js'

export async function listOpportunities(ctx: CatalogueContext, input: Listing) {
  const view = viewOf(ctx.catalogue.current())
  return preparePage(selectPage(view, input), input.includeDeltas === true)
}
