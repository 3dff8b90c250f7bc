import { notFound } from '../../kernel/errors.js'
import { PreparedBody } from '../../kernel/operation.js'
import type { CatalogueContext } from './catalogue.js'
import { nameOf, prepare } from './memory/prepared.js'
import { findOpportunity } from './memory/snapshot.js'
import { serialise } from './memory/view.js'

/** A listed opportunity; an inactive one is not found. */
export async function getOpportunity(ctx: CatalogueContext, input: { id: string; includeDeltas?: boolean }) {
  const snapshot = ctx.catalogue.current()
  const record = findOpportunity(snapshot, input.id)
  if (!record?.listed) throw notFound('no such opportunity')
  const includeDeltas = input.includeDeltas === true
  return prepare(ctx, nameOf('GetOpportunity', { id: record.id, includeDeltas }), () => {
    const { bytes, digest } = serialise(record, includeDeltas)
    return new PreparedBody([bytes], digest)
  })
}
