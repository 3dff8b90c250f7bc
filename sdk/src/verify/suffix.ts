import { type Address, concat, type Hex, isAddressEqual, slice } from 'viem'
import { recoverSigner } from '../attribution/signer.js'
import { decode, encode, type OwnSuffix, readOwnMetadata } from '../attribution/suffix.js'
import type { Asked } from './asked.js'
import type { Common } from './context.js'
import type { Complain } from './shape.js'

/** The call and the one suffix after it, byte for byte as the service writes it. */
export function splitSuffix(data: Hex, complain: Complain): { call: Hex; own: OwnSuffix | undefined } {
  const suffixes = decode(data)
  const [suffix] = suffixes
  if (!suffix) return { call: data, own: undefined }
  const own = readOwnMetadata(suffix)
  const call = slice(data, 0, suffix.start)
  if (suffixes.length === 1 && own && concat([call, encode(own)]) === data) return { call, own }
  complain('the suffix is not of the form the service writes')
  return { call, own: undefined }
}

/**
 * Checks that the suffix names the requested distributor and is signed by a published signer for this very call, or is rightly
 * absent. `swaps`: it must say that the plan also swaps.
 */
export async function checkSuffix(
  asked: Asked,
  main: { to: Address; call: Hex; own: OwnSuffix | undefined; swaps: boolean },
  known: Common,
  complain: Complain,
): Promise<void> {
  const { to: target, call, own } = main
  const wanted = asked.distributorId ?? known.distributorId
  if (!own) {
    if (typeof wanted === 'string') complain('the last transaction carries no suffix')
    return
  }
  if (wanted === null) return complain('the last transaction carries a suffix nobody asked for')
  const problems = [
    typeof wanted === 'string' && own.code !== wanted && 'the suffix carries another distributor',
    (own.referralCode ?? '') !== (asked.type === 'deposit' ? asked.referralCode : '') &&
      'the suffix carries another referral code',
    (own.swaps ?? false) !== main.swaps && 'the suffix does not say rightly whether the plan swaps',
    known.actionId !== undefined && own.actionId !== known.actionId && 'the suffix carries another action',
  ].filter((problem) => problem !== false)
  problems.forEach(complain)
  if (problems.length > 0) return
  const { chainId, signers } = known
  const signer = await recoverSigner(own, { chainId, wallet: asked.user, target, call })
  const found = signers.filter(({ address }) => signer !== undefined && isAddressEqual(address, signer))
  if (found.length === 0) complain('the suffix is not signed by a published signer for this call')
  else if (found.every(({ retired }) => retired)) complain('the suffix is signed by a signer that is retired')
}
