/**
 * Who brought a transaction: reading and writing the codes at the end of calldata. ERC-8021 suffixes (schemas 0, 1, 2)
 * and the older 0xdeadbeef tracker are read strictly and never throw; this service writes schema 2 with a
 * signature over the very call it belongs to. Pure: bytes in, values out, no clock, no network. `attribute` unwraps a
 * transaction once and also returns the frames. `codec.ts` has the part that runs in a browser, for the sdk.
 */
export {
  type Attribution,
  type AttributionKind,
  attribute,
  chooseDistributor,
  type Finding,
  mayCarryAttribution,
  type Reading,
} from './attribute.js'
export { concatBytes } from './bytes.js'
export { calldataBytes, formatHex, keccak256 } from './calldata.js'
export { isCanonicalSignature } from './canonicalSignature.js'
export { standardEntryPoints } from './entryPoints.js'
export { decodeSuffix } from './erc8021.js'
export { decodeOperationEvent, mayHoldOperation, type OperationEvent, operationTopics } from './executed.js'
export { type Frame, isInside } from './frames.js'
export { emptyInspection, type Inspection, inspect, needsTrace, type SuffixInspection } from './inspection.js'
export { type Recover, recoverAddress, type SignDigest, signDigest, signerAddress } from './recover.js'
export { readTails } from './tails.js'
export type { Execution } from './traced.js'
export {
  buildSuffix,
  formatActionId,
  hashAttribution,
  prepareSuffix,
  recoverAttributionSigner,
  signAttribution,
} from './typedData.js'
