import type { ClaimedRequest } from '../positions/index.js'
import type { Activity } from './activity.js'

type Place = readonly [block: number, log: number]

/**
 * Entries of a transaction, oldest request first; an entry without one is as old as its own event. A request nobody
 * brought counts for whom the claim's own code names (`ownDistributorId`). Equally old entries stay as they are. Pure.
 */
export function orderByRequest(
  entries: readonly Activity[],
  claimed: readonly ClaimedRequest[],
  ownDistributorId: string | undefined,
): Activity[] {
  const ages = new Map<string, Place>()
  for (const { chainId, logIndex, distributorId, requestBlock, requestLog } of claimed) {
    const key = keyOf(chainId, logIndex, distributorId ?? ownDistributorId)
    const known = ages.get(key)
    const place = [requestBlock, requestLog] as const
    if (known === undefined || compare(place, known) < 0) ages.set(key, place)
  }
  const ageOf = ({ chainId, logIndex, distributorId, blockNumber }: Activity): Place =>
    ages.get(keyOf(chainId, logIndex, distributorId)) ?? [blockNumber, logIndex]
  return [...entries].sort((a, b) => a.chainId - b.chainId || compare(ageOf(a), ageOf(b)))
}

const keyOf = (chainId: number, logIndex: number, distributorId: string | undefined) =>
  `${chainId}:${logIndex}:${distributorId ?? ''}`

const compare = ([block, log]: Place, [otherBlock, otherLog]: Place) => block - otherBlock || log - otherLog
