import type { OpenRequestId } from '../adapter.js'

/** Most requests of one side of a wallet in one vault that are asked about: those with the most left. */
const idsMax = 32

/**
 * The request ids to read for one side of a wallet's requests, and how many are left out. Requests with their own ids are read
 * by id. If no id is known, id 0 is read, under which vaults keep all or the newest of a controller's requests. Never both:
 * amounts would count twice. `open`: those with the most left first. Pure.
 */
export function chooseRequestIds(
  open: readonly Pick<OpenRequestId, 'kind' | 'requestId'>[],
  kind: OpenRequestId['kind'],
): { ids: bigint[]; unasked: number } {
  const own = open.filter((each) => each.kind === kind && each.requestId !== '0')
  const all = own.length > 0 ? [...new Set(own.map(({ requestId }) => BigInt(requestId)))] : [0n]
  return { ids: all.slice(0, idsMax), unasked: Math.max(0, all.length - idsMax) }
}
