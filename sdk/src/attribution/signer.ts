import { type Address, type Hex, hashTypedData, hexToBytes, keccak256, recoverAddress } from 'viem'
import { attributionDomain, attributionTypes, isCanonicalSignature } from '../codec.js'
import type { OwnSuffix } from './suffix.js'

/**
 * Who signed that this very call was brought by the suffix's code (EIP-712); undefined when the signature is of nobody
 * or not in the one form the service writes. `call` is the calldata before the suffix. Hashed and recovered by viem, so
 * that the service's own hashing is checked by another's.
 */
export async function recoverSigner(
  suffix: OwnSuffix,
  context: { chainId: number; wallet: Address; target: Address; call: Hex },
): Promise<Address | undefined> {
  const { code, actionId, signature, referralCode } = suffix
  if (!isCanonicalSignature(hexToBytes(signature))) return undefined
  const { chainId, wallet, target, call } = context
  const hash = hashTypedData({
    domain: attributionDomain,
    types: attributionTypes,
    primaryType: 'Attribution',
    message: {
      code,
      actionId,
      chainId: BigInt(chainId),
      wallet,
      target,
      callHash: keccak256(call),
      referralCode: referralCode ?? '',
    },
  })
  try {
    return await recoverAddress({ hash, signature })
  } catch {
    return undefined
  }
}
