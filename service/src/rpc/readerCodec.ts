import type { Address, Hex } from 'viem'

/**
 * Codec of the input and output of the reader (`Reader.sol`). Written by hand: a call has thousands of reads, and a general
 * codec takes longer for them than the node. Pure.
 */

const wordBytes = 32
const wordDigits = 2 * wordBytes

const toWord = (value: number): string => value.toString(16).padStart(wordDigits, '0')

/** The reader's creation code with its reads: `(address target, bytes data)[]`. */
export function encodeReader(bytecode: Hex, reads: readonly { target: Address; data: Hex }[]): Hex {
  const offsets: string[] = []
  const tuples: string[] = []
  let offset = reads.length * wordBytes
  for (const { target, data } of reads) {
    offsets.push(toWord(offset))
    const digits = data.length - 2
    const padded = Math.ceil(digits / wordDigits) * wordDigits
    tuples.push(
      target.slice(2).toLowerCase().padStart(wordDigits, '0'),
      toWord(2 * wordBytes),
      toWord(digits / 2),
      data.slice(2).padEnd(padded, '0'),
    )
    offset += 3 * wordBytes + padded / 2
  }
  return `${bytecode}${toWord(wordBytes)}${toWord(reads.length)}${offsets.join('')}${tuples.join('')}`
}

export type ReaderAnswer = { blockNumber: bigint; timestamp: bigint; results: (Hex | undefined)[] }

/** `(uint256 blockNumber, uint256 timestamp, (bool success, bytes data)[] results)`; undefined if malformed. */
export function decodeAnswer(answer: Hex): ReaderAnswer | undefined {
  const length = (answer.length - 2) / 2
  /** Reads a position or a length; a number larger than the whole response is neither. */
  const readNumber = (at: number): number => {
    if (at + wordBytes > length) return Number.POSITIVE_INFINITY
    return Number.parseInt(answer.slice(2 + 2 * at, 2 + 2 * at + wordDigits), 16)
  }
  const array = readNumber(2 * wordBytes)
  const count = readNumber(array)
  const first = array + wordBytes
  if (first + count * wordBytes > length) return undefined
  const results: (Hex | undefined)[] = []
  for (let index = 0; index < count; index++) {
    const tuple = first + readNumber(first + index * wordBytes)
    const success = readNumber(tuple)
    const data = tuple + readNumber(tuple + wordBytes)
    const size = readNumber(data)
    const end = data + wordBytes + size
    if (success > 1 || !(end <= length)) return undefined
    const from = 2 + 2 * (data + wordBytes)
    results.push(success === 1 ? `0x${answer.slice(from, from + 2 * size)}` : undefined)
  }
  const [blockNumber, timestamp] = [0, wordBytes].map((at) =>
    BigInt(`0x${answer.slice(2 + 2 * at, 2 + 2 * at + wordDigits)}`),
  )
  return blockNumber === undefined || timestamp === undefined ? undefined : { blockNumber, timestamp, results }
}
