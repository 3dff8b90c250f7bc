import { bytesToHex, type Hex, hexToBytes } from 'viem'
import { type CborValue, decodeCbor, encodeCbor, join } from './cbor.js'

/** A registry a code is registered in: its chain (decimal text) and address. */
export type Registry = { chainId: string; address: string }

type Place = {
  /** First byte of the suffix, and the byte after its last, in the calldata it was read from. */
  start: number
  end: number
}

/**
 * One ERC-8021 suffix. `empty` is well formed but names no code; of an `unknown-schema` only the length is known;
 * `malformed` says why and attributes nothing.
 */
export type Suffix = Place &
  (
    | { status: 'ok' | 'empty'; schemaId: 0; codes: string[] }
    | { status: 'ok' | 'empty'; schemaId: 1; codes: string[]; codeRegistry: Registry }
    | ({ status: 'ok' | 'empty'; schemaId: 2 } & Schema2)
    | { status: 'unknown-schema'; schemaId: number }
    | { status: 'malformed'; schemaId?: number; reason: string }
  )

export type Schema2 = {
  appCode?: string
  walletCode?: string
  serviceCodes?: string[]
  registries?: { app?: Registry; wallet?: Registry }
  metadata?: Map<CborValue, CborValue>
}

const marker = hexToBytes('0x80218021802180218021802180218021')
const stackMax = 8

/** Every suffix at the end of calldata, outermost first, at most eight; empty when there is none. Never throws. */
export function decode(calldata: Hex): Suffix[] {
  const data = hexToBytes(calldata)
  const found: Suffix[] = []
  for (let end = data.length; found.length < stackMax; ) {
    const suffix = decodeAt(data, end)
    if (!suffix) break
    found.push(suffix)
    if (suffix.status === 'malformed') break
    end = suffix.start
  }
  return found
}

/** The codes of a suffix in the order it names them. */
export function listCodes(suffix: Suffix): string[] {
  if (suffix.status === 'malformed' || suffix.status === 'unknown-schema') return []
  if (suffix.schemaId !== 2) return suffix.codes
  return [suffix.appCode, suffix.walletCode, ...(suffix.serviceCodes ?? [])].filter((code) => code !== undefined)
}

type Read = Suffix extends infer S ? (S extends Suffix ? Omit<S, 'end'> : never) : never

function decodeAt(data: Uint8Array, end: number): Suffix | undefined {
  const markerAt = end - marker.length
  if (markerAt < 0 || marker.some((byte, i) => data[markerAt + i] !== byte)) return undefined
  const idAt = markerAt - 1
  const schemaId = data[idAt]
  if (idAt < 0 || schemaId === undefined) return { status: 'malformed', reason: 'no-schema-id', start: markerAt, end }
  const read = schemaId < 2 ? readCodes(data, idAt, schemaId) : readSized(data, idAt, schemaId)
  if (typeof read === 'string') return { status: 'malformed', schemaId, reason: read, start: idAt, end }
  return { ...read, end }
}

/** Schemas 0 and 1, backwards from the schema id: a length, the codes, and for 1 the chain's length, chain, registry. */
function readCodes(data: Uint8Array, idAt: number, schemaId: number): Read | string {
  const length = data[idAt - 1]
  if (length === undefined) return 'no-codes-length'
  const start = idAt - 1 - length
  if (start < 0) return 'codes-length-overruns'
  const list = data.subarray(start, idAt - 1)
  const wrong = findWrongByte(list, true)
  if (wrong) return wrong
  const codes = String.fromCharCode(...list)
    .split(',')
    .filter((code) => code !== '')
  const status = codes.length === 0 ? 'empty' : 'ok'
  if (schemaId === 0) return { status, schemaId: 0, codes, start }
  const chainLength = data[start - 1]
  if (chainLength === undefined) return 'no-chain-id-length'
  if (chainLength === 0) return 'chain-id-length-zero'
  if (chainLength > 32) return 'chain-id-length-too-large'
  const chainAt = start - 1 - chainLength
  if (chainAt - 20 < 0) return 'registry-overruns'
  const chainId = BigInt(bytesToHex(data.subarray(chainAt, start - 1))).toString()
  const address = bytesToHex(data.subarray(chainAt - 20, chainAt))
  return { status, schemaId: 1, codes, codeRegistry: { chainId, address }, start: chainAt - 20 }
}

/** Schema 2 and all later ones: data, then its length in two bytes. */
function readSized(data: Uint8Array, idAt: number, schemaId: number): Read | string {
  const high = data[idAt - 2]
  const low = data[idAt - 1]
  if (high === undefined || low === undefined) return 'no-length'
  const start = idAt - 2 - (high * 256 + low)
  if (start < 0) return 'length-overruns'
  if (schemaId !== 2) return { status: 'unknown-schema', schemaId, start }
  if (start === idAt - 2) return 'cbor-empty'
  const item = decodeCbor(data.subarray(start, idAt - 2))
  if (!item) return 'cbor-invalid'
  const fields = readFields(item.value)
  if (typeof fields === 'string') return fields
  const named = fields.appCode ?? fields.walletCode ?? fields.serviceCodes?.[0]
  return { status: named === undefined ? 'empty' : 'ok', schemaId: 2, ...fields, start }
}

function readFields(item: CborValue): Schema2 | string {
  if (!(item instanceof Map)) return 'cbor-not-a-map'
  for (const key of item.keys()) if (typeof key !== 'string') return 'cbor-non-text-key'
  const fields: Schema2 = {}
  for (const [key, name] of [
    ['a', 'appCode'],
    ['w', 'walletCode'],
  ] as const) {
    if (!item.has(key)) continue
    const code = item.get(key)
    if (typeof code !== 'string') return `field-${key}-not-text`
    const wrong = findWrongCode(code)
    if (wrong) return wrong
    fields[name] = code
  }
  if (item.has('s')) {
    const given = item.get('s')
    const list = Array.isArray(given) ? given : [given]
    for (const code of list) {
      if (typeof code !== 'string') return 'field-s-not-text-array'
      const wrong = findWrongCode(code)
      if (wrong) return wrong
    }
    fields.serviceCodes = list.filter((code) => typeof code === 'string')
  }
  if (item.has('r')) {
    const registries = readRegistries(item.get('r'))
    if (typeof registries === 'string') return registries
    fields.registries = registries
  }
  if (item.has('m')) {
    const metadata = item.get('m')
    if (!(metadata instanceof Map)) return 'field-m-not-map'
    fields.metadata = metadata
  }
  return fields
}

function readRegistries(item: CborValue): { app?: Registry; wallet?: Registry } | string {
  if (!(item instanceof Map)) return 'field-r-not-map'
  const registries: { app?: Registry; wallet?: Registry } = {}
  for (const [key, name] of [
    ['a', 'app'],
    ['w', 'wallet'],
  ] as const) {
    if (!item.has(key)) continue
    const registry = item.get(key)
    if (!(registry instanceof Map)) return 'field-r-not-map'
    const address = registry.get('a')
    const chainId = readChainId(registry.get('c'))
    if (typeof address !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(address)) return 'registry-address'
    if (chainId === undefined) return 'registry-chain-id'
    registries[name] = { chainId, address }
  }
  return registries
}

/** Hex text; in early drafts a whole number. */
function readChainId(value: CborValue): string | undefined {
  if (typeof value === 'string') return /^0x[0-9a-fA-F]{1,64}$/.test(value) ? BigInt(value).toString() : undefined
  if (typeof value === 'bigint') return value < 0n ? undefined : value.toString()
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? String(value) : undefined
}

function findWrongCode(code: string): string | undefined {
  if (code.length > 255) return 'code-too-long'
  return code === '' ? 'bad-code-character' : findWrongByte(new TextEncoder().encode(code), false)
}

function findWrongByte(bytes: Uint8Array, commas: boolean): string | undefined {
  if (bytes.some((byte) => byte > 127)) return 'non-ascii-code'
  return bytes.some((byte) => byte < 0x21 || byte > 0x7e || (byte === 0x2c && !commas))
    ? 'bad-code-character'
    : undefined
}

/** What the service writes: the distributor's code, the action's id, a signature, and a referral code if there is one. */
export type OwnSuffix = { code: string; actionId: Hex; referralCode?: string; signature: Hex }

/**
 * A suffix to append to calldata: codes alone (schema 0), or what the service itself writes (schema 2). Throws RangeError
 * on codes that cannot be written.
 */
export function encode(input: { codes: readonly string[] } | OwnSuffix): Hex {
  if ('codes' in input) {
    const list = new TextEncoder().encode(input.codes.join(','))
    if (input.codes.length === 0 || input.codes.some(findWrongCode)) throw new RangeError('a code cannot be written')
    if (list.length > 255) throw new RangeError('the codes have more than 255 bytes in all')
    return bytesToHex(join(list, Uint8Array.of(list.length, 0), marker))
  }
  const { code, actionId, referralCode, signature } = input
  if (findWrongCode(code)) throw new RangeError('the code cannot be written')
  const metadata = {
    g: hexToBytes(signature),
    i: hexToBytes(actionId),
    ...(referralCode ? { r: referralCode } : {}),
  }
  const item = encodeCbor({ a: code, m: metadata })
  return bytesToHex(join(item, Uint8Array.of(item.length >> 8, item.length & 255, 2), marker))
}

/** The members of our own metadata, of the form the service writes; undefined when one is of another form. */
export function readOwnMetadata(suffix: Suffix): OwnSuffix | undefined {
  if (suffix.status !== 'ok' || suffix.schemaId !== 2 || suffix.appCode === undefined) return undefined
  const actionId = suffix.metadata?.get('i')
  const signature = suffix.metadata?.get('g')
  const referralCode = suffix.metadata?.get('r')
  if (!(actionId instanceof Uint8Array) || actionId.length !== 16) return undefined
  if (!(signature instanceof Uint8Array) || signature.length !== 65) return undefined
  if (referralCode !== undefined && typeof referralCode !== 'string') return undefined
  return {
    code: suffix.appCode,
    actionId: bytesToHex(actionId),
    signature: bytesToHex(signature),
    ...(referralCode === undefined ? {} : { referralCode }),
  }
}
