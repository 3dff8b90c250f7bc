import { notFound } from '../../kernel/errors.js'
import type { CatalogueContext } from './catalogue.js'
import { type Listing, selectPage, writePage } from './listing.js'
import { nameOf, prepare } from './prepared.js'
import { findDistributor } from './snapshot.js'
import { viewOf } from './view.js'

const none: ReadonlySet<string> = new Set()

/** What a distributor shows: its configured opportunities and those of its configured products. */
export async function listOpportunitiesByDistributor(
  ctx: CatalogueContext,
  input: Listing & { distributorId: string },
) {
  const snapshot = ctx.catalogue.current()
  if (!findDistributor(snapshot, input.distributorId)) throw notFound('distributor not found')
  const shown = snapshot.distributorOpportunities.get(input.distributorId) ?? none
  return prepare(snapshot, nameOf('ListOpportunitiesByDistributor', input), () =>
    writePage(selectPage(viewOf(snapshot), input, shown), input.includeDeltas === true),
  )
}
