import type { Queryable } from '../../postgres/pool.js'
import { type HeldRoot, listRoots } from './storeEvents.js'
import { findAmount, listStreamsWith } from './storeReadings.js'
import { listStreams } from './storeStreams.js'

/** The earnings of a wallet in a stream by the newest claimable root; claims are not subtracted. */
export type CommittedReward = {
  streamId: string
  chainId: number
  contract: string
  rewardToken: string
  targetChainId: number
  targetToken: string
  /** It is owed all the same, and can be claimed once the pause is over. */
  claimPaused: boolean
  amount: bigint
}

/** The committed rewards of a wallet (lower-case), of streams that pay a token. */
export async function listCommittedRewards(db: Queryable, wallet: string): Promise<CommittedReward[]> {
  // Most wallets have none, which is told without what the chain says of each stream.
  const ids = await listStreamsWith(db, wallet)
  if (ids.length === 0) return []
  const streams = await listStreams(db, { ids })
  const roots = await listRoots(
    db,
    streams.map(({ id }) => id),
  )
  const found = await Promise.all(
    streams.map(async (stream): Promise<CommittedReward[]> => {
      const { id: streamId, chainId, contract, rewardToken, targetChainId, targetToken, claimPaused } = stream
      const root = findHeld(roots.filter((each) => each.streamId === streamId))
      if (!root || chainId === null || contract === null || rewardToken === null) return []
      const amount = await findAmount(db, { ...root, wallet })
      if (amount === undefined) return []
      return [{ streamId, chainId, contract, rewardToken, targetChainId, targetToken, claimPaused, amount }]
    }),
  )
  return found.flat()
}

/** Of roots, the newest first: the newest of ours that is confirmed, if at most one has been mined after it. */
export function findHeld(roots: readonly HeldRoot[]): HeldRoot | undefined {
  const at = roots.findIndex(({ isConfirmed, isOurs }) => isConfirmed && isOurs)
  return at >= 0 && at <= 1 ? roots[at] : undefined
}
