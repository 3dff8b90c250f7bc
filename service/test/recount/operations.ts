import {
  decodeAbiParameters,
  encodeAbiParameters,
  type Hex,
  hashTypedData,
  keccak256,
  parseAbiParameters,
  toFunctionSelector,
} from 'viem'
import type { RawLog } from '../../src/rpc/raw.js'
import { addressOf, type Digits, digitsOf, find, slice, wordOf } from './bytes.js'

/** A user operation that a known entry point ran with success. */
export type Operation = { entryPoint: string; sender: string; callData: Digits; hash: string; endedAt: number }

const ended = '0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f'
const began = '0xbb47ee3e183a558b1a2ff0874b079f3fc5478b7454eacf2bfc5af2ff5878f972'
const executeUserOp = digitsOf(
  toFunctionSelector('executeUserOp((address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes),bytes32)'),
)

const old = [
  'struct Op { address sender; uint256 nonce; bytes initCode; bytes callData; uint256 callGasLimit; uint256 verificationGasLimit; uint256 preVerificationGas; uint256 maxFeePerGas; uint256 maxPriorityFeePerGas; bytes paymasterAndData; bytes signature; }',
] as const
const packed = [
  'struct Op { address sender; uint256 nonce; bytes initCode; bytes callData; bytes32 accountGasLimits; uint256 preVerificationGas; bytes32 gasFees; bytes paymasterAndData; bytes signature; }',
] as const
const oldOp = parseAbiParameters(['Op op', ...old])
const packedOp = parseAbiParameters(['Op op', ...packed])
type Old = {
  sender: Hex
  nonce: bigint
  initCode: Hex
  callData: Hex
  callGasLimit: bigint
  verificationGasLimit: bigint
  preVerificationGas: bigint
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
  paymasterAndData: Hex
  signature: Hex
}
type Packed = {
  sender: Hex
  nonce: bigint
  initCode: Hex
  callData: Hex
  accountGasLimits: Hex
  preVerificationGas: bigint
  gasFees: Hex
  paymasterAndData: Hex
  signature: Hex
}

/** ERC-4337, EntryPoint 0.6: the hash of the packed operation, with the entry point and the chain. */
export function hashOld(op: Old, entryPoint: string, chainId: number): Hex {
  const inner = encodeAbiParameters(
    parseAbiParameters('address, uint256, bytes32, bytes32, uint256, uint256, uint256, uint256, uint256, bytes32'),
    [
      op.sender,
      op.nonce,
      keccak256(op.initCode),
      keccak256(op.callData),
      op.callGasLimit,
      op.verificationGasLimit,
      op.preVerificationGas,
      op.maxFeePerGas,
      op.maxPriorityFeePerGas,
      keccak256(op.paymasterAndData),
    ],
  )
  return hashOuter(inner, entryPoint, chainId)
}
const hashOuter = (inner: Hex, entryPoint: string, chainId: number): Hex =>
  keccak256(
    encodeAbiParameters(parseAbiParameters('bytes32, address, uint256'), [
      keccak256(inner),
      entryPoint as Hex,
      BigInt(chainId),
    ]),
  )

/** EntryPoint 0.7. */
export function hashPacked(op: Packed, entryPoint: string, chainId: number): Hex {
  const inner = encodeAbiParameters(
    parseAbiParameters('address, uint256, bytes32, bytes32, bytes32, uint256, bytes32, bytes32'),
    [
      op.sender,
      op.nonce,
      keccak256(op.initCode),
      keccak256(op.callData),
      op.accountGasLimits,
      op.preVerificationGas,
      op.gasFees,
      keccak256(op.paymasterAndData),
    ],
  )
  return hashOuter(inner, entryPoint, chainId)
}

/** EntryPoint 0.8: EIP-712. */
export function hashTyped(op: Packed, entryPoint: string, chainId: number): Hex {
  return hashTypedData({
    domain: { name: 'ERC4337', version: '1', chainId, verifyingContract: entryPoint as Hex },
    primaryType: 'PackedUserOperation',
    types: {
      PackedUserOperation: [
        { name: 'sender', type: 'address' },
        { name: 'nonce', type: 'uint256' },
        { name: 'initCode', type: 'bytes' },
        { name: 'callData', type: 'bytes' },
        { name: 'accountGasLimits', type: 'bytes32' },
        { name: 'preVerificationGas', type: 'uint256' },
        { name: 'gasFees', type: 'bytes32' },
        { name: 'paymasterAndData', type: 'bytes' },
      ],
    },
    message: op,
  })
}

type Ending = { logIndex: number; entryPoint: string; hash: string; sender: string; nonce: bigint; success: boolean }

/** The UserOperationEvents of known entry points, in log order. */
export function readEndings(logs: readonly RawLog[], entryPoints: readonly string[]): Ending[] {
  return logs
    .filter((log) => log.topics[0] === ended && entryPoints.includes(log.address))
    .map((log) => ({
      logIndex: log.logIndex,
      entryPoint: log.address,
      hash: log.topics[1]!,
      sender: addressOf(log.topics[2]!),
      nonce: BigInt(`0x${digitsOf(log.data).slice(0, 64)}`),
      success: BigInt(`0x${digitsOf(log.data).slice(64, 128)}`) === 1n,
    }))
}

/**
 * The entry point in whose operation something was told: after its `BeforeExecution`, and the operation's end comes before it
 * begins anew. Of operations around each other the innermost, which ends first.
 */
export function runnerOf(
  logIndex: number,
  logs: readonly RawLog[],
  entryPoints: readonly string[],
): string | undefined {
  const open = entryPoints.flatMap((entryPoint) => {
    const marks = logs.filter((log) => log.address === entryPoint && [began, ended].includes(log.topics[0] ?? ''))
    const next = marks.find((log) => log.logIndex > logIndex)
    const hasBegun = marks.some((log) => log.topics[0] === began && log.logIndex < logIndex)
    return hasBegun && next?.topics[0] === ended ? [{ entryPoint, end: next.logIndex }] : []
  })
  return open.sort((a, b) => a.end - b.end)[0]?.entryPoint
}

/**
 * An event is of the operation that ends next at that entry point, one
 * before `BeforeExecution` of none.
 */
export function operationOf(
  logIndex: number,
  logs: readonly RawLog[],
  entryPoint: string,
  endings: readonly Ending[],
): Ending | undefined {
  const hasBegun = logs.some((log) => log.topics[0] === began && log.address === entryPoint && log.logIndex < logIndex)
  if (!hasBegun) return undefined
  return endings.find((each) => each.entryPoint === entryPoint && each.logIndex > logIndex)
}

/** The successful operations whose encoded form stands in some bytes: by sender and nonce, then by the hash. */
export function findOperations(bytes: Digits, endings: readonly Ending[], chainId: number): Operation[] {
  const found: Operation[] = []
  for (const ending of endings) {
    if (!ending.success || found.some(({ endedAt }) => endedAt === ending.logIndex)) continue
    const head = `${wordOf(ending.sender)}${wordOf(ending.nonce)}`
    for (let at = find(bytes, head); at >= 0; at = find(bytes, head, at + 1)) {
      const callData = readOperation(slice(bytes, at), ending, chainId)
      if (callData === undefined) continue
      const { entryPoint, sender, hash, logIndex } = ending
      found.push({ entryPoint, sender, hash, endedAt: logIndex, callData: stripExecute(callData) })
      break
    }
  }
  return found
}

const stripExecute = (callData: Digits): Digits => (callData.startsWith(executeUserOp) ? slice(callData, 4) : callData)

/** The callData of the operation that begins here, where its hash is that of the event. */
function readOperation(bytes: Digits, { hash, entryPoint }: Ending, chainId: number): Digits | undefined {
  // The tuple is read as the one argument of a call: its offset, then itself.
  const data: Hex = `0x${wordOf(32n)}${bytes}`
  try {
    const [op] = decodeAbiParameters(packedOp, data) as unknown as [Packed]
    if (hash === hashPacked(op, entryPoint, chainId) || hash === hashTyped(op, entryPoint, chainId))
      return digitsOf(op.callData)
  } catch (error) {
    if (!(error instanceof Error)) throw error
  }
  try {
    const [op] = decodeAbiParameters(oldOp, data) as unknown as [Old]
    return hash === hashOld(op, entryPoint, chainId) ? digitsOf(op.callData) : undefined
  } catch (error) {
    if (error instanceof Error) return undefined
    throw error
  }
}
