import type { MalformedReason } from './erc8021Fields.js'
import type { Tail } from './tails.js'

/** Problems of a suffix, for the developer of its writer. */
const malformed: Readonly<Record<MalformedReason | 'tracker-unreadable', string>> = {
  'no-schema-id': 'nothing stands before the marker',
  'no-codes-length': 'the length of the codes is missing',
  'codes-length-overruns': 'the length of the codes reaches before the data',
  'no-chain-id-length': 'the length of the registry chain id is missing',
  'chain-id-length-zero': 'the registry chain id has no bytes',
  'chain-id-length-too-large': 'the registry chain id has more than 32 bytes',
  'registry-overruns': 'the registry reaches before the data',
  'no-length': 'the length of the data is missing',
  'length-overruns': 'the length reaches before the data',
  'non-ascii-code': 'a code is not ASCII',
  'bad-code-character': 'a code is empty or holds a blank, a comma or a control character',
  'code-too-long': 'a code has more than 255 bytes',
  'cbor-empty': 'the CBOR part has no bytes',
  'cbor-invalid':
    'the CBOR part is not exactly one valid item without repeated keys, chunked text, tags or extreme depth',
  'cbor-not-a-map': 'the CBOR item is not a map',
  'cbor-non-text-key': 'a key of the map is not text',
  'field-a-not-text': 'the application code (a) is not text',
  'field-w-not-text': 'the wallet code (w) is not text',
  'field-s-not-text-array': 'the service codes (s) are not an array of text',
  'field-r-not-map': 'the registries (r) are not maps',
  'field-m-not-map': 'the metadata (m) is not a map',
  'registry-address': 'a registry address is not 20 bytes of hex text',
  'registry-chain-id': 'a registry chain id is not hex text',
  'tracker-unreadable': 'the legacy tracker holds neither a tag nor one JSON object',
}

/** One line about what keeps a suffix or tracker from naming codes; undefined when it names some. */
export function describeProblem({ suffix }: Tail): string | undefined {
  if (suffix.status === 'malformed') return `${suffix.reason}: ${malformed[suffix.reason]}`
  if (suffix.status === 'unknown-schema') return `unknown-schema: schema ${suffix.schemaId} is not known`
  return suffix.status === 'empty' ? 'empty: it names no code' : undefined
}
