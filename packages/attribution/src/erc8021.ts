import { bytesToBigInt, bytesToHex } from 'viem'
import { concatBytes, formatUtf8, hasBytesAt } from './bytes.js'
import { decodeCbor, encodeCbor } from './cbor.js'
import { isDistributorCode, isReferralCode } from './codes.js'
import {
  findBadCode,
  type MalformedReason,
  parseCodeList,
  type Registry,
  readSchema2,
  type Schema2Fields,
} from './erc8021Fields.js'

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

/** The sixteen bytes that end calldata with a suffix. */
export const marker: Uint8Array = Uint8Array.from({ length: 16 }, (_, i) => (i % 2 === 0 ? 0x80 : 0x21))

/** How many suffixes on top of each other are read. */
export const stackMax = 8

/**
 * The outermost ERC-8021 suffix of the bytes, read strictly: every length is checked against what remains, a wrong type
 * of a known member or a byte outside its alphabet makes the suffix malformed, and nothing is ever shortened or guessed.
 * Undefined when the bytes do not end in the marker. Reads bytes from `floor` up to `end` only; never throws.
 */
export function decodeSuffix(data: Uint8Array, end = data.length, floor = 0): Suffix | undefined {
  const markerStart = end - marker.length
  if (markerStart < floor || !hasBytesAt(data, markerStart, marker)) return undefined
  if (markerStart - 1 < floor) return { status: 'malformed', reason: 'no-schema-id', start: markerStart, end }

  const idAt = markerStart - 1
  const schemaId = data[idAt] ?? 0
  const body =
    schemaId <= 1 ? readCodeSchema(data, idAt, floor, schemaId) : readLengthSchema(data, idAt, floor, schemaId)
  if (typeof body === 'string') return { status: 'malformed', schemaId, reason: body, start: idAt, end }
  return { ...body, end }
}

/**
 * Every ERC-8021 suffix stacked at the end of the bytes, outermost first, at most eight. Reading stops after a malformed
 * one, because where it begins cannot be known. Never throws.
 */
export function decodeSuffixes(data: Uint8Array, end = data.length, floor = 0): Suffix[] {
  const suffixes: Suffix[] = []
  let cursor = end
  while (suffixes.length < stackMax) {
    const suffix = decodeSuffix(data, cursor, floor)
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

/** The members of a suffix this service writes. */
type OwnMembers = {
  code: string
  actionId: Uint8Array
  referralCode?: string | undefined
  /** The plan swaps before or after this call. */
  swaps?: boolean | undefined
  signature?: Uint8Array | undefined
}

/**
 * The suffix this service writes: schema 2 with the distributor as application code and, in the metadata, the action's
 * id (16 bytes), the referral code when there is one, that the plan swaps where it does, and the signature (65 bytes). Throws RangeError on anything else.
 */
export function encodeSuffix(input: OwnMembers): Uint8Array {
  const { code, actionId, referralCode, signature } = input
  if (!isDistributorCode(code)) throw new RangeError('a distributor code is 1 to 32 of A-Z a-z 0-9 _ -')
  if (actionId.length !== 16) throw new RangeError('an action id is 16 bytes')
  if (signature && signature.length !== 65) throw new RangeError('a signature is 65 bytes')
  if (referralCode && !isReferralCode(referralCode))
    throw new RangeError('a referral code is up to 64 of A-Z a-z 0-9 _ -')
  return encodeOwnSuffix(input)
}

/**
 * The same form with whatever members a suffix was read with: of the code only that it can be read again is checked
 * (RangeError), of the others nothing.
 */
export function encodeOwnSuffix({ code, actionId, referralCode, swaps, signature }: OwnMembers): Uint8Array {
  if (findBadCode(code)) throw new RangeError('the code cannot be written')
  const metadata = {
    i: actionId,
    ...(signature ? { g: signature } : {}),
    ...(referralCode ? { r: referralCode } : {}),
    ...(swaps ? { s: true } : {}),
  }
  const cbor = encodeCbor({ a: code, m: metadata })
  return concatBytes(cbor, Uint8Array.of(cbor.length >> 8, cbor.length & 0xff, 2), marker)
}

/** A suffix of codes alone (schema 0). Throws RangeError on codes that cannot be written. */
export function encodeCodes(codes: readonly string[]): Uint8Array {
  if (codes.length === 0 || codes.some(findBadCode)) throw new RangeError('a code cannot be written')
  const list = formatUtf8(codes.join(','))
  if (list.length > 255) throw new RangeError('the codes have more than 255 bytes in all')
  return concatBytes(list, Uint8Array.of(list.length, 0), marker)
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
function readLengthSchema(data: Uint8Array, idAt: number, floor: number, schemaId: number): Body | MalformedReason {
  const lengthAt = idAt - 2
  if (lengthAt < floor) return 'no-length'
  const start = lengthAt - (((data[lengthAt] ?? 0) << 8) | (data[lengthAt + 1] ?? 0))
  if (start < floor) return 'length-overruns'
  if (schemaId !== 2) return { status: 'unknown-schema', schemaId, start }

  if (start === lengthAt) return 'cbor-empty'
  const item = decodeCbor(data.subarray(start, lengthAt))
  if (!item) return 'cbor-invalid'
  const fields = readSchema2(item.value)
  if (typeof fields === 'string') return fields
  const named = fields.appCode ?? fields.walletCode ?? fields.serviceCodes?.[0]
  return { status: named === undefined ? 'empty' : 'ok', schemaId: 2, ...fields, start }
}
