import { notFound } from '../../kernel/errors.js'
import type { Caller } from '../../kernel/operation.js'
import { findDepth } from '../../sync/storeDepths.js'
import { assertPaid, getOwnStream, toAdminOperation } from './adminOperations.js'
import type { StreamContext } from './context.js'
import { findOpenOperation, isBlocking } from './storeOperations.js'

/** The operation that blocks a stream, with the parameters that were signed for it. */
export async function getActiveAdminOperation(ctx: StreamContext, input: { id: string }, caller: Caller) {
  const stream = await getOwnStream(ctx, input.id, caller)
  const operation = await findOpenOperation(ctx.db, stream.id)
  if (!operation) throw notFound('no operation is active on the stream')
  assertPaid(stream)
  const depth = await findDepth(ctx.db, stream.chainId)
  if (!isBlocking(operation, depth)) throw notFound('no operation is active on the stream')
  return toAdminOperation(stream, operation, depth, ctx.clock.now())
}
