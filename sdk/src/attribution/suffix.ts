import { bytesToHex, type Hex, hexToBytes } from 'viem'
import { decodeSuffixes, encodeCodes, encodeOwnSuffix, type Suffix } from '../codec.js'

export { type Registry, type Suffix, suffixCodes as listCodes } from '../codec.js'

/** Every suffix at the end of calldata, outermost first, at most eight; empty without suffixes. Never throws. */
export function decode(calldata: Hex): Suffix[] {
  return decodeSuffixes(hexToBytes(calldata))
}

/**
 * A suffix of the service: the distributor's code, the action's id, a signature, a referral code if there is one, and whether
 * the plan swaps before or after the call.
 */
export type OwnSuffix = { code: string; actionId: Hex; referralCode?: string; swaps?: true; signature: Hex }

/**
 * A suffix to append to calldata: codes alone (schema 0), or what the service itself writes (schema 2). Throws RangeError
 * on codes that cannot be written.
 */
export function encode(input: { codes: readonly string[] } | OwnSuffix): Hex {
  if ('codes' in input) return bytesToHex(encodeCodes(input.codes))
  const { actionId, signature, ...others } = input
  return bytesToHex(encodeOwnSuffix({ ...others, actionId: hexToBytes(actionId), signature: hexToBytes(signature) }))
}

/** The members of our own metadata, of the form the service writes; undefined when one is of another form. */
export function readOwnMetadata(suffix: Suffix): OwnSuffix | undefined {
  if (suffix.status !== 'ok' || suffix.schemaId !== 2 || suffix.appCode === undefined) return undefined
  const actionId = suffix.metadata?.get('i')
  const signature = suffix.metadata?.get('g')
  const referralCode = suffix.metadata?.get('r')
  if (!(actionId instanceof Uint8Array) || actionId.length !== 16) return undefined
  if (!(signature instanceof Uint8Array) || signature.length !== 65) return undefined
  if (referralCode !== undefined && typeof referralCode !== 'string') return undefined
  const swaps = suffix.metadata?.get('s')
  if (swaps !== undefined && swaps !== true) return undefined
  return {
    code: suffix.appCode,
    actionId: bytesToHex(actionId),
    signature: bytesToHex(signature),
    ...(referralCode === undefined ? {} : { referralCode }),
    ...(swaps ? { swaps } : {}),
  }
}
