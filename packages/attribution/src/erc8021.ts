import { concatBytes, formatUtf8 } from './bytes.js'
import { decodeCbor, encodeCbor } from './cbor.js'
import { isDistributorCode, isReferralCode } from './codes.js'
import { findBadCode } from './erc8021Fields.js'
import { marker, readSuffix, readSuffixes, type Suffix } from './readSuffixes.js'

export { marker, type Span, type Suffix, stackMax, suffixCodes } from './readSuffixes.js'

/**
 * The outermost ERC-8021 suffix of the bytes, read strictly (`readSuffix`). Undefined when the bytes do not end in the marker.
 * Reads bytes from `floor` up to `end` only; never throws.
 */
export function decodeSuffix(data: Uint8Array, end = data.length, floor = 0): Suffix | undefined {
  return readSuffix(decodeCbor, data, end, floor)
}

/** Every ERC-8021 suffix stacked at the end of the bytes, outermost first, at most eight (`readSuffixes`). Never throws. */
export function decodeSuffixes(data: Uint8Array, end = data.length, floor = 0): Suffix[] {
  return readSuffixes(decodeCbor, data, end, floor)
}

/** The members of a suffix this service writes. */
type OwnMembers = {
  code: string
  actionId: Uint8Array
  referralCode?: string | undefined
  /** The plan swaps before or after this call. */
  swaps?: boolean | undefined
  signature?: Uint8Array | undefined
}

/**
 * The suffix this service writes: schema 2 with the distributor as application code and, in the metadata, the action's
 * id (16 bytes), the referral code when there is one, that the plan swaps where it does, and the signature (65 bytes). Throws RangeError on anything else.
 */
export function encodeSuffix(input: OwnMembers): Uint8Array {
  const { code, actionId, referralCode, signature } = input
  if (!isDistributorCode(code)) throw new RangeError('a distributor code is 1 to 32 of A-Z a-z 0-9 _ -')
  if (actionId.length !== 16) throw new RangeError('an action id is 16 bytes')
  if (signature && signature.length !== 65) throw new RangeError('a signature is 65 bytes')
  if (referralCode && !isReferralCode(referralCode))
    throw new RangeError('a referral code is up to 64 of A-Z a-z 0-9 _ -')
  return encodeOwnSuffix(input)
}

/**
 * The same form with whatever members a suffix was read with: of the code only that it can be read again is checked
 * (RangeError), of the others nothing.
 */
export function encodeOwnSuffix({ code, actionId, referralCode, swaps, signature }: OwnMembers): Uint8Array {
  if (findBadCode(code)) throw new RangeError('the code cannot be written')
  const metadata = {
    i: actionId,
    ...(signature ? { g: signature } : {}),
    ...(referralCode ? { r: referralCode } : {}),
    ...(swaps ? { s: true } : {}),
  }
  const cbor = encodeCbor({ a: code, m: metadata })
  return concatBytes(cbor, Uint8Array.of(cbor.length >> 8, cbor.length & 0xff, 2), marker)
}

/** A suffix of codes alone (schema 0). Throws RangeError on codes that cannot be written. */
export function encodeCodes(codes: readonly string[]): Uint8Array {
  if (codes.length === 0 || codes.some(findBadCode)) throw new RangeError('a code cannot be written')
  const list = formatUtf8(codes.join(','))
  if (list.length > 255) throw new RangeError('the codes have more than 255 bytes in all')
  return concatBytes(list, Uint8Array.of(list.length, 0), marker)
}
