import type { PathCall } from '../rpc/callPaths.js'
import { findSlice } from '../rpc/checkTrace.js'

const version = 1
const kinds: readonly PathCall['kind'][] = ['call', 'delegatecall', 'callcode', 'create']

/** How the input of a call is stored: as an offset in the transaction's input, as that of another call, or as bytes. */
const kept = { slice: 0, same: 1, own: 2 } as const

/** Packs call paths as 0x text. Each address and input is stored once; bytes found in the transaction's input are stored as an offset. */
export function packCalls(calls: readonly PathCall[], input: string): string {
  const bytes: number[] = [version]
  const addresses = new Map<string, number>()
  for (const { caller, target } of calls)
    for (const address of [caller, target]) if (!addresses.has(address)) addresses.set(address, addresses.size)
  writeNumber(bytes, addresses.size)
  for (const address of addresses.keys()) writeBytes(bytes, address)
  writeNumber(bytes, calls.length)
  const known = new Map<string, number>()
  for (const [at, call] of calls.entries()) {
    const same = known.get(call.input)
    const slice = same === undefined ? findSlice(call.input, input) : undefined
    const how = same !== undefined ? kept.same : slice !== undefined ? kept.slice : kept.own
    writeNumber(bytes, kinds.indexOf(call.kind) | (call.isWord ? 4 : 0) | (how << 3))
    writeNumber(bytes, call.parent === undefined ? 0 : at - call.parent)
    writeNumber(bytes, addresses.get(call.caller) ?? 0)
    writeNumber(bytes, addresses.get(call.target) ?? 0)
    if (same !== undefined) writeNumber(bytes, at - same)
    else {
      known.set(call.input, at)
      if (slice !== undefined) writeNumber(bytes, slice)
      writeNumber(bytes, (call.input.length - 2) / 2)
      if (slice === undefined) writeBytes(bytes, call.input)
    }
    writeNumber(bytes, call.logs.length)
    for (const log of call.logs) writeNumber(bytes, log)
  }
  return `0x${Buffer.from(bytes).toString('hex')}`
}

/** Unpacks the call paths of the same transaction. */
export function unpackCalls(packed: string, input: string): PathCall[] {
  const reader = createReader(packed)
  if (reader.number() !== version) throw new Error('call paths were packed by another version')
  const addresses = Array.from({ length: reader.number() }, () => reader.text(20))
  const count = reader.number()
  const calls: PathCall[] = []
  for (let at = 0; at < count; at++) {
    const marks = reader.number()
    const back = reader.number()
    const [caller, target] = [addresses[reader.number()] ?? '', addresses[reader.number()] ?? '']
    const kind = kinds[marks & 3] ?? 'call'
    const own = readInput(reader, marks >> 3, input, calls)
    const logs = Array.from({ length: reader.number() }, () => reader.number())
    const parent = back === 0 ? undefined : at - back
    calls.push({ parent, kind, caller, target, input: own, logs, isWord: (marks & 4) !== 0 })
  }
  return calls
}

type Reader = ReturnType<typeof createReader>

function readInput(reader: Reader, how: number, input: string, calls: readonly PathCall[]): string {
  if (how === kept.same) return calls[calls.length - reader.number()]?.input ?? '0x'
  if (how === kept.own) return reader.text(reader.number())
  const from = reader.number()
  const length = reader.number()
  return `0x${input.slice(2 + from * 2, 2 + (from + length) * 2)}`
}

function writeNumber(bytes: number[], value: number): void {
  let left = value
  for (; left > 127; left = Math.floor(left / 128)) bytes.push((left % 128) | 128)
  bytes.push(left)
}

function writeBytes(bytes: number[], text: string): void {
  for (const byte of Buffer.from(text.slice(2), 'hex')) bytes.push(byte)
}

function createReader(packed: string) {
  let at = 2
  const byte = (): number => {
    const value = Number.parseInt(packed.slice(at, at + 2), 16)
    if (Number.isNaN(value)) throw new Error('packed call paths end too early')
    at += 2
    return value
  }
  return {
    number: (): number => {
      let value = 0
      for (let scale = 1; ; scale *= 128) {
        const next = byte()
        value += (next & 127) * scale
        if (next < 128) return value
      }
    },
    text: (length: number): string => {
      const found = packed.slice(at, at + length * 2)
      if (found.length !== length * 2) throw new Error('packed call paths end too early')
      at += length * 2
      return `0x${found}`
    },
  }
}
