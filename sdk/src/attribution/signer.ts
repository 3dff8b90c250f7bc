import { type Address, type Hex, hashTypedData, hexToBigInt, hexToNumber, keccak256, recoverAddress, slice } from 'viem'
import type { OwnSuffix } from './suffix.js'

const types = {
  Attribution: [
    { name: 'code', type: 'string' },
    { name: 'actionId', type: 'bytes16' },
    { name: 'chainId', type: 'uint256' },
    { name: 'wallet', type: 'address' },
    { name: 'target', type: 'address' },
    { name: 'callHash', type: 'bytes32' },
    { name: 'referralCode', type: 'string' },
  ],
} as const

const halfOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

/**
 * Who signed that this very call was brought by the suffix's code (EIP-712); undefined when the signature is of nobody
 * or not in the one form the service writes. `call` is the calldata before the suffix.
 */
export async function recoverSigner(
  suffix: OwnSuffix,
  context: { chainId: number; wallet: Address; target: Address; call: Hex },
): Promise<Address | undefined> {
  const { code, actionId, signature, referralCode } = suffix
  const v = hexToNumber(slice(signature, 64, 65))
  if ((v !== 27 && v !== 28) || hexToBigInt(slice(signature, 32, 64)) > halfOrder) return undefined
  const { chainId, wallet, target, call } = context
  const hash = hashTypedData({
    domain: { name: 'OpenEarn Attribution', version: '1' },
    types,
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
