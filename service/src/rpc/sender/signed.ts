import { type Address, bytesToBigInt, type Hex, hexToBytes, keccak256, serializeTransaction, toHex } from 'viem'
import type { Signer } from '../signer.js'
import type { Fees } from './fees.js'

/** A transaction ready for a node; the hash is lower-case. */
export type Signed = { raw: Hex; hash: Hex }

type Unsigned = {
  chainId: number
  nonce: number
  to: string
  data: string
  value: bigint
  gasLimit: bigint
  fees: Fees
}

const toMembers = ({ chainId, nonce, to, data, value, gasLimit, fees }: Unsigned) => ({
  ...{ type: 'eip1559' as const, chainId, nonce, value, gas: gasLimit, to: to as Address, data: data as Hex },
  ...{ maxFeePerGas: fees.maxFee, maxPriorityFeePerGas: fees.tip },
})

/** The bytes of a transaction before it is signed. */
export function encodeUnsigned(transaction: Unsigned): Hex {
  return serializeTransaction(toMembers(transaction))
}

/** Signs a transaction of EIP-1559. Throws SignerFailed where no signature is to be had. */
export async function signOutgoing(signer: Signer, transaction: Unsigned): Promise<Signed> {
  const unsigned = toMembers(transaction)
  const signature = await signer.sign(hexToBytes(keccak256(serializeTransaction(unsigned))))
  const part = (from: number) => toHex(bytesToBigInt(signature.subarray(from, from + 32)), { size: 32 })
  const raw = serializeTransaction(unsigned, { r: part(0), s: part(32), yParity: (signature[64] ?? 27) - 27 })
  return { raw, hash: keccak256(raw) }
}
