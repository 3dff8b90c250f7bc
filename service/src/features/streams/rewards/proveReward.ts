import { toUnixSeconds } from '../../../kernel/clock.js'
import type { Queryable } from '../../../postgres/pool.js'
import { findHeld } from '../committedRewards.js'
import { listRoots } from '../storeEvents.js'
import { listFiles } from '../storeReadings.js'
import { findRewardFile } from '../storeSnapshots.js'
import { buildTree } from '../tree.js'
import { decodeRewardFile } from './rewardFile.js'

/** A wallet's reward by a root, with the reward file the root was built of. */
export type ProvenReward = { root: string; at: Date; hash: string; text: string; cumulative: bigint; path: string[] }

/** The reason a reward cannot be proved. */
export type Unproved = 'no root' | 'no file' | 'nothing earned'

/** Proves the reward of a wallet (lower-case) by our newest confirmed root that the stream's contract still holds. */
export async function proveReward(db: Queryable, streamId: string, wallet: string): Promise<ProvenReward | Unproved> {
  const held = findHeld(await listRoots(db, [streamId]))
  if (!held) return 'no root'
  const { root, rootAt } = held
  // Two files are of one instant where the first of its snapshots was vetoed.
  for (const { hash, at } of await listFiles(db, streamId)) {
    if (toUnixSeconds(at) !== toUnixSeconds(rootAt)) continue
    const text = await findRewardFile(db, hash)
    const result = text === undefined ? undefined : decodeRewardFile(text).result
    const tree = result && buildTree(result.leaves)
    if (text === undefined || tree?.root !== root) continue
    const leaf = result?.leaves.find((each) => each.wallet === wallet)
    const path = tree.findProof(wallet)
    return leaf && path ? { root, at, hash, text, cumulative: leaf.cumulative, path } : 'nothing earned'
  }
  return 'no file'
}
