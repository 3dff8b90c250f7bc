import { bytesToBigInt, bytesToHex } from 'viem'
import { hasBytesAt } from './bytes.js'
import type { CborValue } from './cbor.js'
import { type MalformedReason, parseCodeList, type Registry, readSchema2, type Schema2Fields } from './erc8021Fields.js'

/** Where something lies in the bytes it was read from: the first byte, and the byte after the last. */
export type Span = { start: number; end: number }

/**
 * One ERC-8021 suffix. `empty` is well formed but names no code; `unknown-schema` has a length we can step over;
 * `malformed` attributes nothing, and its span covers only the marker and, where there is one, the schema id.
 */
export type Suffix = Span &
  (
    | { status: 'ok' | 'empty'; schemaId: 0; codes: string[] }
    | { status: 'ok' | 'empty'; schemaId: 1; codes: string[]; codeRegistry: Registry }
    | ({ status: 'ok' | 'empty'; schemaId: 2 } & Schema2Fields)
    | { status: 'unknown-schema'; schemaId: number }
    | { status: 'malformed'; schemaId?: number; reason: MalformedReason }
  )

/** Reads one CBOR item that fills the bytes exactly; undefined when they are anything else. */
export type ReadCbor = (bytes: Uint8Array) => { value: CborValue } | undefined

/** The sixteen bytes that end calldata with a suffix. */
export const marker: Uint8Array = Uint8Array.from({ length: 16 }, (_, i) => (i % 2 === 0 ? 0x80 : 0x21))

/** How many suffixes on top of each other are read. */
export const stackMax = 8

/**
 * The outermost ERC-8021 suffix of the bytes, read strictly: every length is checked against what remains, a wrong type
 * of a known member or a byte outside its alphabet makes the suffix malformed, and nothing is ever shortened or guessed.
 * Undefined when the bytes do not end in the marker. Reads bytes from `floor` up to `end` only; never throws.
 */
export function readSuffix(readCbor: ReadCbor, data: Uint8Array, end: number, floor: number): Suffix | undefined {
  const markerStart = end - marker.length
  if (markerStart < floor || !hasBytesAt(data, markerStart, marker)) return undefined
  if (markerStart - 1 < floor) return { status: 'malformed', reason: 'no-schema-id', start: markerStart, end }

  const idAt = markerStart - 1
  const schemaId = data[idAt] ?? 0
  const body =
    schemaId <= 1
      ? readCodeSchema(data, idAt, floor, schemaId)
      : readLengthSchema(data, idAt, floor, schemaId, readCbor)
  if (typeof body === 'string') return { status: 'malformed', schemaId, reason: body, start: idAt, end }
  return { ...body, end }
}

/**
 * Every ERC-8021 suffix stacked at the end of the bytes, outermost first, at most eight. Reading stops after a malformed
 * one, because where it begins cannot be known. Never throws.
 */
export function readSuffixes(readCbor: ReadCbor, data: Uint8Array, end: number, floor: number): Suffix[] {
  const suffixes: Suffix[] = []
  let cursor = end
  while (suffixes.length < stackMax) {
    const suffix = readSuffix(readCbor, data, cursor, floor)
    if (!suffix) break
    suffixes.push(suffix)
    if (suffix.status === 'malformed') break
    cursor = suffix.start
  }
  return suffixes
}

/** The codes of a suffix in the order it names them; for schema 2 the application's, the wallet's, then the services'. */
export function suffixCodes(suffix: Suffix): string[] {
  if (suffix.status === 'malformed' || suffix.status === 'unknown-schema') return []
  if (suffix.schemaId !== 2) return suffix.codes
  return [suffix.appCode, suffix.walletCode, ...(suffix.serviceCodes ?? [])].filter((code) => code !== undefined)
}

type Body = Suffix extends infer S ? (S extends Suffix ? Omit<S, 'end'> : never) : never

/** Schemas 0 and 1: `[registry, chain id, its length,] codes, their length`, read backwards from the schema id. */
function readCodeSchema(data: Uint8Array, idAt: number, floor: number, schemaId: number): Body | MalformedReason {
  const lengthAt = idAt - 1
  if (lengthAt < floor) return 'no-codes-length'
  const codesStart = lengthAt - (data[lengthAt] ?? 0)
  if (codesStart < floor) return 'codes-length-overruns'
  const codes = parseCodeList(data.subarray(codesStart, lengthAt))
  if (typeof codes === 'string') return codes
  const status = codes.length > 0 ? 'ok' : 'empty'
  if (schemaId === 0) return { status, schemaId: 0, codes, start: codesStart }

  const chainLengthAt = codesStart - 1
  if (chainLengthAt < floor) return 'no-chain-id-length'
  const chainLength = data[chainLengthAt] ?? 0
  if (chainLength === 0) return 'chain-id-length-zero'
  if (chainLength > 32) return 'chain-id-length-too-large'
  const chainStart = chainLengthAt - chainLength
  const start = chainStart - 20
  if (start < floor) return 'registry-overruns'
  const chainId = bytesToBigInt(data.subarray(chainStart, chainLengthAt)).toString()
  const address = bytesToHex(data.subarray(start, chainStart))
  return { status, schemaId: 1, codes, codeRegistry: { chainId, address }, start }
}

/** Schema 2 and every later one: `data, its length in two bytes`. Of the later ones only the length is known. */
function readLengthSchema(
  data: Uint8Array,
  idAt: number,
  floor: number,
  schemaId: number,
  readCbor: ReadCbor,
): Body | MalformedReason {
  const lengthAt = idAt - 2
  if (lengthAt < floor) return 'no-length'
  const start = lengthAt - (((data[lengthAt] ?? 0) << 8) | (data[lengthAt + 1] ?? 0))
  if (start < floor) return 'length-overruns'
  if (schemaId !== 2) return { status: 'unknown-schema', schemaId, start }

  if (start === lengthAt) return 'cbor-empty'
  const item = readCbor(data.subarray(start, lengthAt))
  if (!item) return 'cbor-invalid'
  const fields = readSchema2(item.value)
  if (typeof fields === 'string') return fields
  const named = fields.appCode ?? fields.walletCode ?? fields.serviceCodes?.[0]
  return { status: named === undefined ? 'empty' : 'ok', schemaId: 2, ...fields, start }
}
