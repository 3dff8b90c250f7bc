import { readerBytecode } from '@openearn/contracts'
import type { Address, Hex } from 'viem'
import { unavailable } from '../kernel/errors.js'
import { OutboundError } from '../kernel/outbound.js'
import { readBlockOf } from './blocks.js'
import { type Chain, readingChain } from './chains.js'
import { multicallMany } from './manyReads.js'
import { type Read, readerAddress } from './multicall.js'
import type { Header } from './raw.js'
import { RpcError, type RpcRequest } from './rpc.js'
import { answers, malformed } from './wire.js'

/** One view of a contract; empty data asks for the native balance and the length of the code of its target. */
export type RawRead = { readonly target: Address; readonly data: Hex }

/** Reads in one `eth_call`: each may use what gas the ones before it left, shared evenly. */
export const readsPerCall = 250
/** Such calls in one HTTP call, and HTTP calls at a time. */
const callsPerBatch = 12
const batchesInFlight = 4
/** Reads in a call where a node refuses more. */
const fewerPerCall = 100

/**
 * Answers views at one block, in the order asked: `undefined` where one reverts or runs out of its share of the gas. All go
 * out in one JSON-RPC batch, 250 in a call; only what is more than 3,000 takes several. The words are written and read by
 * hand here: with hundreds of reads a general codec takes longer than the node.
 *
 * A node that refuses it so is asked in smaller calls. One that answers of another block than asked is a 503, as is one
 * that does not answer.
 */
export async function readBatch(
  chain: Pick<Chain, 'name' | 'rpc'>,
  reads: readonly RawRead[],
  block: Pick<Header, 'number' | 'hash' | 'timestamp'>,
): Promise<(Hex | undefined)[]> {
  if (reads.length === 0) return []
  const chunks = cut(reads, readsPerCall)
  const batches = cut(chunks, callsPerBatch)
  const told: (Hex | undefined)[][] = []
  const numbers = new Set<number>()
  let next = 0
  const work = async (): Promise<void> => {
    for (let at = next++; at < batches.length; at = next++) {
      const own = batches[at] ?? []
      const results = await chain.rpc.batch(own.map((chunk) => buildCall(chunk, block.hash)))
      told[at] = results.flatMap((result, index) => {
        const text = answers.bytes.parse(result)
        numbers.add(parseWordAt(text, 0))
        return parseCall(text, own[index]?.length ?? 0, block.timestamp)
      })
    }
  }
  let found: (Hex | undefined)[]
  try {
    found = await readingChain(chain, async () => {
      await Promise.all(Array.from({ length: Math.min(batchesInFlight, batches.length) }, work))
      return told.flat()
    })
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
    if (!(cause instanceof RpcError || (cause instanceof OutboundError && isTooMuch(cause)))) throw error
    const each = reads.map((read) => toRead(read, block.timestamp))
    const fewer = await multicallMany(chain, each, { blockHash: block.hash }, fewerPerCall)
    return fewer.answers.map((told) => told?.answer)
  }
  // Contracts of some chains see the number of another: the header of the hash decides then.
  const isOther = numbers.size > 1 || !numbers.has(block.number)
  if (isOther && (await readBlockOf(chain, block.hash)).number !== block.number) throw anotherBlock()
  return found
}

const isTooMuch = ({ kind }: OutboundError): boolean =>
  kind === 'client' || kind === 'too-large' || kind === 'malformed' || kind === 'server'

function toRead(read: RawRead, timestamp: number): Read<Hex | undefined> {
  return {
    reads: [read],
    answer: ([result], of) => {
      if (of !== BigInt(timestamp)) throw anotherBlock()
      return result
    },
  }
}

function cut<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size))
}

const word = (value: number): string => value.toString(16).padStart(64, '0')
/** Where the bytes of a read begin within it. */
const bytesAt = word(64)

/** The reader's code and its reads, put at an address for the time of the call. */
function buildCall(reads: readonly RawRead[], blockHash: string): RpcRequest {
  const offsets: string[] = []
  const bodies: string[] = []
  let offset = reads.length * 32
  for (const { target, data } of reads) {
    const digits = data.slice(2)
    const padded = Math.ceil(digits.length / 64) * 64
    offsets.push(word(offset))
    bodies.push(
      `${target.slice(2).toLowerCase().padStart(64, '0')}${bytesAt}${word(digits.length / 2)}${digits.padEnd(padded, '0')}`,
    )
    offset += 96 + padded / 2
  }
  const code = `${readerBytecode}${word(32)}${word(reads.length)}${offsets.join('')}${bodies.join('')}`
  return {
    method: 'eth_call',
    params: [{ to: readerAddress, data: '0x' }, { blockHash }, { [readerAddress]: { code } }],
  }
}

/** A word of an answer that is a number, a time, a length or a place: no such is more than 2^48. */
function parseWordAt(text: Hex, at: number): number {
  const digits = text.slice(2 + at * 2, 2 + at * 2 + 64)
  if (digits.length !== 64 || !digits.startsWith('0'.repeat(52))) throw malformed('a node did not answer a read')
  return Number.parseInt(digits.slice(52), 16)
}

const anotherBlock = () => unavailable('a node answered of another block than asked; try again shortly')

/** What the reader answers: the block's number and time, and of each read whether it succeeded and its bytes. */
function parseCall(text: Hex, count: number, timestamp: number): (Hex | undefined)[] {
  const small = (at: number): number => parseWordAt(text, at)
  // Asking in another way would not make it true.
  if (small(32) !== timestamp) throw anotherBlock()
  const list = small(64)
  if (small(list) !== count) throw malformed('a node answered other reads than asked')
  const start = list + 32
  return Array.from({ length: count }, (_, index) => {
    const at = start + small(start + index * 32)
    const isSuccess = small(at) === 1
    const bytes = at + small(at + 32)
    const length = small(bytes)
    const digits = text.slice(2 + (bytes + 32) * 2, 2 + (bytes + 32 + length) * 2)
    if (digits.length !== length * 2) throw malformed('a node did not answer a read')
    return isSuccess ? (`0x${digits}` as const) : undefined
  })
}
