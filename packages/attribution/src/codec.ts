/**
 * The part of the codec that the sdk takes and a browser runs: ERC-8021 suffixes as bytes, and what a signed one is
 * signed over. No Node module, no Buffer, nothing that starts asynchronously; of other packages cborg and viem only.
 */
export { attributionDomain, attributionTypes } from './attributionTypes.js'
export { concatBytes } from './bytes.js'
export { isCanonicalSignature } from './canonicalSignature.js'
export { type CborValue, encodeCbor } from './cbor.js'
export { decodeSuffixes, encodeCodes, encodeOwnSuffix, type Suffix, suffixCodes } from './erc8021.js'
export type { MalformedReason, Registry } from './erc8021Fields.js'
