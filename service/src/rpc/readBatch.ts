import { readerBytecode } from '@openearn/contracts'
import type { Address, Hex } from 'viem'
import { unavailable } from '../kernel/errors.js'
import { OutboundError } from '../kernel/outbound.js'
import { readBlockOf } from './blocks.js'
import { type Chain, readingChain } from './chains.js'
import { multicallMany } from './manyReads.js'
import { type Read, readerAddress } from './multicall.js'
import type { Header } from './raw.js'
import { decodeAnswer, encodeReader } from './readerCodec.js'
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
 * Reads views at one block, in the order of the request: `undefined` where one reverts or exceeds its share of the gas. They
 * are sent in one JSON-RPC batch, 250 in a call; more than 3,000 need several batches.
 *
 * If a node refuses, the calls get smaller. Throws a 503 if the node does not respond, or responds for another block.
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
        const call = parseCall(answers.bytes.parse(result), own[index]?.length ?? 0, block.timestamp)
        numbers.add(call.number)
        return call.told
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

/** The reader's code and its reads, put at an address for the time of the call. */
function buildCall(reads: readonly RawRead[], blockHash: string): RpcRequest {
  const code = encodeReader(readerBytecode, reads)
  return {
    method: 'eth_call',
    params: [{ to: readerAddress, data: '0x' }, { blockHash }, { [readerAddress]: { code } }],
  }
}

const anotherBlock = () => unavailable('a node answered of another block than asked; try again shortly')

/** Parses the result of the reader for a block of this time: the block number, and the bytes of each read that succeeded. */
function parseCall(text: Hex, count: number, timestamp: number): { number: number; told: (Hex | undefined)[] } {
  const answer = decodeAnswer(text)
  if (!answer) throw malformed('a node did not answer a read')
  // Asking in another way would not make it true.
  if (answer.timestamp !== BigInt(timestamp)) throw anotherBlock()
  if (answer.results.length !== count) throw malformed('a node answered other reads than asked')
  return { number: Number(answer.blockNumber), told: answer.results }
}
