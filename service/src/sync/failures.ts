import { type OutboundClass, OutboundError } from '../kernel/outbound.js'
import { RpcError } from '../rpc/rpc.js'

/** The chain, or its configuration, is not where a step believed it to be: the turn ends, and the next one looks again. */
export class CursorMoved extends Error {
  override readonly name = 'CursorMoved'
}

/** A block that was read does not stand on the tip: the common ancestor must be found. */
export class ForkFound extends Error {
  override readonly name = 'ForkFound'
}

/** Failures a smaller window may not meet; some nodes refuse a range by status alone. */
const tooMuchKinds = new Set<OutboundClass>(['too-large', 'timeout', 'client'])

/** A refusal that a smaller window may not meet. */
export function asksTooMuch(error: unknown): boolean {
  return error instanceof RpcError || (error instanceof OutboundError && tooMuchKinds.has(error.kind))
}

/** A node said something that does not hold together. */
export function isContradiction(error: unknown): boolean {
  return error instanceof OutboundError && error.kind === 'malformed'
}

/** A node failed to answer, or refused. */
export function isOfNode(error: unknown): boolean {
  return error instanceof RpcError || error instanceof OutboundError
}
