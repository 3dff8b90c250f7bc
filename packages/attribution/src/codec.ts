/**
 * The part of the codec that the sdk takes and a browser runs: ERC-8021 suffixes as bytes, what a signed one is signed over,
 * and what a block commits to (RLP, its forms, its tries). No Node module, no Buffer, nothing that starts asynchronously; of other packages cborg and viem only.
 */
export { attributionDomain, attributionTypes } from './attributionTypes.js'
export { encodeHeader, encodeReceipt, encodeTransaction, type Told, Unencodable } from './blockForms.js'
export { concatBytes, formatUtf8, hasBytesAt } from './bytes.js'
export { isCanonicalSignature } from './canonicalSignature.js'
export { type CborValue, encodeCbor } from './cbor.js'
export { standardEntryPoints } from './entryPoints.js'
export { decodeSuffixes, encodeCodes, encodeOwnSuffix, type Suffix, suffixCodes } from './erc8021.js'
export type { MalformedReason, Registry } from './erc8021Fields.js'
export { computeEntries, type Ground, type ProvenEntry, type Trusted, type VerifiedEntry } from './provenEntries.js'
export { readHeader, readReceipt, readTransaction, recoverSender, type Transaction } from './provenForms.js'
export { marker, readSuffixes } from './readSuffixes.js'
export { decodeRlp, encodeRlp, numberBytes, type RlpValue } from './rlp.js'
export { readCbor } from './suffixCbor.js'
export { buildTrie, type Hash, readPath, type Trie } from './trie.js'
