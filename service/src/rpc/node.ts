import { OutboundError } from '../kernel/outbound.js'
import { readBloom } from './bloom.js'
import type { Header, RawLog, RawTransaction } from './raw.js'
import { type Rpc, RpcError, type RpcRequest } from './rpc.js'

/** What a node is asked for, parsed and checked at this edge. Nothing it says is believed further in without a check. */
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
  /** Another node than the one that answered last, for a second opinion; undefined when there is only one. */
  secondary(): Node | undefined
  /** Ask another node from now on, where there is one: what the last one said does not hold together. */
  markUnreliable(): void
}

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
export function createNode(rpc: Rpc): Node {
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
    if (!Array.isArray(value)) throw malformed('a node gave no receipts of a block it announced')
    const logs = value.flatMap((receipt: unknown) => {
      const own = readObject(receipt, 'receipt')['logs']
      return Array.isArray(own) ? own : []
    })
    return readLogs(logs, blockHash)
  }
  const listAllLogs = async (blockHash: string): Promise<RawLog[]> =>
    readLogs(await rpc.request({ method: 'eth_getLogs', params: [{ blockHash }] }), blockHash)
  return {
    chainId: async () => readQuantity(await rpc.request({ method: 'eth_chainId' }), 'chain id'),
    findHeader: async (at) => {
      const value = await rpc.request(headerRequest(at))
      return value === null ? undefined : readHeader(value)
    },
    listHeaders: async (numbers) =>
      (await batch(numbers.map(headerRequest))).map((value, index) => readHeaderAt(value, numbers[index])),
    listLogs: async ({ blockHash, ...filter }) =>
      readLogs(await rpc.request(logsRequest(filter, { blockHash })), blockHash),
    listRange: async ({ fromBlock, toBlock, ...filter }) => {
      const last = headerRequest(toBlock)
      const place = { fromBlock: toQuantity(fromBlock), toBlock: toQuantity(toBlock) }
      const isEmpty = filter.addresses.length === 0
      const [header, logs] = await batch(isEmpty ? [last] : [last, logsRequest(filter, place)])
      return {
        logs: isEmpty ? [] : readLogs(logs, undefined),
        hashes: isEmpty ? new Map() : readBlockHashes(logs),
        last: readHeaderAt(header, toBlock),
      }
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
          return readTransactionsOf(value, blockHash, new Set(own))
        }),
        ...alone.map((value, index) => {
          const transaction = readTransaction(value)
          const { hash, blockHash } = single[index] ?? {}
          if (transaction.hash !== hash) throw malformed('a node answered another transaction than asked')
          if (readObject(value, 'transaction')['blockHash'] !== blockHash)
            throw malformed('a node placed a transaction in another block than its logs')
          return transaction
        }),
      ]
    },
    listReceiptLogs: async ({ hash, blockHash }) => {
      const value = readObject(await rpc.request({ method: 'eth_getTransactionReceipt', params: [hash] }), 'receipt')
      return readLogs(value['logs'], blockHash)
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
    secondary: () => {
      const other = rpc.secondary()
      return other && createNode(other)
    },
    markUnreliable: rpc.markUnreliable,
  }
}

function readHeaderAt(value: unknown, number: number | undefined): Header {
  const header = readHeader(value)
  if (header.number !== number) throw malformed('a node answered another block than asked')
  return header
}

export function toQuantity(value: number): string {
  return `0x${value.toString(16)}`
}

function malformed(message: string): OutboundError {
  return new OutboundError('malformed', message)
}

function readObject(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed(`a node gave no ${what}`)
  return value as Record<string, unknown>
}

function readQuantity(value: unknown, what: string): number {
  const number = typeof value === 'string' && /^0x[0-9a-fA-F]{1,14}$/.test(value) ? Number(value) : Number.NaN
  if (!Number.isSafeInteger(number)) throw malformed(`a node gave a ${what} that is no quantity`)
  return number
}

const hashPattern = /^0x[0-9a-fA-F]{64}$/
const addressPattern = /^0x[0-9a-fA-F]{40}$/
const bytesPattern = /^0x(?:[0-9a-fA-F]{2})*$/

function readText(value: unknown, pattern: RegExp, what: string): string {
  if (typeof value !== 'string' || !pattern.test(value)) throw malformed(`a node gave a malformed ${what}`)
  return value.toLowerCase()
}

function readHeader(value: unknown): Header {
  const block = readObject(value, 'block')
  const bloom = readBloom(block['logsBloom'])
  return {
    number: readQuantity(block['number'], 'block number'),
    hash: readText(block['hash'], hashPattern, 'block hash'),
    parentHash: readText(block['parentHash'], hashPattern, 'parent hash'),
    timestamp: readQuantity(block['timestamp'], 'timestamp'),
    ...(bloom ? { bloom } : {}),
  }
}

/** The block hashes a list of logs names, by block number; logs of one number have to agree on one. */
function readBlockHashes(value: unknown): Map<number, string> {
  const hashes = new Map<number, string>()
  for (const item of Array.isArray(value) ? value : []) {
    const log = readObject(item, 'log')
    const number = readQuantity(log['blockNumber'], 'block number')
    const hash = readText(log['blockHash'], hashPattern, 'block hash')
    if ((hashes.get(number) ?? hash) !== hash) throw malformed('a node gave logs of two blocks of one number')
    hashes.set(number, hash)
  }
  return hashes
}

/** Logs of one block hash when given; each log's own block hash must agree with it. */
function readLogs(value: unknown, blockHash: string | undefined): RawLog[] {
  if (!Array.isArray(value)) throw malformed('a node gave no list of logs')
  const logs = value.map((item: unknown) => {
    const log = readObject(item, 'log')
    if (blockHash !== undefined && log['blockHash'] !== blockHash)
      throw malformed('a node gave logs of another block than asked')
    if (log['removed'] === true) throw malformed('a node gave logs that a reorganisation removed')
    const topics = log['topics']
    if (!Array.isArray(topics) || topics.length > 4) throw malformed('a node gave a log without topics')
    return {
      blockNumber: readQuantity(log['blockNumber'], 'block number'),
      logIndex: readQuantity(log['logIndex'], 'log index'),
      transactionIndex: readQuantity(log['transactionIndex'], 'transaction index'),
      transactionHash: readText(log['transactionHash'], hashPattern, 'transaction hash'),
      address: readText(log['address'], addressPattern, 'address'),
      topics: topics.map((topic: unknown) => readText(topic, hashPattern, 'topic')),
      data: readText(log['data'], bytesPattern, 'log data'),
    }
  })
  logs.sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
  return logs
}

/** The wanted transactions of a whole block. */
function readTransactionsOf(value: unknown, blockHash: string, wanted: ReadonlySet<string>): RawTransaction[] {
  const block = readObject(value, 'block')
  const all = block['transactions']
  if (block['hash'] !== blockHash || !Array.isArray(all)) throw malformed('a node answered another block than asked')
  const found = all.filter((item: unknown) => wanted.has(String(readObject(item, 'transaction')['hash'])))
  if (found.length !== wanted.size) throw malformed('a node gave a block without a transaction of it')
  return found.map(readTransaction)
}

function readTransaction(value: unknown): RawTransaction {
  const transaction = readObject(value, 'transaction')
  const to = transaction['to']
  return {
    blockNumber: readQuantity(transaction['blockNumber'], 'block number'),
    transactionIndex: readQuantity(transaction['transactionIndex'], 'transaction index'),
    hash: readText(transaction['hash'], hashPattern, 'transaction hash'),
    from: readText(transaction['from'], addressPattern, 'address'),
    to: to === null || to === undefined ? null : readText(to, addressPattern, 'address'),
    input: readText(transaction['input'], bytesPattern, 'input'),
  }
}
