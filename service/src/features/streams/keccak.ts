/**
 * keccak-256 of 52 or 64 bytes within one memory, as WebAssembly put together here: a tree is two hashes a leaf, and copying
 * bytes in and out of a general hasher costs more than hashing them.
 */
export type BlockHasher = {
  /** All of its memory; what is hashed and what comes out lies in it, from `free` on. */
  bytes: Buffer
  view: DataView
  /** Hashes the 32 bytes at each of two places into a third. */
  hashPair(left: number, right: number, out: number): void
  /** Hashes the 52 bytes at `leafAt`. */
  hashLeaf(out: number): void
}

/** What is used of the global that browsers describe, and the types of Node.js do not. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object
  Memory: new (size: { initial: number }) => { buffer: ArrayBuffer }
  Instance: new (module: object, imports: object) => { exports: Record<string, unknown> }
}

const rounds = 24
const constantsBytes = rounds * 8
/** Where a leaf is written before it is hashed. */
export const leafAt = constantsBytes
const leafBytes = 52
/** The first byte of the memory that nothing uses. */
export const free = leafAt + 64
const pageBytes = 65_536

const op = {
  ...{ end: 0x0b, brIf: 0x0d, loop: 0x03, get: 0x20, set: 0x21, tee: 0x22, load: 0x29, store: 0x37, i32: 0x41 },
  ...{ i64: 0x42, lessThan: 0x49, addI32: 0x6a, and: 0x83, xor: 0x85, rotate: 0x89, extend: 0xad },
}
const types = { i32: 0x7f, i64: 0x7e, function: 0x60, nothing: 0x40 }

function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)]
}
function signed(value: bigint): number[] {
  const low = Number(value & 0x7fn)
  const rest = value >> 7n
  const isLast = (rest === 0n && (low & 0x40) === 0) || (rest === -1n && (low & 0x40) !== 0)
  return isLast ? [low] : [low | 0x80, ...signed(rest)]
}
const list = (items: readonly (readonly number[])[]): number[] => [...unsigned(items.length), ...items.flat()]
const section = (id: number, body: readonly number[]): number[] => [id, ...unsigned(body.length), ...body]
const text = (value: string): number[] => [...unsigned(value.length), ...Buffer.from(value)]

/** Parameters of the function, then its locals: the state, the state after its lanes moved, and sums of columns. */
const [firstAt, secondAt, outAt, padAt] = [0, 1, 2, 3]
const laneAt = (x: number, y: number) => 4 + (x % 5) + 5 * (y % 5)
const movedAt = (x: number, y: number) => 29 + (x % 5) + 5 * (y % 5)
const columnAt = (x: number) => 54 + (x % 5)
const roundAt = 59
const five = [0, 1, 2, 3, 4]

/** How far each lane is rotated. */
function listRotations(): Map<number, number> {
  const rotations = new Map([[laneAt(0, 0), 0]])
  let [x, y] = [1, 0]
  for (let step = 0; step < 24; step++) {
    rotations.set(laneAt(x, y), (((step + 1) * (step + 2)) / 2) % 64)
    ;[x, y] = [y, (2 * x + 3 * y) % 5]
  }
  return rotations
}

/** What each round adds: bits of a shift register. */
function listRoundConstants(): Buffer {
  const bytes = Buffer.alloc(constantsBytes)
  let register = 1
  for (let round = 0; round < rounds; round++) {
    let constant = 0n
    for (let bit = 0; bit < 7; bit++) {
      if (register & 1) constant |= 1n << BigInt(2 ** bit - 1)
      register = (register << 1) ^ ((register >> 7) * 0x171)
    }
    bytes.writeBigUInt64LE(constant, round * 8)
  }
  return bytes
}

function listCode(): number[] {
  const get = (local: number) => [op.get, local]
  const set = (local: number) => [op.set, local]
  const load = (base: number, offset: number) => [...get(base), op.load, 0, ...unsigned(offset)]
  const rotations = listRotations()
  const lanes = five.flatMap((y) => five.map((x) => ({ x, y })))
  const take = lanes
    .slice(0, 8)
    .flatMap(({ x, y }, index) => [...load(index < 4 ? firstAt : secondAt, (index % 4) * 8), ...set(laneAt(x, y))])
  const pad = [
    ...[...get(padAt), op.extend, ...set(laneAt(3, 1))],
    ...[op.i64, ...signed(-(1n << 63n)), ...set(laneAt(1, 3))],
  ]
  const sums = five.flatMap((x) => [
    ...five.flatMap((y) => [...get(laneAt(x, y)), ...(y === 0 ? [] : [op.xor])]),
    ...set(columnAt(x)),
  ])
  // Every lane takes up its neighbouring columns, is rotated, and moves.
  const mix = lanes.flatMap(({ x, y }) => [
    ...[...get(laneAt(x, y)), ...get(columnAt(x + 4)), op.xor],
    ...[...get(columnAt(x + 1)), op.i64, 1, op.rotate, op.xor],
    ...[op.i64, ...signed(BigInt(rotations.get(laneAt(x, y)) ?? 0)), op.rotate, ...set(movedAt(y, 2 * x + 3 * y))],
  ])
  const choose = lanes.flatMap(({ x, y }) => [
    ...[...get(movedAt(x + 1, y)), op.i64, ...signed(-1n), op.xor, ...get(movedAt(x + 2, y)), op.and],
    ...[...get(movedAt(x, y)), op.xor, ...set(laneAt(x, y))],
  ])
  const stir = [...get(laneAt(0, 0)), ...load(roundAt, 0), op.xor, ...set(laneAt(0, 0))]
  const next = [
    ...[...get(roundAt), op.i32, 8, op.addI32, op.tee, roundAt],
    ...[op.i32, ...signed(BigInt(constantsBytes)), op.lessThan, op.brIf, 0],
  ]
  const give = five.slice(0, 4).flatMap((x) => [...get(outAt), ...get(laneAt(x, 0)), op.store, 0, ...unsigned(x * 8)])
  return [
    ...list([
      [...unsigned(55), types.i64],
      [...unsigned(1), types.i32],
    ]),
    ...[...take, ...pad, op.loop, types.nothing, ...sums, ...mix, ...choose, ...stir, ...next, op.end, ...give, op.end],
  ]
}

function buildModule(): object {
  const code = listCode()
  return new WebAssembly.Module(
    Uint8Array.from([
      ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
      ...section(1, list([[types.function, ...list([1, 2, 3, 4].map(() => [types.i32])), 0]])),
      ...section(2, list([[...text('own'), ...text('memory'), 0x02, 0x00, 1]])),
      ...section(3, list([[0]])),
      ...section(7, list([[...text('hash'), 0x00, 0]])),
      ...section(10, list([[...unsigned(code.length), ...code]])),
      ...section(11, list([[0, op.i32, 0, op.end, ...list([...listRoundConstants()].map((byte) => [byte]))]])),
    ]),
  )
}

const compiled = buildModule()

/** A hasher with room for `size` bytes from `free` on. */
export function openHasher(size: number): BlockHasher {
  const memory = new WebAssembly.Memory({ initial: Math.ceil((free + size) / pageBytes) })
  const { exports } = new WebAssembly.Instance(compiled, { own: { memory } })
  const hash = exports['hash'] as (first: number, second: number, out: number, pad: number) => void
  const bytes = Buffer.from(memory.buffer)
  bytes[leafAt + leafBytes] = 1
  return {
    bytes,
    view: new DataView(memory.buffer),
    hashPair: (left, right, out) => hash(left, right, out, 1),
    hashLeaf: (out) => hash(leafAt, leafAt + 32, out, 0),
  }
}
