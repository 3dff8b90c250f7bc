/**
 * Proofs of entries: that a transaction's deposit or withdrawal, and the code in its calldata, stand in a block one knows; and of
 * rewards: that a wallet earned an amount by a root, and by which inputs.
 */
export type {
  AttributionProof,
  Ground,
  ProofTrust,
  ProofVerdict,
  ProvenEntry,
  VerifiedEntry,
} from './types.js'
export { verifyProof } from './verifyProof.js'
export { type ProofProvider, verifyProofOnline } from './verifyProofOnline.js'
export { type RewardInputs, type RewardProof, type RewardVerdict, verifyReward } from './verifyReward.js'
