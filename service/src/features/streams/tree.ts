import { createKeccak } from 'hash-wasm'

const keccak = await createKeccak(256)

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

/** keccak256(abi.encodePacked(address, uint256)). */
export function hashLeaf({ wallet, cumulative }: Leaf): Uint8Array {
  writeLeaf(packed, wallet, cumulative)
  return keccak.init().update(packed).digest('binary')
}

const packed = Buffer.alloc(addressBytes + nodeBytes)

function writeLeaf(into: Buffer, wallet: string, cumulative: bigint): void {
  into.write(wallet.slice(2), 0, 'hex')
  for (let word = 3, rest = cumulative; word >= 0; word--, rest >>= 64n)
    into.writeBigUInt64BE(rest & 0xffff_ffff_ffff_ffffn, addressBytes + word * 8)
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
  const nodes = Buffer.allocUnsafe((2 * count - 1) * nodeBytes)
  sorted.forEach((leaf, index) => {
    wallets.write(leaf.wallet.slice(2), index * addressBytes, 'hex')
    nodes.set(hashLeaf(leaf), (2 * count - 2 - index) * nodeBytes)
  })
  const pair = Buffer.alloc(2 * nodeBytes)
  for (let node = count - 2; node >= 0; node--) {
    const left = (2 * node + 1) * nodeBytes
    const right = left + nodeBytes
    // Nodes of one parent lie side by side.
    if (nodes.compare(nodes, right, right + nodeBytes, left, right) <= 0) nodes.copy(pair, 0, left, right + nodeBytes)
    else {
      nodes.copy(pair, 0, right, right + nodeBytes)
      nodes.copy(pair, nodeBytes, left, right)
    }
    nodes.set(keccak.init().update(pair).digest('binary'), node * nodeBytes)
  }
  const hexOf = (node: number) => `0x${nodes.toString('hex', node * nodeBytes, (node + 1) * nodeBytes)}`
  return {
    root: hexOf(0),
    size: nodes.length + wallets.length,
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
  let node = Buffer.from(hashLeaf(leaf))
  for (const text of proof) {
    const sibling = Buffer.from(text.slice(2), 'hex')
    const pair = node.compare(sibling) <= 0 ? [node, sibling] : [sibling, node]
    node = Buffer.from(keccak.init().update(Buffer.concat(pair)).digest('binary'))
  }
  return `0x${node.toString('hex')}` === root
}
