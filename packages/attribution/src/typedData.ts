import type { Address, Hex } from 'viem'
import { attributionDomain, attributionTypes } from './attributionTypes.js'
import { concatBytes, formatUtf8 } from './bytes.js'
import { type Calldata, calldataBytes, formatHex, keccak256, parseHex } from './calldata.js'
import { encodeSuffix } from './erc8021.js'
import { type Recover, recoverAddress, type SignDigest, signDigest } from './recover.js'
import { readTails } from './tails.js'

/**
 * The signed statement: `code` brought this very call. `wallet` makes the call, `target` is the called contract, `callHash` is
 * keccak256 of the call's data before any suffix, `referralCode` may be empty.
 */
export type AttributionMessage = {
  code: string
  actionId: Uint8Array
  chainId: number
  wallet: Address
  target: Address
  callHash: Uint8Array
  referralCode: string
}

const typeHash = keccak256(
  formatUtf8(`Attribution(${attributionTypes.Attribution.map(({ name, type }) => `${type} ${name}`).join(',')})`),
)

const domainSeparator = keccak256(
  concatBytes(
    keccak256(formatUtf8('EIP712Domain(string name,string version)')),
    keccak256(formatUtf8(attributionDomain.name)),
    keccak256(formatUtf8(attributionDomain.version)),
  ),
)

/** EIP-712 digest of an attribution, which is signed and from which a signer is recovered. 32 bytes. */
export function hashAttribution(message: AttributionMessage): Uint8Array {
  const words = new Uint8Array(8 * 32)
  words.set(typeHash, 0)
  words.set(keccak256(formatUtf8(message.code)), 32)
  words.set(message.actionId, 64)
  new DataView(words.buffer).setBigUint64(96 + 24, BigInt(message.chainId))
  words.set(addressBytes(message.wallet), 128 + 12)
  words.set(addressBytes(message.target), 160 + 12)
  words.set(message.callHash, 192)
  words.set(keccak256(formatUtf8(message.referralCode)), 224)
  return keccak256(concatBytes(Uint8Array.of(0x19, 0x01), domainSeparator, keccak256(words)))
}

/** Signature (65 bytes, v 27 or 28) of an attribution by a private key (32 bytes). Deterministic. */
export function signAttribution(
  message: AttributionMessage,
  privateKey: Uint8Array,
  sign: SignDigest = signDigest,
): Uint8Array {
  return sign(hashAttribution(message), privateKey)
}

/** Who signed an attribution, lower-case, or undefined when the signature is of nobody. */
export function recoverAttributionSigner(
  message: AttributionMessage,
  signature: Uint8Array,
  recover: Recover = recoverAddress,
): Address | undefined {
  return recover(hashAttribution(message), signature)
}

/** Bytes of an action id given as a uuid or as 0x and 32 hex digits; throws RangeError on anything else. */
export function parseActionId(actionId: string): Uint8Array {
  const bytes = parseHex(actionId.startsWith('0x') ? actionId : `0x${actionId.replaceAll('-', '')}`)
  if (bytes?.length !== 16) throw new RangeError('an action id is a uuid or 16 bytes of hex')
  return bytes
}

/** An action id as the lower-case uuid it is everywhere else. */
export function formatActionId(bytes: Uint8Array): string {
  return formatHex(bytes)
    .slice(2)
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** The call a suffix is appended to, and what it says. */
export type SuffixInput = {
  code: string
  actionId: string
  chainId: number
  wallet: Address
  target: Address
  data: Calldata
  referralCode?: string | undefined
  /** The plan swaps before or after the call; not covered by the signature. */
  swaps?: boolean | undefined
}

/**
 * A suffix that waits for its signature: the digest to sign, and the suffix with the signature, or without one.
 * `data` is the call before it (suffixes already there stay and are not covered by the signature, as when it is read),
 * `wallet` makes the call, `target` is the called contract, `actionId` a uuid or 16 bytes of hex. Throws RangeError on a
 * malformed argument.
 */
export function prepareSuffix(input: SuffixInput): { digest: Uint8Array; suffix(signature?: Uint8Array): Hex } {
  const data = calldataBytes(input.data)
  const message: AttributionMessage = {
    code: input.code,
    actionId: parseActionId(input.actionId),
    chainId: input.chainId,
    wallet: input.wallet,
    target: input.target,
    callHash: keccak256(data.subarray(0, readTails(data).bodyEnd)),
    referralCode: input.referralCode ?? '',
  }
  const { code, actionId, referralCode } = message
  const { swaps } = input
  return {
    digest: hashAttribution(message),
    suffix: (signature) => formatHex(encodeSuffix({ code, actionId, referralCode, swaps, signature })),
  }
}

/** The signed suffix to append to one call: data with this suffix is the call's final calldata. */
export function buildSuffix(
  input: SuffixInput & {
    privateKey: Hex
    /** A faster way to sign, if there is one. */
    sign?: SignDigest
  },
): Hex {
  const privateKey = parseHex(input.privateKey)
  if (privateKey?.length !== 32) throw new RangeError('a private key is 32 bytes of hex')
  const { digest, suffix } = prepareSuffix(input)
  return suffix((input.sign ?? signDigest)(digest, privateKey))
}

function addressBytes(address: Address): Uint8Array {
  const bytes = parseHex(address)
  if (bytes?.length !== 20) throw new RangeError('an address is 20 bytes of hex')
  return bytes
}
