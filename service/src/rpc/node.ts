import { EarnError } from '../kernel/errors.js'
import { OutboundError } from '../kernel/outbound.js'
import { multicallMany } from './manyReads.js'
import type { Header, RawLog, RawTransaction } from './raw.js'
import { type Rpc, RpcError, type RpcRequest } from './rpc.js'
import type { Tracer } from './tracer.js'
import { readView, type View } from './views.js'
import { answers, malformed, toBlockHashes, toHeader, toLogs, toQuantity, toTransaction } from './wire.js'

/** The requests to a node. Every response is parsed here and compared with the request. */
export type Node = {
  chainId(): Promise<number>
  /** Undefined when the node does not know the block (or the tag). */
  findHeader(at: number | 'latest' | 'finalized'): Promise<Header | undefined>
  listHeaders(numbers: readonly number[]): Promise<Header[]>
  /** Logs of one block, in order. */
  listLogs(filter: LogFilter & { blockHash: string }): Promise<RawLog[]>
  /**
   * Logs of a range of blocks, in order, and the header of its last block, asked in one call of one node: a node that has
   * not reached the end of the range yet gives no logs of what it lacks, and no header. `hashes` are those of the blocks
   * the logs are of, by number.
   */
  listRange(filter: LogFilter & { fromBlock: number; toBlock: number }): Promise<LogRange>
  /** In any order: by hash, or where many of one block are wanted, with their block. */
  listTransactions(wanted: readonly WantedTransaction[]): Promise<RawTransaction[]>
  /** All logs of one transaction, which has to be in that block. */
  listReceiptLogs(wanted: WantedTransaction): Promise<RawLog[]>
  /** All logs of a block by another way than listLogs, to compare with; undefined where the node cannot. */
  listBlockLogs(blockHash: string): Promise<RawLog[] | undefined>
  /** Whether each wallet has code at its block, in the order of the request; an EIP-7702 delegation is not code. */
  haveCode?(wanted: readonly WantedCode[]): Promise<boolean[]>
  /**
   * Results of contract views at a block, as numbers, in the order of the request. Undefined if a view is refused or
   * returns something other than a number, or if no node keeps the state of that block.
   */
  readViews?(views: readonly View[], blockHash: string): Promise<(bigint | undefined)[]>
  /** Another node than the one that answered last, for a second opinion; undefined when there is only one. */
  secondary(): Node | undefined
  /** Uses another node from now on, if there is one: the responses of the last one contradict each other. */
  markUnreliable(): void
  /** Tells how transactions ran; absent where nobody is asked. */
  tracer?: Tracer
}

export type WantedCode = { wallet: string; blockHash: string }

export type WantedTransaction = { hash: string; blockHash: string }

export type LogRange = { logs: RawLog[]; hashes: ReadonlyMap<number, string>; last: Header }

export type LogFilter = { addresses: readonly string[]; topics: readonly string[] }

/** Requests in one HTTP call. */
const batchMax = 100
/** Such calls at a time. */
const batchesInFlight = 4
/** From as many transactions of one block on, asking for all of it is less work for the node than for each of them. */
const wholeBlockFrom = 8
/** Whole blocks in one HTTP call. */
const wholeBlocksMax = 4

/** Refusals that mean a node cannot do this at all: invalid request, no such method or parameters, not supported. */
const cannot = new Set([-32600, -32601, -32602, -32004])

/** Wraps the JSON-RPC of a chain. */
export function createNode(rpc: Rpc, tracer?: Tracer): Node {
  let hasBlockReceipts = true
  const batch = async (requests: readonly RpcRequest[], size = batchMax): Promise<unknown[]> => {
    const chunks = Array.from({ length: Math.ceil(requests.length / size) }, (_, index) =>
      requests.slice(index * size, (index + 1) * size),
    )
    const results: unknown[][] = []
    let next = 0
    const work = async (): Promise<void> => {
      for (let index = next++; index < chunks.length; index = next++)
        results[index] = await rpc.batch(chunks[index] ?? [])
    }
    await Promise.all(Array.from({ length: Math.min(batchesInFlight, chunks.length) }, work))
    return results.flat()
  }
  const headerRequest = (at: number | string): RpcRequest => ({
    method: 'eth_getBlockByNumber',
    params: [typeof at === 'number' ? toQuantity(at) : at, false],
  })
  const logsRequest = ({ addresses, topics }: LogFilter, place: Record<string, string>): RpcRequest => ({
    method: 'eth_getLogs',
    params: [{ ...place, address: addresses, topics: [topics] }],
  })
  const listReceiptsLogs = async (blockHash: string): Promise<RawLog[]> => {
    const value = await rpc.request({ method: 'eth_getBlockReceipts', params: [blockHash] })
    const logs = answers.receipts.parse(value).flatMap((receipt) => receipt.logs)
    return toLogs(logs, blockHash)
  }
  const listAllLogs = async (blockHash: string): Promise<RawLog[]> => {
    const value = await rpc.request({ method: 'eth_getLogs', params: [{ blockHash }] })
    return toLogs(answers.logs.parse(value), blockHash)
  }
  return {
    chainId: async () => Number(answers.quantity.parse(await rpc.request({ method: 'eth_chainId' }))),
    findHeader: async (at) => {
      const value = await rpc.request(headerRequest(at))
      return value === null ? undefined : parseHeader(value)
    },
    listHeaders: async (numbers) =>
      (await batch(numbers.map(headerRequest))).map((value, index) => parseHeaderAt(value, numbers[index])),
    listLogs: async ({ blockHash, ...filter }) =>
      toLogs(answers.logs.parse(await rpc.request(logsRequest(filter, { blockHash }))), blockHash),
    listRange: async ({ fromBlock, toBlock, ...filter }) => {
      const last = headerRequest(toBlock)
      const place = { fromBlock: toQuantity(fromBlock), toBlock: toQuantity(toBlock) }
      const isEmpty = filter.addresses.length === 0
      const [header, answer] = await batch(isEmpty ? [last] : [last, logsRequest(filter, place)])
      const logs = isEmpty ? [] : answers.logs.parse(answer)
      return { logs: toLogs(logs), hashes: toBlockHashes(logs), last: parseHeaderAt(header, toBlock) }
    },
    listTransactions: async (wanted) => {
      const byBlock = new Map<string, string[]>()
      for (const { hash, blockHash } of wanted) {
        const own = byBlock.get(blockHash)
        if (own) own.push(hash)
        else byBlock.set(blockHash, [hash])
      }
      const whole = [...byBlock].filter(([, own]) => own.length >= wholeBlockFrom)
      const single = wanted.filter(({ blockHash }) => (byBlock.get(blockHash)?.length ?? 0) < wholeBlockFrom)
      const inBlocks = await batch(
        whole.map(([hash]) => ({ method: 'eth_getBlockByHash', params: [hash, true] })),
        wholeBlocksMax,
      )
      const alone = await batch(single.map(({ hash }) => ({ method: 'eth_getTransactionByHash', params: [hash] })))
      return [
        ...inBlocks.flatMap((value, index) => {
          const [blockHash = '', own = []] = whole[index] ?? []
          return parseTransactionsOf(value, blockHash, new Set(own))
        }),
        ...alone.map((value, index) => {
          const mined = answers.mined.parse(value)
          const { hash, blockHash } = single[index] ?? {}
          if (mined.hash.toLowerCase() !== hash) throw malformed('a node answered another transaction than asked')
          if (mined.blockHash !== blockHash)
            throw malformed('a node placed a transaction in another block than its logs')
          return toTransaction(mined)
        }),
      ]
    },
    listReceiptLogs: async ({ hash, blockHash }) => {
      const value = await rpc.request({ method: 'eth_getTransactionReceipt', params: [hash] })
      return toLogs(answers.receipt.parse(value).logs, blockHash)
    },
    listBlockLogs: async (blockHash) => {
      let refusal: RpcError | undefined
      try {
        if (hasBlockReceipts) return await listReceiptsLogs(blockHash)
      } catch (error) {
        if (!(error instanceof RpcError)) throw error
        // A refusal for now must not end the check for good.
        if (cannot.has(error.code)) hasBlockReceipts = false
        else refusal = error
      }
      try {
        return await listAllLogs(blockHash)
      } catch (error) {
        if (!(error instanceof RpcError)) throw error
        if (refusal) throw refusal
        return undefined
      }
    },
    haveCode: async (wanted) => {
      const codes = await batch(
        wanted.map(({ wallet, blockHash }) => ({ method: 'eth_getCode', params: [wallet, { blockHash }] })),
      )
      return codes.map((code) => !isWithoutCode(answers.bytes.parse(code)))
    },
    readViews: (views, blockHash) => readViews(rpc, views, blockHash),
    secondary: () => {
      const other = rpc.secondary()
      return other && createNode(other, tracer)
    },
    markUnreliable: rpc.markUnreliable,
    ...(tracer ? { tracer } : {}),
  }
}

/** Failures that do not depend on the request, and those that may. */
const away: ReadonlySet<OutboundError['kind']> = new Set(['network', 'rate-limited', 'open', 'busy'])
const doubtful: ReadonlySet<OutboundError['kind']> = new Set(['server', 'timeout'])

async function readViews(rpc: Rpc, views: readonly View[], blockHash: string): Promise<(bigint | undefined)[]> {
  const reads = views.map(readView)
  try {
    const { answers: told } = await multicallMany({ name: 'the node', rpc }, reads, { blockHash })
    return told.map((each) => each?.answer)
  } catch (error) {
    if (!(error instanceof EarnError)) throw error
    // A node that is away says nothing of the state: it is asked again, and nothing is kept of it.
    const failure = error.cause instanceof OutboundError ? error.cause : undefined
    if (failure && away.has(failure.kind)) throw failure
    if (failure && doubtful.has(failure.kind)) await rpc.request({ method: 'eth_blockNumber', params: [] })
    return views.map(() => undefined)
  }
}

function parseHeader(value: unknown): Header {
  return toHeader(answers.header.parse(value))
}

function parseHeaderAt(value: unknown, number: number | undefined): Header {
  const header = parseHeader(value)
  if (header.number !== number) throw malformed('a node answered another block than asked')
  return header
}

/** The wanted transactions of a whole block. */
function parseTransactionsOf(value: unknown, blockHash: string, wanted: ReadonlySet<string>): RawTransaction[] {
  const block = answers.block.parse(value)
  if (block.hash !== blockHash) throw malformed('a node answered another block than asked')
  const found = block.transactions.filter(({ hash }) => wanted.has(hash))
  if (found.length !== wanted.size) throw malformed('a node gave a block without a transaction of it')
  return found.map((transaction) => toTransaction(answers.mined.parse(transaction)))
}

/** An account that has none, or one that only names whose code it lends itself. */
function isWithoutCode(code: string): boolean {
  return code === '0x' || (code.length === 2 + 23 * 2 && code.toLowerCase().startsWith('0xef0100'))
}
