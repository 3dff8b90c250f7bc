import { askerBytecode, readerBytecode } from '@openearn/contracts'
import {
  type Abi,
  type Address,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type ContractFunctionReturnType,
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
  hexToBigInt,
  prepareEncodeFunctionData,
  size,
  slice,
} from 'viem'
import { unavailable } from '../kernel/errors.js'
import { type Chain, readingChain } from './chains.js'
import { decodeAnswer, encodeReader } from './readerCodec.js'
import { RpcError } from './rpc.js'
import { answers, malformed } from './wire.js'

/** Reads of a chain that are sent together, and the function that parses them. A read that reverts returns undefined. */
export type Read<T> = {
  readonly reads: readonly { target: Address; data: Hex }[]
  /** `timestamp`: of the block it was read at, where that is told. */
  readonly answer: (results: readonly (Hex | undefined)[], timestamp?: bigint) => T
}

/** A view of a contract; undefined if it reverts or its result does not fit the interface. */
export function readContract<
  const abi extends Abi,
  name extends ContractFunctionName<abi, 'pure' | 'view'>,
  const args extends ContractFunctionArgs<abi, 'pure' | 'view', name>,
>(
  target: Address,
  abi: abi,
  functionName: name,
  args: args,
): Read<ContractFunctionReturnType<abi, 'pure' | 'view', name, args> | undefined> {
  const { call, isWord, encode } = prepare(abi as Abi, functionName as string, args as readonly unknown[])
  return {
    reads: [{ target, data: encode() }],
    answer: ([result]) => {
      if (result === undefined || result === '0x') return undefined
      // The codec for everything takes some twenty times as long.
      if (isWord && result.length === 66) return BigInt(result) as never
      try {
        return decodeFunctionResult({ ...call, data: result }) as ContractFunctionReturnType<
          abi,
          'pure' | 'view',
          name,
          args
        >
      } catch {
        return undefined
      }
    },
  }
}

/** `isWord`: the result is one number of 256 bits. */
type Prepared = { abi: Abi; isWord: boolean; encoding: { abi: Abi; functionName: Hex } }

const preparedOf = new WeakMap<Abi, Map<string, Prepared>>()

/** A call of a function. Of one that is alone with its name, the item and the selector are looked for once. */
function prepare(abi: Abi, functionName: string, args: readonly unknown[]) {
  const known = preparedOf.get(abi) ?? new Map<string, Prepared>()
  preparedOf.set(abi, known)
  let prepared = known.get(functionName)
  if (!prepared) {
    const items = abi.filter((item) => item.type === 'function' && item.name === functionName)
    if (items.length !== 1) {
      const call = { abi, functionName, args }
      return { call, isWord: false, encode: () => encodeFunctionData(call) }
    }
    const { outputs = [] } = items[0] as { outputs?: readonly { type: string }[] }
    const isWord = outputs.length === 1 && outputs[0]?.type === 'uint256'
    prepared = {
      abi: items,
      isWord,
      encoding: prepareEncodeFunctionData({ abi: items, functionName }) as Prepared['encoding'],
    }
    known.set(functionName, prepared)
  }
  const { encoding, isWord } = prepared
  return {
    call: { abi: prepared.abi, functionName, args },
    isWord,
    encode: () => encodeFunctionData({ ...encoding, args }),
  }
}

/** The native balance of an address and the length of its code. */
export function readAccount(address: Address): Read<{ balance: bigint; codeLength: bigint }> {
  return {
    reads: [{ target: address, data: '0x' }],
    answer: ([result]) => {
      if (result === undefined || size(result) < 64) return { balance: 0n, codeLength: 0n }
      return { balance: hexToBigInt(slice(result, 0, 32)), codeLength: hexToBigInt(slice(result, 32, 64)) }
    },
  }
}

/** Several reads as one. */
export function combine<R extends Record<string, Read<unknown>>>(
  named: R,
): Read<{ [name in keyof R]: R[name] extends Read<infer T> ? T : never }> {
  const names = Object.keys(named)
  return mapRead(
    combineAll(Object.values(named)),
    (answered) =>
      Object.fromEntries(names.map((name, at) => [name, answered[at]])) as {
        [name in keyof R]: R[name] extends Read<infer T> ? T : never
      },
  )
}

/** Reads of one sort, as many as there are, as one. */
export function combineAll<T>(reads: readonly Read<T>[]): Read<T[]> {
  return {
    reads: reads.flatMap((read) => read.reads),
    answer: (results, timestamp) => {
      let at = 0
      return reads.map((read) => {
        const from = at
        at += read.reads.length
        return read.answer(results.slice(from, at), timestamp)
      })
    },
  }
}

/** A read whose answer is made something else. */
export function mapRead<T, U>(read: Read<T>, map: (answer: T) => U): Read<U> {
  return { reads: read.reads, answer: (results, timestamp) => map(read.answer(results, timestamp)) }
}

export type MulticallResult<T> = { blockNumber: bigint; timestamp: bigint; answer: T }

/** A block to read at: the latest, or one by its hash. */
export type At = 'latest' | { blockHash: string }

/**
 * Reads everything in one `eth_call`, at one block: the creation code of the reader runs and returns the results, so no
 * contract has to be deployed. Throws a 503 if the node cannot be reached or refuses the call itself.
 */
export async function multicall<T>(
  chain: Pick<Chain, 'name' | 'rpc'>,
  read: Read<T>,
  at: At = 'latest',
  bytecode: Hex = readerBytecode,
): Promise<MulticallResult<T>> {
  const data = encodeReader(bytecode, read.reads)
  const parse = (value: unknown) => parseResults(value, read.reads.length)
  const { blockNumber, timestamp, results } = await requestRead(chain, parse, 'eth_call', [{ data }, at])
  return { blockNumber, timestamp, answer: read.answer(results, timestamp) }
}

/** Where the reader stands for the time of a call: nobody has the key. */
export const readerAddress: Address = '0x00000000000000000000000000006f70656e4541'

/**
 * The same with the reader's code and its reads put at an address by state override: nodes bound the length of creation
 * code, not of this. One that takes no overrides refuses, or does not answer a read: a 503 either way.
 */
export async function multicallOver<T>(
  chain: Pick<Chain, 'name' | 'rpc'>,
  read: Read<T>,
  at: At = 'latest',
  bytecode: Hex = readerBytecode,
): Promise<MulticallResult<T>> {
  const code = encodeReader(bytecode, read.reads)
  const parse = (value: unknown) => parseResults(value, read.reads.length)
  const params = [{ to: readerAddress, data: '0x' }, at, { [readerAddress]: { code } }]
  const { blockNumber, timestamp, results } = await requestRead(chain, parse, 'eth_call', params)
  return { blockNumber, timestamp, answer: read.answer(results, timestamp) }
}

/**
 * The same for contracts that change something on the way to their answer, as those do that quote a swap. Nothing of it
 * stays on the chain, but what one call leaves the next ones see.
 */
export function multicallWriting<T>(
  chain: Pick<Chain, 'name' | 'rpc'>,
  read: Read<T>,
  at: At,
): Promise<MulticallResult<T>> {
  return multicall(chain, read, at, askerBytecode)
}

/** Parses the result of the reader. A missing read is an error: it would pass for a read that reverts. */
function parseResults(value: unknown, count: number) {
  const answer = decodeAnswer(answers.bytes.parse(value))
  if (!answer) throw malformed('a node did not answer a read')
  if (answer.results.length !== count) throw malformed('a node answered other reads than asked')
  return answer
}

/** A read a node must be able to answer: silence, a refusal or an answer that does not parse is a 503. */
export async function requestRead<T>(
  chain: Pick<Chain, 'name' | 'rpc'>,
  parse: (answer: unknown) => T,
  method: string,
  params: unknown,
): Promise<T> {
  try {
    return await readingChain(chain, async () => parse(await chain.rpc.request({ method, params })))
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    throw unavailable(`${chain.name} refused a read; try again shortly`, { cause: error, retryAfterSeconds: 5 })
  }
}
