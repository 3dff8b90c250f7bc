import { keccak256 } from '../../kernel/keccak.js'

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

/** Buffer for the input of a hash; nothing else runs between writing and hashing. */
const leafInput = new Uint8Array(addressBytes + 32)
const leafWords = new Uint32Array(leafInput.buffer)
const leafAmount = new DataView(leafInput.buffer, addressBytes)
const pairInput = new Uint8Array(2 * nodeBytes)
const pairWords = new Uint32Array(pairInput.buffer)
const addressWords = addressBytes / 4

function hashPair(left: Uint8Array, right: Uint8Array): Uint8Array {
  const isSorted = Buffer.compare(left, right) <= 0
  pairInput.set(isSorted ? left : right, 0)
  pairInput.set(isSorted ? right : left, nodeBytes)
  return keccak256(pairInput)
}

/** The leaf of a tree: keccak256(abi.encodePacked(address, uint256)). */
export function hashLeaf({ wallet, cumulative }: Leaf): Uint8Array {
  leafInput.set(Buffer.from(wallet.slice(2), 'hex'))
  return hashAmount(cumulative)
}

/** Whether the upper half of the amount that is written is not zero. */
let hasUpper = false

/** The leaf of the wallet in the buffer. Bits above 64 are cut off and written with the next word. */
function hashAmount(cumulative: bigint): Uint8Array {
  leafAmount.setBigUint64(24, cumulative)
  const rest = cumulative >> 64n
  leafAmount.setBigUint64(16, rest)
  const upper = rest >> 64n
  if (hasUpper || upper !== 0n) {
    leafAmount.setBigUint64(8, upper)
    leafAmount.setBigUint64(0, upper >> 64n)
    hasUpper = upper !== 0n
  }
  return keccak256(leafInput)
}

/** Addresses as bytes, one after the other: read many at a time, for that takes a third of what each by itself takes. */
function readWallets(leaves: readonly Leaf[]): Buffer {
  const wallets = Buffer.alloc(leaves.length * addressBytes)
  const atOnce = 1_000
  for (let from = 0; from < leaves.length; from += atOnce) {
    const digits = leaves.slice(from, from + atOnce).map(({ wallet }) => wallet.slice(2))
    wallets.write(digits.join(''), from * addressBytes, 'hex')
  }
  return wallets
}

/**
 * The tree of leaves in the order of their addresses: a complete binary tree whose pairs are hashed in sorted order, so that
 * a proof needs no sides. Node i has the children 2i + 1 and 2i + 2; leaves stand at the end, the first of them last.
 * Undefined without leaves.
 */
export function buildTree(leaves: readonly Leaf[]): MerkleTree | undefined {
  if (leaves.length === 0) return undefined
  const count = leaves.length
  let sorted = leaves
  let wallets = readWallets(sorted)
  if (!isSorted(wallets)) {
    sorted = [...leaves].sort((a, b) => (a.wallet < b.wallet ? -1 : 1))
    wallets = readWallets(sorted)
  }
  const nodes = new Uint8Array((2 * count - 1) * nodeBytes)
  const words = new Uint32Array(wallets.buffer, wallets.byteOffset, count * addressWords)
  let index = 0
  for (const { cumulative } of sorted) {
    for (let word = 0; word < addressWords; word++) leafWords[word] = words[index * addressWords + word] ?? 0
    nodes.set(hashAmount(cumulative), (2 * count - 2 - index) * nodeBytes)
    index += 1
  }
  joinNodes(nodes, count - 2)
  const hexOf = (node: number) => `0x${Buffer.from(nodes.buffer, node * nodeBytes, nodeBytes).toString('hex')}`
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

/** Hashes all nodes above the leaves, the last first. Words are moved rather than bytes, and no node is made an object. */
function joinNodes(nodes: Uint8Array, last: number): void {
  const words = new Uint32Array(nodes.buffer)
  for (let node = last; node >= 0; node--) {
    // Siblings stand side by side.
    const left = (2 * node + 1) * nodeBytes
    const right = left + nodeBytes
    let byte = 0
    while (byte < nodeBytes - 1 && nodes[left + byte] === nodes[right + byte]) byte++
    const isSorted = (nodes[left + byte] ?? 0) <= (nodes[right + byte] ?? 0)
    const [first, second] = isSorted ? [left >> 2, right >> 2] : [right >> 2, left >> 2]
    for (let word = 0; word < 8; word++) {
      pairWords[word] = words[first + word] ?? 0
      pairWords[word + 8] = words[second + word] ?? 0
    }
    nodes.set(keccak256(pairInput), node * nodeBytes)
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

/** Whether each address is higher than the one before. */
function isSorted(wallets: Uint8Array): boolean {
  for (let next = addressBytes; next < wallets.length; next += addressBytes) {
    let byte = next
    while (byte < next + addressBytes - 1 && wallets[byte] === wallets[byte - addressBytes]) byte++
    if ((wallets[byte] ?? 0) <= (wallets[byte - addressBytes] ?? 0)) return false
  }
  return true
}

/** Whether a proof leads from a leaf to a root; the contract makes the same check. */
export function verifyProof(root: string, leaf: Leaf, proof: readonly string[]): boolean {
  const found = proof.reduce((node, sibling) => hashPair(node, Buffer.from(sibling.slice(2), 'hex')), hashLeaf(leaf))
  return `0x${Buffer.from(found).toString('hex')}` === root
}
