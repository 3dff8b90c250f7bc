import { keccak256 } from '../kernel/keccak.js'
import type { Bloom, RawLog } from './raw.js'

const length = 256
const formPattern = /^0x[0-9a-fA-F]{512}$/
/** Chains that make no blooms give none, or one of all bits: neither says anything. */
const allBits = /^0xf+$/i

/** A header's bloom; undefined where it says nothing. An empty one says that there are no logs, where blooms are made. */
export function readBloom(value: unknown): Bloom | undefined {
  if (typeof value !== 'string' || !formPattern.test(value) || allBits.test(value)) return undefined
  return bytesOf(value)
}

/** Bytes of 0x text, which its readers have checked; never a Buffer, whose slices share its memory. */
function bytesOf(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text.slice(2), 'hex'))
}

/** Whether any bit is set. */
export function hasBits(bloom: Bloom): boolean {
  return bloom.some((byte) => byte !== 0)
}

/** A bit by its byte and its mask there. */
type Bit = readonly [byte: number, mask: number]

const knownMax = 50_000
/** Addresses and topics come again and again; hashing them is what a bloom costs. */
const known = new Map<string, readonly Bit[]>()

function bitsOf(item: string): readonly Bit[] {
  const found = known.get(item)
  if (found) return found
  const digest = keccak256(bytesOf(item))
  const bits = [0, 2, 4].map((at): Bit => {
    const bit = (((digest[at] ?? 0) << 8) | (digest[at + 1] ?? 0)) & 2047
    return [length - 1 - (bit >> 3), 1 << (bit & 7)]
  })
  if (known.size >= knownMax) known.clear()
  known.set(item, bits)
  return bits
}

/** Whether a block of this bloom may have a log of this address or with this topic (lower-case). */
export function mayHold(bloom: Bloom, item: string): boolean {
  return bitsOf(item).every(([byte, mask]) => ((bloom[byte] ?? 0) & mask) !== 0)
}

/** Whether every bit of a bloom is one of these logs': else the block has a log that is not among them. */
export function isExplained(bloom: Bloom, logs: readonly Pick<RawLog, 'address' | 'topics'>[]): boolean {
  const left = bloom.slice()
  for (const { address, topics } of logs)
    for (const item of [address, ...topics])
      for (const [byte, mask] of bitsOf(item)) left[byte] = (left[byte] ?? 0) & ~mask
  return !hasBits(left)
}
