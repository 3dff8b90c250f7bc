import type { OpenRequestId } from '../adapter.js'

/** Most requests of one side of a wallet in one vault that are asked about: those with the most left. */
const idsMax = 32

/**
 * The ids a vault is asked about one side of a wallet's requests, and how many it is not asked about. Requests with ids of
 * their own are asked by id; where none is known, id 0 is asked, under which vaults keep all of a controller together, or
 * the newest: never both, or it would count twice. `open`: those with the most left first. Pure.
 */
export function chooseRequestIds(
  open: readonly Pick<OpenRequestId, 'kind' | 'requestId'>[],
  kind: OpenRequestId['kind'],
): { ids: bigint[]; unasked: number } {
  const own = open.filter((each) => each.kind === kind && each.requestId !== '0')
  const all = own.length > 0 ? [...new Set(own.map(({ requestId }) => BigInt(requestId)))] : [0n]
  return { ids: all.slice(0, idsMax), unasked: Math.max(0, all.length - idsMax) }
}
