import { hasBytesAt } from './bytes.js'
import { decodeRlp, encodeRlp, numberBytes, type RlpValue } from './rlp.js'

/**
 * The Merkle-Patricia trie by which a block commits to its transactions and receipts (Ethereum yellow paper, appendix D):
 * a value's key is its index in RLP. Building it, the path to one value, and reading a value from a path.
 */

/** Keccak-256. */
export type Hash = (bytes: Uint8Array) => Uint8Array

type Node = { value: RlpValue; bytes: Uint8Array; next: readonly (Node | undefined)[]; skip: number }

/** A trie of a list of values: its root, and the nodes from the root to the value of an index. */
export type Trie = { root: Uint8Array; path(index: number): Uint8Array[] }

type Item = { key: readonly number[]; value: Uint8Array }

const nothing = new Uint8Array(0)
const keyOf = (index: number): number[] => [...encodeRlp(numberBytes(index))].flatMap((byte) => [byte >> 4, byte & 15])

/** The trie of values, each under its place in the list. The values may not be empty. */
export function buildTrie(values: readonly Uint8Array[], hash: Hash): Trie {
  const items = values.map((value, index) => ({ key: keyOf(index), value }))
  const top = items.length === 0 ? undefined : build(items, 0, hash)
  return {
    root: hash(top?.bytes ?? encodeRlp(nothing)),
    path(index) {
      const key = keyOf(index)
      const nodes: Uint8Array[] = []
      let at = 0
      for (let node = index < values.length ? top : undefined; node; ) {
        // A node shorter than its hash stands in the node above it.
        if (node === top || node.bytes.length >= 32) nodes.push(node.bytes)
        at += node.skip
        const branch: Node = node
        node = branch.next.length === 1 ? branch.next[0] : branch.next[key[at++] ?? 16]
      }
      return nodes
    },
  }
}

function build(items: readonly Item[], depth: number, hash: Hash): Node {
  const [first, ...others] = items
  if (!first) throw new RangeError('a node needs a value')
  if (others.length === 0) {
    const rest = first.key.slice(depth)
    return toNode([packNibbles(rest, true), first.value], [], rest.length)
  }
  let end = depth
  while (others.every(({ key }) => key[end] !== undefined && key[end] === first.key[end])) end++
  if (end > depth) {
    const below = build(items, end, hash)
    return toNode([packNibbles(first.key.slice(depth, end), false), toReference(below, hash)], [below], end - depth)
  }
  const groups: Item[][] = Array.from({ length: 16 }, () => [])
  for (const item of items) groups[item.key[depth] ?? 0]?.push(item)
  const next = groups.map((group) => (group.length === 0 ? undefined : build(group, depth + 1, hash)))
  // No index's key begins with another's: a branch holds no value of its own.
  return toNode([...next.map((node) => (node ? toReference(node, hash) : nothing)), nothing], next, 0)
}

function toNode(value: RlpValue, next: Node['next'], skip: number): Node {
  return { value, bytes: encodeRlp(value), next, skip }
}

const toReference = ({ value, bytes }: Node, hash: Hash): RlpValue => (bytes.length < 32 ? value : hash(bytes))

/** Half bytes with their kind: of a leaf or of an extension, an odd or an even number of them. */
function packNibbles(nibbles: readonly number[], isLeaf: boolean): Uint8Array {
  const isOdd = nibbles.length % 2
  const flag = (isLeaf ? 2 : 0) + isOdd
  const whole = isOdd ? [flag, ...nibbles] : [flag, 0, ...nibbles]
  return Uint8Array.from(
    { length: whole.length / 2 },
    (_, at) => ((whole[2 * at] ?? 0) << 4) | (whole[2 * at + 1] ?? 0),
  )
}

function unpackNibbles(packed: RlpValue | undefined): { nibbles: number[]; isLeaf: boolean } | undefined {
  if (!(packed instanceof Uint8Array) || packed.length === 0) return undefined
  const all = [...packed].flatMap((byte) => [byte >> 4, byte & 15])
  const flag = all[0] ?? 0
  if (flag > 3 || (flag % 2 === 0 && all[1] !== 0)) return undefined
  return { nibbles: all.slice(flag % 2 === 0 ? 2 : 1), isLeaf: flag >= 2 }
}

/**
 * The value of an index that a path proves under a root; undefined if it proves nothing. Every node has to be needed, to be
 * in its only form, and to hash to what the node above says of it. Never throws.
 */
export function readPath(
  { root, index, path }: { root: Uint8Array; index: number; path: readonly Uint8Array[] },
  hash: Hash,
): Uint8Array | undefined {
  const key = keyOf(index)
  let at = 0
  let used = 0
  let reference: RlpValue = root
  for (;;) {
    const node: RlpValue | undefined =
      reference instanceof Uint8Array ? open(reference, path[used++], used === 1, hash) : reference
    if (!node || node instanceof Uint8Array) return undefined
    let next: RlpValue | undefined
    if (node.length === 2) {
      const part = unpackNibbles(node[0])
      if (!part || part.nibbles.some((nibble, step) => nibble !== key[at + step])) return undefined
      at += part.nibbles.length
      if (part.isLeaf) {
        const value = node[1]
        const isWhole = at === key.length && used === path.length
        return isWhole && value instanceof Uint8Array && value.length > 0 ? value : undefined
      }
      next = part.nibbles.length > 0 ? node[1] : undefined
    } else if (node.length === 17) {
      const nibble = key[at++]
      next = nibble === undefined ? undefined : node[nibble]
    }
    if (next === undefined || (next instanceof Uint8Array ? next.length !== 32 : encodeRlp(next).length >= 32))
      return undefined
    reference = next
  }
}

/** The node that a hash names. */
function open(reference: Uint8Array, bytes: Uint8Array | undefined, isTop: boolean, hash: Hash): RlpValue | undefined {
  if (!bytes || reference.length !== 32 || (!isTop && bytes.length < 32)) return undefined
  return hasBytesAt(hash(bytes), 0, reference) ? decodeRlp(bytes) : undefined
}
