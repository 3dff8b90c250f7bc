/**
 * Who brought a transaction: reading and writing the codes at the end of calldata. ERC-8021 suffixes (schemas 0, 1, 2)
 * and the older 0xdeadbeef tracker are read strictly and never throw; what this service writes is schema 2 with a
 * signature over the very call it belongs to. Pure: bytes in, values out, no clock, no network.
 */
export {
  type Attribution,
  type AttributionInput,
  type AttributionKind,
  attribute,
  type Candidate,
  chooseDistributor,
  type Finding,
  type GroupFindings,
  mayCarryAttribution,
  type Placement,
  type Reading,
} from './attribute.js'
export { attributionDomain, attributionTypes } from './attributionTypes.js'
export { concatBytes, formatUtf8 } from './bytes.js'
export { type Calldata, calldataBytes, formatHex, keccak256, parseHex } from './calldata.js'
export { isCanonicalSignature } from './canonicalSignature.js'
export { isDistributorCode, isReferralCode } from './codes.js'
export { decodeSuffix, decodeSuffixes, encodeSuffix, type Span, type Suffix, suffixCodes } from './erc8021.js'
export type { MalformedReason, Registry } from './erc8021Fields.js'
export {
  decodeOperationEvent,
  mayHoldOperation,
  type OperationEvent,
  operationTopics,
} from './executed.js'
export {
  type Frame,
  type FrameGroup,
  isPlainBundle,
  readFrames,
  standardEntryPoints,
  type TransactionFrames,
} from './frames.js'
export { emptyInspection, type Inspection, inspect, needsTrace, type SuffixInspection } from './inspection.js'
export { decodeLegacy, type LegacyTracker } from './legacy.js'
export {
  type Recover,
  recoverAddress,
  type SignDigest,
  signDigest,
  signerAddress,
} from './recover.js'
export { type SignatureVerdict, signatureErrors } from './signature.js'
export { readTails } from './tails.js'
export {
  type AttributionMessage,
  buildSuffix,
  formatActionId,
  hashAttribution,
  parseActionId,
  recoverAttributionSigner,
  signAttribution,
} from './typedData.js'
