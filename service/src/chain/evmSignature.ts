import {
  encodeDeployData,
  erc6492SignatureValidatorAbi,
  erc6492SignatureValidatorByteCode,
  type Hex,
  hashMessage,
} from 'viem'
import { unavailable } from '../kernel/errors.js'
import { isCanonicalSignature, recoverAddress } from './attribution/index.js'
import { type Chain, readingChain } from './chains.js'
import { RpcError } from './rpc.js'

/** A wallet's claim to have signed a text. `address` is lower-case, `signature` as the client sent it. */
export type EvmClaim = { address: string; message: string; signature: string }

/**
 * Whether an EVM wallet signed the text (EIP-191 personal message): by the key of an externally owned account, else by
 * the word of the contract at the address (ERC-1271), which a wrapped signature may deploy first (ERC-6492). Contracts
 * are asked on `chain`; without one only keys are checked. Throws 503 when the chain cannot be read.
 */
export async function verifyEvmSignature(chain: Chain | undefined, claim: EvmClaim): Promise<boolean> {
  const signer = recoverSigner(claim)
  if (signer === 'mirrored') return false
  if (signer === claim.address) return true
  if (!chain || !/^0[xX]([0-9a-fA-F]{2}){1,16384}$/.test(claim.signature)) return false
  return askContract(chain, claim)
}

/**
 * The account whose key made a 65-byte signature with v 0, 1, 27 or 28; undefined for any other form, the compact one
 * of EIP-2098 included. The twin with a high s, which anybody can make of a good signature, is 'mirrored'.
 */
function recoverSigner({ message, signature }: EvmClaim): string | undefined {
  if (!/^0[xX][0-9a-fA-F]{130}$/.test(signature)) return undefined
  const bytes = Uint8Array.from(Buffer.from(signature.slice(2), 'hex'))
  const v = bytes[64] ?? 0
  bytes[64] = v < 2 ? v + 27 : v
  if (bytes[64] !== 27 && bytes[64] !== 28) return undefined
  if (!isCanonicalSignature(bytes)) return 'mirrored'
  return recoverAddress(hashMessage(message, 'bytes'), bytes)
}

/** Runs the ERC-6492 reference validator as an `eth_call` that creates it: nothing is deployed, nothing is sent. */
async function askContract(chain: Chain, { address, message, signature }: EvmClaim): Promise<boolean> {
  const data = encodeDeployData({
    abi: erc6492SignatureValidatorAbi,
    bytecode: erc6492SignatureValidatorByteCode,
    args: [address as Hex, hashMessage(message), `0x${signature.slice(2)}`],
  })
  return readingChain(chain, async () => {
    try {
      return (await chain.rpc.request({ method: 'eth_call', params: [{ data }, 'latest'] })) === '0x01'
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      if (isExecutionFailure(error)) return false
      throw unavailable(`${chain.name} cannot check the signature right now; try again shortly`, { cause: error })
    }
  })
}

/** True when the node ran the code and the code failed: an answer, where every other error is the node's trouble. */
function isExecutionFailure({ code, message }: RpcError): boolean {
  return (
    code === 3 ||
    code === -32015 ||
    /revert|invalid opcode|invalid jump|out of gas|stack (under|over)flow/i.test(message)
  )
}
