import { type Address, bytesToBigInt, type Hex, hexToBytes, keccak256, serializeTransaction, toHex } from 'viem'
import type { Signer } from '../signer.js'
import type { Fees } from './fees.js'

/** A transaction ready for a node; the hash is lower-case. */
export type Signed = { raw: Hex; hash: Hex }

/** Signs a transaction of EIP-1559. Throws SignerFailed where no signature is to be had. */
export async function signOutgoing(
  signer: Signer,
  transaction: {
    chainId: number
    nonce: number
    to: string
    data: string
    value: bigint
    gasLimit: bigint
    fees: Fees
  },
): Promise<Signed> {
  const { chainId, nonce, value, gasLimit, fees } = transaction
  const unsigned = {
    ...{ type: 'eip1559' as const, chainId, nonce, value, gas: gasLimit },
    ...{ to: transaction.to as Address, data: transaction.data as Hex },
    ...{ maxFeePerGas: fees.maxFee, maxPriorityFeePerGas: fees.tip },
  }
  const signature = await signer.sign(hexToBytes(keccak256(serializeTransaction(unsigned))))
  const part = (from: number) => toHex(bytesToBigInt(signature.subarray(from, from + 32)), { size: 32 })
  const raw = serializeTransaction(unsigned, { r: part(0), s: part(32), yParity: (signature[64] ?? 27) - 27 })
  return { raw, hash: keccak256(raw) }
}
