import { formatUtf8 } from './bytes.js'
import type { CborValue } from './cbor.js'

/** Why a suffix is malformed. */
export type MalformedReason =
  | 'no-schema-id'
  | 'no-codes-length'
  | 'codes-length-overruns'
  | 'no-chain-id-length'
  | 'chain-id-length-zero'
  | 'chain-id-length-too-large'
  | 'registry-overruns'
  | 'no-length'
  | 'length-overruns'
  | 'non-ascii-code'
  | 'bad-code-character'
  | 'code-too-long'
  | 'cbor-empty'
  | 'cbor-invalid'
  | 'cbor-not-a-map'
  | 'cbor-non-text-key'
  | 'field-a-not-text'
  | 'field-w-not-text'
  | 'field-s-not-text-array'
  | 'field-r-not-map'
  | 'field-m-not-map'
  | 'registry-address'
  | 'registry-chain-id'

/** A code registry: chain id as a decimal string (it may exceed 2^53), address as 0x text in the case it was written. */
export type Registry = { chainId: string; address: string }

/** The known members of schema 2; one that is absent is not there. */
export type Schema2Fields = {
  appCode?: string
  walletCode?: string
  serviceCodes?: string[]
  registries?: { app?: Registry; wallet?: Registry }
  metadata?: Map<CborValue, CborValue>
}

const codeBytesMax = 255
const comma = 0x2c

/** The codes of a comma-separated ASCII list; empty places between commas are no codes. */
export function parseCodeList(bytes: Uint8Array): string[] | MalformedReason {
  const wrong = findBadByte(bytes, true)
  if (wrong) return wrong
  return String.fromCharCode(...bytes)
    .split(',')
    .filter((code) => code !== '')
}

/** The known members of a schema 2 map. A known member of the wrong type fails the whole: money is attributed by it. */
export function readSchema2(item: unknown): Schema2Fields | MalformedReason {
  if (!(item instanceof Map)) return 'cbor-not-a-map'
  for (const key of item.keys()) if (typeof key !== 'string') return 'cbor-non-text-key'
  const fields: Schema2Fields = {}

  for (const [key, name] of [
    ['a', 'appCode'],
    ['w', 'walletCode'],
  ] as const) {
    if (!item.has(key)) continue
    const code: unknown = item.get(key)
    if (typeof code !== 'string') return `field-${key}-not-text`
    const wrong = findBadCode(code)
    if (wrong) return wrong
    fields[name] = code
  }

  if (item.has('s')) {
    const services = readServices(item.get('s'))
    if (typeof services === 'string') return services
    fields.serviceCodes = services
  }
  if (item.has('r')) {
    const registries = readRegistries(item.get('r'))
    if (typeof registries === 'string') return registries
    fields.registries = registries
  }
  if (item.has('m')) {
    const metadata: unknown = item.get('m')
    if (!(metadata instanceof Map)) return 'field-m-not-map'
    fields.metadata = metadata
  }
  return fields
}

/** Services: an array of text; one bare text, which some writers use, stands for an array of one. */
function readServices(value: unknown): string[] | MalformedReason {
  const list: unknown[] = Array.isArray(value) ? value : [value]
  const services: string[] = []
  for (const code of list) {
    if (typeof code !== 'string') return 'field-s-not-text-array'
    const wrong = findBadCode(code)
    if (wrong) return wrong
    services.push(code)
  }
  return services
}

function readRegistries(value: unknown): { app?: Registry; wallet?: Registry } | MalformedReason {
  if (!(value instanceof Map)) return 'field-r-not-map'
  const registries: { app?: Registry; wallet?: Registry } = {}
  for (const [key, name] of [
    ['a', 'app'],
    ['w', 'wallet'],
  ] as const) {
    if (!value.has(key)) continue
    const registry = readRegistry(value.get(key))
    if (typeof registry === 'string') return registry
    registries[name] = registry
  }
  return registries
}

function readRegistry(value: unknown): Registry | MalformedReason {
  if (!(value instanceof Map)) return 'field-r-not-map'
  const address: unknown = value.get('a')
  if (typeof address !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(address)) return 'registry-address'
  const chainId: unknown = value.get('c')
  // Hex text since the second draft; an integer before that.
  if (typeof chainId === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(chainId)) {
    return { chainId: BigInt(chainId).toString(), address }
  }
  const isWhole = typeof chainId === 'bigint' || (typeof chainId === 'number' && Number.isSafeInteger(chainId))
  return isWhole && chainId >= 0 ? { chainId: chainId.toString(), address } : 'registry-chain-id'
}

/** The error in a code, if any: a code is 1 to 255 printable ASCII characters without blank or comma. */
export function findBadCode(code: string): MalformedReason | undefined {
  if (code.length > codeBytesMax) return 'code-too-long'
  return code === '' ? 'bad-code-character' : findBadByte(formatUtf8(code), false)
}

function findBadByte(bytes: Uint8Array, commaAllowed: boolean): MalformedReason | undefined {
  if (bytes.some((byte) => byte >= 0x80)) return 'non-ascii-code'
  const isBad = (byte: number) => byte < 0x21 || byte > 0x7e || (byte === comma && !commaAllowed)
  return bytes.some(isBad) ? 'bad-code-character' : undefined
}
