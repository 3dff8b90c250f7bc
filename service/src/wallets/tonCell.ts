import { createHash } from 'node:crypto'

/** A cell of the TON Virtual Machine: up to 1,023 bits and four references, known by its hash. */
export type Cell = {
  /** The bits, padded to whole bytes as hashed (a one, then zeros, when they do not fill the last byte). */
  data: Uint8Array
  bitLength: number
  refs: readonly Cell[]
  depth: number
  hash: Uint8Array
}

const magic = 0xb5ee9c72
const depthMax = 1_024

/**
 * The root of a bag of cells (the serialisation wallets send), or undefined when it is malformed. Read are ordinary
 * cells and references to a library, all of level 0; not a pruned branch, which has the hash of what it stands for and
 * would pass for it. The optional checksum is not judged, since callers compare the root's hash.
 */
export function parseBagOfCells(bytes: Uint8Array): Cell | undefined {
  const reader = createReader(bytes)
  if (reader.uint(4) !== magic) return undefined
  const flags = reader.uint(1)
  const [hasIndex, hasChecksum, refSize, offsetSize] = [flags & 0x80, flags & 0x40, flags & 0x07, reader.uint(1)]
  if (refSize < 1 || refSize > 4 || offsetSize < 1 || offsetSize > 6 || (flags & 0x38) !== 0) return undefined
  const count = reader.uint(refSize)
  if (reader.uint(refSize) !== 1 || reader.uint(refSize) !== 0) return undefined
  const totalSize = reader.uint(offsetSize)
  const root = reader.uint(refSize)
  if (count < 1 || count > bytes.length || root >= count) return undefined
  if (hasIndex) reader.skip(count * offsetSize)
  const end = reader.at() + totalSize
  if (end + (hasChecksum ? 4 : 0) !== bytes.length) return undefined
  const cells = readCells(reader, count, refSize)
  return cells && reader.at() === end ? linkCells(cells)?.[root] : undefined
}

type RawCell = { library: boolean; data: Uint8Array; bitLength: number; refs: number[] }

/** Set in a cell's first byte when it is exotic; a library reference is the one kind of those we read. */
const exotic = 8
const libraryKind = 2

function readCells(reader: Reader, count: number, refSize: number): RawCell[] | undefined {
  const cells: RawCell[] = []
  for (let index = 0; index < count; index++) {
    const [kind, size] = [reader.uint(1), reader.uint(1)]
    const library = kind === exotic
    // Above 4: another exotic cell, one with its hashes stored, or of a level above 0.
    if (kind > 4 && !library) return undefined
    const data = reader.take(Math.ceil(size / 2))
    const bitLength = size % 2 === 0 ? data.length * 8 : findEnd(data)
    const refs = Array.from({ length: library ? 0 : kind }, () => reader.uint(refSize))
    if (bitLength === undefined || refs.some((ref) => ref <= index || ref >= count)) return undefined
    if (library && (bitLength !== 264 || data[0] !== libraryKind)) return undefined
    cells.push({ library, data, bitLength, refs })
  }
  return reader.failed() ? undefined : cells
}

/** Bits before the completion mark: the last one bit. */
function findEnd(data: Uint8Array): number | undefined {
  const last = data.at(-1) ?? 0
  return last === 0 ? undefined : data.length * 8 - 1 - Math.log2(last & -last)
}

/** References point forwards only, so every cell is complete before the cells that refer to it. */
function linkCells(raw: RawCell[]): Cell[] | undefined {
  const cells: Cell[] = []
  for (let index = raw.length - 1; index >= 0; index--) {
    const cell = raw[index]
    if (!cell) return undefined
    const refs = cell.refs.flatMap((ref) => cells[ref] ?? [])
    const depth = refs.reduce((deepest, ref) => Math.max(deepest, ref.depth + 1), 0)
    if (depth > depthMax) return undefined
    const { data, bitLength } = cell
    cells[index] = { data, bitLength, refs, depth, hash: hashCell(cell, refs) }
  }
  return cells
}

/** The representation hash: descriptors, data, then depths and hashes of the references. */
function hashCell({ library, data, bitLength }: RawCell, refs: readonly Cell[]): Uint8Array {
  const hash = createHash('sha256')
  hash.update(Uint8Array.of(refs.length + (library ? exotic : 0), Math.floor(bitLength / 8) + Math.ceil(bitLength / 8)))
  hash.update(data)
  for (const { depth } of refs) hash.update(Uint8Array.of(depth >> 8, depth & 0xff))
  for (const ref of refs) hash.update(ref.hash)
  return Uint8Array.from(hash.digest())
}

/** `length` bits of a cell from bit `start`, as bytes; undefined when the cell is shorter. `length` is whole bytes. */
export function readBits(cell: Cell, start: number, length: number): Uint8Array | undefined {
  if (start + length > cell.bitLength) return undefined
  const [first, shift] = [Math.floor(start / 8), start % 8]
  return Uint8Array.from({ length: length / 8 }, (_, index) => {
    const pair = ((cell.data[first + index] ?? 0) << 8) | (cell.data[first + index + 1] ?? 0)
    return (pair >> (8 - shift)) & 0xff
  })
}

type Reader = ReturnType<typeof createReader>

/** Reads big-endian numbers and bytes in order; past the end it reads zeros and remembers that it failed. */
function createReader(bytes: Uint8Array) {
  let at = 0
  let failed = false
  const take = (length: number): Uint8Array => {
    failed ||= at + length > bytes.length
    const part = bytes.slice(at, at + length)
    at += length
    return part
  }
  return {
    take,
    uint: (length: number): number => take(length).reduce((number, byte) => number * 256 + byte, 0),
    skip: (length: number): void => void take(length),
    at: () => at,
    failed: () => failed,
  }
}
