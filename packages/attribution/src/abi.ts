import type { Address } from 'viem'
import { formatHex } from './calldata.js'
import type { Span } from './erc8021.js'

/**
 * Reading ABI-encoded arguments out of calldata somebody else wrote: every position is checked against the end of the
 * call it belongs to, nothing is copied, and what does not fit is undefined instead of an error.
 */

/** A call's data inside the transaction input. */
export type Slice = Span & { data: Uint8Array }

/** The four bytes a call begins with as a number, or undefined when it has fewer. */
export function readSelector({ data, start, end }: Slice): number | undefined {
  return end - start < 4 ? undefined : new DataView(data.buffer, data.byteOffset + start, 4).getUint32(0)
}

/** A 32-byte unsigned integer as a number; undefined beyond 2^32, which no offset or length inside calldata reaches. */
export function readUint({ data, end }: Slice, at: number): number | undefined {
  if (at + 32 > end) return undefined
  for (let i = at; i < at + 28; i++) if (data[i] !== 0) return undefined
  return new DataView(data.buffer, data.byteOffset + at + 28, 4).getUint32(0)
}

/** A 32-byte word holding an address, lower-case; undefined when its upper bytes are not zero (a contract refuses it). */
export function readAddress({ data, end }: Slice, at: number): Address | undefined {
  if (at + 32 > end) return undefined
  for (let i = at; i < at + 12; i++) if (data[i] !== 0) return undefined
  return formatHex(data, at + 12, at + 32)
}

/** The bytes argument whose offset, counted from `base`, is in the word at `at`. */
export function readBytes(slice: Slice, base: number, at: number): Slice | undefined {
  const offset = readUint(slice, at)
  const length = offset === undefined ? undefined : readUint(slice, base + offset)
  if (offset === undefined || length === undefined) return undefined
  const start = base + offset + 32
  return start + length > slice.end ? undefined : { data: slice.data, start, end: start + length }
}

/** Where the elements of an array argument begin, and how many there are; its offset, from `base`, is in the word at `at`. */
export function readArray(slice: Slice, base: number, at: number): { start: number; count: number } | undefined {
  const offset = readUint(slice, at)
  const count = offset === undefined ? undefined : readUint(slice, base + offset)
  if (offset === undefined || count === undefined) return undefined
  const start = base + offset + 32
  return start + count * 32 > slice.end ? undefined : { start, count }
}

/** The start of a dynamic tuple whose offset, counted from `base`, is in the word at `at`, with `words` words of head. */
export function readTuple(slice: Slice, base: number, at: number, words: number): number | undefined {
  const offset = readUint(slice, at)
  return offset === undefined || base + offset + words * 32 > slice.end ? undefined : base + offset
}
