import { notFound } from '../../kernel/errors.js'
import type { CatalogueContext } from './catalogue.js'
import { nameOf, prepare } from './prepared.js'
import { viewOf } from './view.js'

/** A listed opportunity; an inactive one is not found. */
export async function getOpportunity(ctx: CatalogueContext, input: { id: string; includeDeltas?: boolean }) {
  const snapshot = ctx.catalogue.current()
  const entry = viewOf(snapshot).byId.get(input.id.toLowerCase())
  if (!entry) throw notFound('opportunity not found')
  const includeDeltas = input.includeDeltas === true
  return prepare(snapshot, nameOf('GetOpportunity', { id: entry.id, includeDeltas }), () => entry.bytes(includeDeltas))
}
