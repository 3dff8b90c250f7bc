import { notFound } from '../../kernel/errors.js'
import { PreparedBody } from '../../kernel/operation.js'
import type { CatalogueContext } from './catalogue.js'
import { viewOf } from './view.js'

/** A listed opportunity; an inactive one is not found. */
export async function getOpportunity(ctx: CatalogueContext, input: { id: string; includeDeltas?: boolean }) {
  const entry = viewOf(ctx.catalogue.current()).byId.get(input.id.toLowerCase())
  if (!entry) throw notFound('opportunity not found')
  return new PreparedBody(entry.bytes(input.includeDeltas === true))
}
