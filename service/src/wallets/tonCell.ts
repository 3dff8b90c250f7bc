import { Cell, CellType } from '@ton/core'

export type { Cell }

const magic = 0xb5ee9c72
/** A cell costs about a tenth of a millisecond to read and hash; the wallets that were ever published have at most 30. */
const cellsMax = 512

/**
 * The root of a bag of cells (the serialisation wallets send), or undefined when it is malformed or has more than 512
 * cells. Read are ordinary cells and references to a library, all of level 0; not a pruned branch, which has the hash of
 * the cell it replaces and would pass for it.
 */
export function parseBagOfCells(bytes: Uint8Array): Cell | undefined {
  const bag = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  if (!isSmallBag(bag)) return undefined
  const [root, ...others] = readRoots(bag)
  return root && others.length === 0 && isPlain(root) ? root : undefined
}

/** Whether a header names few cells and one root. Looked at first: the library reads as many cells as it is told of. */
function isSmallBag(bag: Buffer): boolean {
  if (bag.length < 6 || bag.readUInt32BE() !== magic) return false
  const flags = bag.readUInt8(4)
  const size = flags & 0x07
  if ((flags & 0x38) !== 0 || size < 1 || size > 4 || bag.length < 6 + 3 * size) return false
  const [cells, roots, absent] = [0, 1, 2].map((index) => bag.readUIntBE(6 + index * size, size))
  return cells !== undefined && cells >= 1 && cells <= cellsMax && roots === 1 && absent === 0
}

function readRoots(bag: Buffer): Cell[] {
  try {
    return Cell.fromBoc(bag)
  } catch (error) {
    // The library tells every defect of the bytes by throwing.
    if (error instanceof Error) return []
    throw error
  }
}

/** Whether a cell and all it refers to are of level 0 and known by their own hash. Each is looked at once. */
function isPlain(root: Cell): boolean {
  const seen = new Set([root])
  for (const cell of seen) {
    if (cell.isExotic && cell.type !== CellType.Library) return false
    if (cell.level() !== 0) return false
    for (const inner of cell.refs) seen.add(inner)
  }
  return true
}

/** `length` bits of a cell from bit `start`, as bytes; undefined when the cell is shorter. `length` is whole bytes. */
export function readBits(cell: Cell, start: number, length: number): Uint8Array | undefined {
  if (start + length > cell.bits.length) return undefined
  return Uint8Array.from(
    cell
      .beginParse(true)
      .skip(start)
      .loadBuffer(length / 8),
  )
}
