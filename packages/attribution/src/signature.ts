import type { Address, Hex } from 'viem'
import { formatHex } from './calldata.js'
import { isCanonicalSignature } from './canonicalSignature.js'
import { isDistributorCode, isReferralCode } from './codes.js'
import type { Suffix } from './erc8021.js'
import type { Frame } from './frames.js'
import type { LegacyTracker } from './legacy.js'
import { hashPersonalMessage } from './personalMessage.js'
import type { Recover } from './recover.js'
import { formatActionId, hashAttribution } from './typedData.js'

/** The verdict on the signature of one suffix or tracker. `error` is empty exactly when `valid`. */
export type SignatureVerdict = {
  present: boolean
  valid: boolean
  /** The signer, lower-case: for a suffix one of our keys, for a tracker any address. */
  signer: Address | undefined
  error: string
  /** The call a valid suffix was made for; it may lie inside the one that carries it. */
  provenBy: Frame | undefined
  /** The EIP-712 digest a valid suffix signs, as 0x text. */
  digest?: Hex
  /** The wallet a valid suffix was made for, lower-case. */
  wallet?: Address
}

/** The members of our own metadata, each absent when it is not of the form we write. */
export type OwnMetadata = {
  actionId?: Uint8Array
  referralCode?: string
  /** The plan swaps before or after the call. */
  swaps?: true
  signature?: Uint8Array
}

/** A frame and the keccak256 of its data before any suffix, computed when it is first asked for. */
export type SignedFrame = {
  frame: Frame
  callHash: () => Uint8Array
  /** The addresses that its caller may act for, in addition to itself. */
  wallets?: readonly Address[]
}

/** Signature checks left; shared by what one sender put into a transaction so that hostile input has a price limit. */
export type Budget = { checks: number }

/** Error texts: the reasons why a signature does not count. */
export const signatureErrors = {
  absent: 'no signature',
  noActionId: 'the signature comes without a 16-byte action id',
  badReferralCode: 'the referral code is not one this service writes',
  badForm: 'the signature is not 65 bytes with v 27 or 28 and low s',
  otherCode: 'the signature covers another code of the same suffix',
  badCode: 'the signed code cannot be a distributor of this service',
  noKeys: 'this service has no attribution key',
  budget: 'too many signatures in this transaction to check them all',
  mismatch:
    'signature is not from an attribution key of this service, or it was made for another wallet, target, call or chain',
  legacyMismatch: 'signature is not from an attribution key of this service',
} as const

const unsigned: SignatureVerdict = {
  present: false,
  valid: false,
  signer: undefined,
  error: signatureErrors.absent,
  provenBy: undefined,
}

/** Reads our metadata in a schema 2 suffix. */
export function readOwnMetadata(suffix: Suffix): OwnMetadata {
  const metadata = suffix.status !== 'malformed' && 'metadata' in suffix ? suffix.metadata : undefined
  const actionId = metadata?.get('i')
  const referralCode = metadata?.get('r')
  const signature = metadata?.get('g')
  return {
    ...(actionId instanceof Uint8Array && actionId.length === 16 ? { actionId } : {}),
    ...(typeof referralCode === 'string' && isReferralCode(referralCode) ? { referralCode } : {}),
    ...(metadata?.get('s') === true ? { swaps: true as const } : {}),
    ...(signature instanceof Uint8Array && signature.length === 65 ? { signature } : {}),
  }
}

/** The action a schema 2 suffix names, as a uuid. */
export function readActionId(suffix: Suffix): string | undefined {
  const { actionId } = readOwnMetadata(suffix)
  return actionId && formatActionId(actionId)
}

/**
 * Whether one of `signers` made the suffix for one of `frames` on this chain: it is tried against each frame's caller
 * (and whom that may stand for), target and data before any suffix, because the message itself is not in the suffix. Each try costs one of `budget`.
 */
export function verifySuffix(input: {
  suffix: Suffix
  frames: readonly SignedFrame[]
  chainId: number
  signers: readonly Address[]
  recover: Recover
  budget: Budget
}): SignatureVerdict {
  const { suffix, frames, chainId, signers, recover, budget } = input
  const metadata = suffix.status !== 'malformed' && 'metadata' in suffix ? suffix.metadata : undefined
  if (suffix.status === 'malformed' || !metadata?.has('g')) return unsigned
  const refuse = (error: string): SignatureVerdict => ({ ...unsigned, present: true, error })

  const { actionId, referralCode, signature } = readOwnMetadata(suffix)
  if (!signature || !isCanonicalSignature(signature)) return refuse(signatureErrors.badForm)
  if (!actionId) return refuse(signatureErrors.noActionId)
  if (metadata.has('r') && referralCode === undefined) return refuse(signatureErrors.badReferralCode)
  const code = 'appCode' in suffix ? suffix.appCode : undefined
  if (code === undefined || !isDistributorCode(code)) return refuse(signatureErrors.badCode)
  if (signers.length === 0) return refuse(signatureErrors.noKeys)

  for (const { frame, callHash, wallets = [] } of frames)
    for (const wallet of [frame.caller, ...wallets]) {
      if (budget.checks <= 0) return refuse(signatureErrors.budget)
      budget.checks -= 1
      const call = { wallet, target: frame.target, callHash: callHash() }
      const digest = hashAttribution({ code, actionId, chainId, ...call, referralCode: referralCode ?? '' })
      const signer = recover(digest, signature)
      if (signer && signers.includes(signer))
        return { present: true, valid: true, signer, error: '', provenBy: frame, digest: formatHex(digest), wallet }
    }
  return refuse(signatureErrors.mismatch)
}

/** Whether one of `signers` signed the payload of a legacy tracker, which says nothing about the call it is in. */
export function verifyLegacy(input: {
  tracker: LegacyTracker
  signers: readonly Address[]
  recover: Recover
  budget: Budget
}): SignatureVerdict {
  const { tracker, signers, recover, budget } = input
  if (tracker.status === 'malformed' || !tracker.signature) return unsigned
  const refuse = (error: string, signer?: Address): SignatureVerdict => ({ ...unsigned, present: true, error, signer })
  if (!isCanonicalSignature(tracker.signature)) return refuse(signatureErrors.badForm)
  if (budget.checks <= 0) return refuse(signatureErrors.budget)
  budget.checks -= 1
  const signer = recover(hashPersonalMessage(tracker.payload), tracker.signature)
  if (!signer || !signers.includes(signer)) return refuse(signatureErrors.legacyMismatch, signer)
  return { present: true, valid: true, signer, error: '', provenBy: undefined }
}
