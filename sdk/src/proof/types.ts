import type { ProvenEntry, VerifiedEntry } from '../codec.js'

export type { Ground, ProvenEntry, VerifiedEntry } from '../codec.js'

/** A proof of the entries of a transaction, as the service gives it. Bytes are lower-case hex. */
export type AttributionProof = {
  version: 1
  chainId: number
  txHash: string
  blockHash: string
  header: string
  transaction: { index: number; path: string[] }
  receipt: { index: number; path: string[] }
  entries: ProvenEntry[]
}

/** Facts the reader takes for true; those of GetVerificationContext for a chain have this form. */
export type ProofTrust = {
  /** Vaults of the chain, each with the token its shares are (absent: the vault itself) and its kind. */
  vaults: readonly { address: string; share?: string | null; kind: string }[]
  /** Attribution signers, as addresses or as the service publishes them. */
  signers: readonly (string | { address: string })[]
  /** ERC-4337 EntryPoints; absent: those of the versions 0.6 to 0.8. */
  entryPoints?: readonly string[]
  /** Codes that name a distributor; absent: any, and an entry in whose call several stand is refused. */
  distributors?: readonly string[]
}

/** `chain`: whether the transaction itself names the chain, or only the reader does. Entries only where it is `ok`. */
export type ProofVerdict = {
  ok: boolean
  problems: string[]
  chain: 'transaction' | 'reader'
  block: { number: number; timestamp: number } | null
  entries: VerifiedEntry[]
}
