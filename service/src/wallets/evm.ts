import {
  concat,
  decodeAbiParameters,
  encodeDeployData,
  encodeFunctionData,
  erc6492SignatureValidatorAbi,
  erc6492SignatureValidatorByteCode,
  type Hex,
  hashMessage,
  hexToBigInt,
  padHex,
  parseAbi,
  recoverAddress,
  size,
  slice,
  toHex,
} from 'viem'
import { unavailable } from '../kernel/errors.js'
import { readHead } from '../rpc/blocks.js'
import { type Chain, readingChain } from '../rpc/chains.js'
import { signatureGas } from '../rpc/gasCaps.js'
import { type At, requestRead } from '../rpc/multicall.js'
import { RpcError } from '../rpc/rpc.js'
import { answers } from '../rpc/wire.js'

/** A wallet's claim to have signed a text. `address` is lower-case, `signature` as the client sent it. */
export type EvmClaim = { address: string; message: string; signature: string }

/** `contract-failed`: the contract of the wallet reverted, or ran out of the gas it is given. */
export type EvmVerdict = 'signed' | 'not-signed' | 'contract-failed'

/** Decides when a contract is asked. */
type InTurn = (ask: () => Promise<EvmVerdict>) => Promise<EvmVerdict>

/**
 * Whether an EVM wallet signed the text (EIP-191 personal message): by its own key, which an account with delegated code
 * (EIP-7702) has too, else by the word of the contract at the address (ERC-1271). A signature that is wrapped with what
 * creates the contract (ERC-6492) creates it only where there is no code yet, and only within the call that asks.
 * Contracts are asked on `chain`; without one only keys are checked. Throws 503 when the chain cannot be read.
 */
export async function verifyEvmSignature(
  chain: Chain | undefined,
  claim: EvmClaim,
  inTurn: InTurn = (ask) => ask(),
): Promise<EvmVerdict> {
  const { address, signature } = claim
  const hashed: Hashed = { address, signature, hash: hashMessage(claim.message) }
  const signer = await recoverSigner(hashed)
  if (signer === 'mirrored') return 'not-signed'
  if (signer === address) return 'signed'
  if (!chain || !bytesText.test(signature)) return 'not-signed'
  return inTurn(() => readingChain(chain, () => askContract(chain, hashed)))
}

/** A wallet's claim to have signed what has this hash. `address` is lower-case, `signature` as the client sent it. */
export type Hashed = { address: string; hash: Hex; signature: string }

/** By what a digest is signed; else why it is not. */
export type DigestVerdict = 'key' | 'contract' | 'mirrored' | Exclude<EvmVerdict, 'signed'>

/**
 * Whether an EVM wallet signed a digest, as a contract that checks it on the chain would find: by its own key, else by the
 * word of the contract at the address (ERC-1271), which has to stand there already. Throws 503 when the chain cannot be
 * read.
 */
export async function verifyEvmDigest(chain: Chain, claim: Hashed, inTurn: InTurn): Promise<DigestVerdict> {
  const signer = await recoverSigner(claim)
  if (signer === claim.address) return 'key'
  if (signer === 'mirrored') return 'mirrored'
  if (!bytesText.test(claim.signature)) return 'not-signed'
  const [wallet, given] = [claim.address as Hex, `0x${claim.signature.slice(2)}` as Hex]
  const ask = () => askWallet(chain, { wallet, hash: claim.hash, signature: given, at: 'latest' })
  const verdict = await inTurn(() => readingChain(chain, ask))
  return verdict === 'signed' ? 'contract' : verdict
}

/** At most 16,384 bytes, in hex. */
const bytesText = /^0[xX]([0-9a-fA-F]{2}){0,16384}$/

/** Half the order of secp256k1: the largest s that is not a mirrored signature (EIP-2). */
const halfOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

/**
 * The account whose key made a 65-byte signature with v 0, 1, 27 or 28; undefined for any other form, the compact one
 * of EIP-2098 included. The twin with a high s, which anybody can make of a good signature, is 'mirrored'.
 */
async function recoverSigner({ hash, signature }: Hashed): Promise<string | undefined> {
  const [, r, s, v = ''] = /^0[xX]([0-9a-f]{64})([0-9a-f]{64})(00|01|1b|1c)$/i.exec(signature) ?? []
  if (r === undefined || s === undefined) return undefined
  if (hexToBigInt(`0x${s}`) > halfOrder) return 'mirrored'
  const yParity = Number.parseInt(v, 16) % 27
  try {
    return (await recoverAddress({ hash, signature: { r: `0x${r}`, s: `0x${s}`, yParity } })).toLowerCase()
  } catch (error) {
    // An r or s that is out of range, or an r that is on no point: no key made this signature.
    if (error instanceof Error) return undefined
    throw error
  }
}

async function askContract(chain: Chain, { address, hash, signature }: Hashed): Promise<EvmVerdict> {
  const [wallet, given] = [address as Hex, `0x${signature.slice(2)}` as Hex]
  if (!isWrapped(given)) return askWallet(chain, { wallet, hash, signature: given, at: 'latest' })
  const inner = unwrap(given)
  if (inner === undefined) return 'not-signed'
  // One block for both, or the wallet could be created between them and found uninitialised by the call that creates it.
  const head = await readHead(chain)
  const at = { blockHash: head.hash }
  const code = await requestRead(chain, answers.bytes.parse, 'eth_getCode', [wallet, at])
  if (code !== '0x') return askWallet(chain, { wallet, hash, signature: inner, at })
  return askFutureWallet(chain, { wallet, hash, signature: given, at })
}

const abi = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)'])

type Asked = { wallet: Hex; hash: Hex; signature: Hex; at: At }

/** The whole word that says yes: the selector of the method, padded as the ABI has it. */
const yes = padHex('0x1626ba7e', { dir: 'right' })

/** An address without code returns nothing, which means no. */
async function askWallet(chain: Chain, { wallet, hash, signature, at }: Asked): Promise<EvmVerdict> {
  const data = encodeFunctionData({ abi, functionName: 'isValidSignature', args: [hash, signature] })
  const answer = await run(chain, { to: wallet, data }, at)
  if (answer === undefined) return 'contract-failed'
  return size(answer) >= 32 && slice(answer, 0, 32) === yes ? 'signed' : 'not-signed'
}

/** Runs the ERC-6492 reference validator as a call that creates it: nothing is deployed, nothing is sent. */
async function askFutureWallet(chain: Chain, { wallet, hash, signature, at }: Asked): Promise<EvmVerdict> {
  const data = encodeDeployData({
    abi: erc6492SignatureValidatorAbi,
    bytecode: erc6492SignatureValidatorByteCode,
    args: [wallet, hash, signature],
  })
  const answer = await run(chain, { data }, at)
  if (answer === undefined) return 'contract-failed'
  return answer === '0x01' ? 'signed' : 'not-signed'
}

/** The result of a call within its gas; undefined if its code failed. */
async function run(chain: Chain, call: { to?: Hex; data: Hex }, at: Asked['at']): Promise<Hex | undefined> {
  const gas = toHex(signatureGas)
  try {
    return answers.bytes.parse(await chain.rpc.request({ method: 'eth_call', params: [{ ...call, gas }, at] }))
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    if (isExecutionFailure(error)) return undefined
    throw unavailable(`${chain.name} cannot check the signature right now; try again shortly`, { cause: error })
  }
}

const magic = concat(Array<Hex>(16).fill('0x6492'))

function isWrapped(signature: Hex): boolean {
  return signature.slice(2).toLowerCase().endsWith(magic.slice(2))
}

/** The wallet's own signature within a wrapped one; undefined if it is not wrapped. */
function unwrap(signature: Hex): Hex | undefined {
  try {
    const parameters = [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }] as const
    return decodeAbiParameters(parameters, slice(signature, 0, -32))[2]
  } catch {
    return undefined
  }
}

/**
 * True when the node ran the code and the code failed: an answer, where every other error is the node's trouble. Nodes
 * say so in words of their own, and to run out of the gas the call names is a failure of the code too.
 */
function isExecutionFailure({ code, message }: RpcError): boolean {
  return code === 3 || code === -32015 || failures.test(message)
}

const failures =
  /revert|evm error|vm execution|out ?of ?gas|gas required exceeds|(invalid|bad|undefined) (opcode|instruction|jump)|stack (under|over)flow|stack limit|write protection|return ?data out of/i
