import { type BlockHasher, free, leafAt, openHasher } from './keccak.js'

/** All a wallet (lower-case) has earned so far. */
export type Leaf = { wallet: string; cumulative: bigint }

export type MerkleTree = {
  root: string
  /** Bytes it holds. */
  size: number
  /** The siblings of a wallet's leaf, from the bottom up; undefined: it has none. */
  findProof(wallet: string): string[] | undefined
}

const nodeBytes = 32
const addressBytes = 20

/** keccak256(abi.encodePacked(address, uint256)), written to `out`. */
function hashLeafInto(hasher: BlockHasher, { wallet, cumulative }: Leaf, out: number): void {
  const { bytes, view } = hasher
  bytes.write(wallet.slice(2), leafAt, 'hex')
  let rest = cumulative
  for (let word = 3; word >= 0; word--) {
    view.setBigUint64(leafAt + addressBytes + word * 8, BigInt.asUintN(64, rest))
    rest >>= 64n
  }
  hasher.hashLeaf(out)
}

/** Hashes two nodes in sorted order. */
function hashPairInto(hasher: BlockHasher, left: number, right: number, out: number): void {
  const { bytes } = hasher
  let at = 0
  while (at < nodeBytes - 1 && bytes[left + at] === bytes[right + at]) at += 1
  if ((bytes[left + at] ?? 0) <= (bytes[right + at] ?? 0)) hasher.hashPair(left, right, out)
  else hasher.hashPair(right, left, out)
}

const single = openHasher(3 * nodeBytes)

/** The leaf of a tree: keccak256(abi.encodePacked(address, uint256)). */
export function hashLeaf(leaf: Leaf): Buffer {
  hashLeafInto(single, leaf, free)
  return Buffer.from(single.bytes.subarray(free, free + nodeBytes))
}

/**
 * The tree of leaves in the order of their addresses: a complete binary tree whose pairs are hashed in sorted order, so that
 * a proof needs no sides. Node i has the children 2i + 1 and 2i + 2; leaves stand at the end, the first of them last.
 * Undefined without leaves.
 */
export function buildTree(leaves: readonly Leaf[]): MerkleTree | undefined {
  if (leaves.length === 0) return undefined
  const sorted = isSorted(leaves) ? leaves : [...leaves].sort((a, b) => (a.wallet < b.wallet ? -1 : 1))
  const count = sorted.length
  const wallets = Buffer.alloc(count * addressBytes)
  const hasher = openHasher((2 * count - 1) * nodeBytes)
  const placeOf = (node: number) => free + node * nodeBytes
  sorted.forEach((leaf, index) => {
    hashLeafInto(hasher, leaf, placeOf(2 * count - 2 - index))
    hasher.bytes.copy(wallets, index * addressBytes, leafAt, leafAt + addressBytes)
  })
  for (let node = count - 2; node >= 0; node--)
    hashPairInto(hasher, placeOf(2 * node + 1), placeOf(2 * node + 2), placeOf(node))
  const hexOf = (node: number) => `0x${hasher.bytes.toString('hex', placeOf(node), placeOf(node + 1))}`
  return {
    root: hexOf(0),
    size: hasher.bytes.length + wallets.length,
    findProof: (wallet) => {
      const index = findIndex(wallets, Buffer.from(wallet.slice(2), 'hex'))
      if (index === undefined) return undefined
      const proof: string[] = []
      for (let node = 2 * count - 2 - index; node > 0; node = (node - 1) >> 1)
        proof.push(hexOf(node % 2 === 1 ? node + 1 : node - 1))
      return proof
    },
  }
}

/** Where an address stands among sorted ones. */
function findIndex(wallets: Buffer, wallet: Buffer): number | undefined {
  let [low, high] = [0, wallets.length / addressBytes - 1]
  while (low <= high) {
    const middle = (low + high) >> 1
    const order = wallets.compare(wallet, 0, addressBytes, middle * addressBytes, (middle + 1) * addressBytes)
    if (order === 0) return middle
    if (order < 0) low = middle + 1
    else high = middle - 1
  }
  return undefined
}

function isSorted(leaves: readonly Leaf[]): boolean {
  for (let index = 1; index < leaves.length; index++)
    if ((leaves[index - 1]?.wallet ?? '') >= (leaves[index]?.wallet ?? '')) return false
  return true
}

/** Whether a proof leads from a leaf to a root: what the contract checks. */
export function verifyProof(root: string, leaf: Leaf, proof: readonly string[]): boolean {
  const [own, other] = [free, free + nodeBytes]
  hashLeafInto(single, leaf, own)
  for (const sibling of proof) {
    single.bytes.write(sibling.slice(2), other, 'hex')
    hashPairInto(single, own, other, own)
  }
  return `0x${single.bytes.toString('hex', own, own + nodeBytes)}` === root
}
