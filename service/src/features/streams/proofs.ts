import type { Queryable } from '../../postgres/pool.js'
import type { HeldRoot } from './storeEvents.js'
import { findAmount, listLeaves } from './storeReadings.js'
import { buildTree, type MerkleTree } from './tree.js'

type Root = Pick<HeldRoot, 'streamId' | 'root' | 'rootAt'>

/** Cached trees of this process, the last used last; together at most `bytesMax`. The root is the key. */
const trees = new Map<string, Promise<MerkleTree>>()
const sizes = new Map<string, number>()
const bytesMax = 256 * 1024 * 1024

/** The claimable amount of a wallet by each root, with its proof; streams without earnings of the wallet are left out. */
export async function findProofs(
  db: Queryable,
  roots: readonly Root[],
  wallet: string,
): Promise<ReadonlyMap<string, { amount: bigint; proof: readonly string[] }>> {
  const found = new Map<string, { amount: bigint; proof: readonly string[] }>()
  for (const root of roots) {
    const amount = await findAmount(db, { ...root, wallet })
    if (amount === undefined) continue
    const tree = await openTree(db, root)
    const proof = tree.findProof(wallet)
    if (proof) found.set(root.streamId, { amount, proof })
  }
  return found
}

function openTree(db: Queryable, root: Root): Promise<MerkleTree> {
  const key = `${root.streamId} ${root.root}`
  const opened = trees.get(key) ?? readTree(db, root, key)
  trees.delete(key)
  trees.set(key, opened)
  return opened
}

function readTree(db: Queryable, root: Root, key: string): Promise<MerkleTree> {
  const reading = listLeaves(db, root).then((leaves) => {
    const tree = buildTree(leaves)
    if (tree?.root !== root.root) throw new Error(`the amounts kept for the root ${root.root} make another root`)
    sizes.set(key, tree.size)
    makeRoom()
    return tree
  })
  reading.catch(() => trees.delete(key))
  return reading
}

function makeRoom(): void {
  let total = [...sizes.values()].reduce((sum, size) => sum + size, 0)
  for (const key of [...trees.keys()]) {
    if (total <= bytesMax || sizes.size === 1) return
    const size = sizes.get(key)
    // One that is still being read has none yet.
    if (size === undefined) continue
    trees.delete(key)
    sizes.delete(key)
    total -= size
  }
}
