/** ERC-8021 suffixes: writing them, reading them, and checking who signed them. */
export { type Inspection, inspect, type Transaction } from './inspect.js'
export { recoverSigner } from './signer.js'
export { decode, encode, listCodes, type OwnSuffix, type Registry, readOwnMetadata, type Suffix } from './suffix.js'
