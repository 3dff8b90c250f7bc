import { bytesToHex, type Hex, hexToBytes, keccak256, pad, toHex } from 'viem'
import { concatBytes, formatUtf8, hasBytesAt } from './bytes.js'
import type { Log } from './provenForms.js'

/** ERC-4337: the operation in which a log was emitted, and its callData in the transaction's input. */

const endedTopic = '0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f'
const beganTopic = '0xbb47ee3e183a558b1a2ff0874b079f3fc5478b7454eacf2bfc5af2ff5878f972'

/** An operation that succeeded: what it hashes to, its account, and the logs it can have emitted. */
export type Operation = { entryPoint: Hex; hash: Hex; sender: Hex; nonce: Uint8Array; from: number; to: number }

/** The operations whose logs a receipt holds: each after what ended the one before, or after execution began. */
export function listOperations(logs: readonly Log[], entryPoints: readonly string[]): Operation[] {
  const began = new Map<string, number>()
  return logs.flatMap(({ address, topics, data }, at) => {
    if (!entryPoints.includes(address)) return []
    if (topics[0] === beganTopic) began.set(address, at)
    const [first, hash, sender] = topics
    const from = began.get(address)
    if (first !== endedTopic || topics.length !== 4 || !hash || !sender || data.length !== 128) return []
    began.set(address, at)
    const isSuccess = data.subarray(32, 64).some((byte) => byte !== 0)
    const operation = { entryPoint: address, hash, sender: `0x${sender.slice(26)}` as Hex, nonce: data.subarray(0, 32) }
    return from === undefined || !isSuccess ? [] : [{ ...operation, from, to: at }]
  })
}

/** The hash of a text, and a value as a word, as EIP-712 has them. */
export const text = (value: string) => keccak256(formatUtf8(value), 'bytes')
export const word = (value: Hex | bigint) =>
  hexToBytes(typeof value === 'bigint' ? toHex(value, { size: 32 }) : pad(value))

/** The callData of an operation, found in the input by what the operation hashes to; undefined if it does not stand there. */
export function findCallData(input: Uint8Array, operation: Operation, chainId: bigint): Uint8Array | undefined {
  const head = concatBytes(word(operation.sender), operation.nonce)
  // Every place costs a few hashes: places made to look like operations are few.
  let left = 64
  for (let at = 0; at + 288 <= input.length; at++) {
    if (input[at + 63] !== head[63] || !hasBytesAt(input, at, head)) continue
    for (const words of [9, 11]) {
      const parts = [2, 3, words - 2].map((index) => readPart(input, at, index))
      const [initCode, callData, paymaster] = parts
      if (!initCode || !callData || !paymaster || left-- <= 0) continue
      const body = concatBytes(
        head,
        keccak256(initCode, 'bytes'),
        keccak256(callData, 'bytes'),
        input.subarray(at + 128, at + (words - 2) * 32),
        keccak256(paymaster, 'bytes'),
      )
      if (hashesOf(body, operation.entryPoint, chainId).includes(operation.hash)) return callData
    }
  }
  return undefined
}

function readPart(input: Uint8Array, base: number, index: number): Uint8Array | undefined {
  const offset = readLength(input, base + index * 32)
  const length = offset === undefined ? undefined : readLength(input, base + offset)
  if (offset === undefined || length === undefined || base + offset + 32 + length > input.length) return undefined
  return input.subarray(base + offset + 32, base + offset + 32 + length)
}

/** A word that can be a place in calldata. */
export function readLength(bytes: Uint8Array, at: number): number | undefined {
  if (at < 0 || at + 32 > bytes.length) return undefined
  for (let each = at; each < at + 28; each++) if (bytes[each] !== 0) return undefined
  const [a = 0, b = 0, c = 0, d = 0] = bytes.subarray(at + 28, at + 32)
  return a * 0x1000000 + (b << 16) + (c << 8) + d
}

/** The hashes of an operation: that of the EntryPoints 0.6 and 0.7, and that of 0.8, by EIP-712. */
function hashesOf(body: Uint8Array, entryPoint: Hex, chainId: bigint): Hex[] {
  const [place, chain] = [word(entryPoint), word(chainId)]
  const plain = keccak256(concatBytes(keccak256(body, 'bytes'), place, chain))
  const domainType = text('EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)')
  const domain = keccak256(concatBytes(domainType, text('ERC4337'), text('1'), chain, place), 'bytes')
  const type = text(
    'PackedUserOperation(address sender,uint256 nonce,bytes initCode,bytes callData,bytes32 accountGasLimits,uint256 preVerificationGas,bytes32 gasFees,bytes paymasterAndData)',
  )
  const struct = keccak256(concatBytes(type, body), 'bytes')
  return [plain, bytesToHex(keccak256(concatBytes(Uint8Array.of(0x19, 1), domain, struct), 'bytes'))]
}
