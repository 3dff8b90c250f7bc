import { type OutboundClass, OutboundError } from '../kernel/outbound.js'
import { RpcError } from '../rpc/rpc.js'

/** The cursor or the configuration has moved since the state was loaded: the turn ends, and the next one loads it again. */
export class CursorMoved extends Error {
  override readonly name = 'CursorMoved'
}

/** A block does not link to the tip: the common ancestor must be found. */
export class ForkFound extends Error {
  override readonly name = 'ForkFound'
}

/** Failures that a smaller window may avoid; some nodes refuse a range only by status. */
const tooMuchKinds = new Set<OutboundClass>(['too-large', 'timeout', 'client'])

/** A refusal that a smaller window may avoid. */
export function asksTooMuch(error: unknown): boolean {
  return error instanceof RpcError || (error instanceof OutboundError && tooMuchKinds.has(error.kind))
}

/** A node contradicted itself. */
export function isContradiction(error: unknown): boolean {
  return error instanceof OutboundError && error.kind === 'malformed'
}

/** A node failed to respond, or refused. */
export function isOfNode(error: unknown): boolean {
  return error instanceof RpcError || error instanceof OutboundError
}
