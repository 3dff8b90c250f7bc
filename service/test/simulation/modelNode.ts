import type { Node } from '../../src/chain/node.js'
import type { Header, RawLog } from '../../src/chain/raw.js'
import { RpcError } from '../../src/chain/rpc.js'
import { OutboundError } from '../../src/kernel/outbound.js'
import type { ModelBlock } from './model.js'
import type { Random } from './random.js'

export type Faults = { share: number }

const header = ({ number, hash, parentHash, timestamp }: ModelBlock): Header => ({
  number,
  hash,
  parentHash,
  timestamp,
})
const logsOf = (block: ModelBlock): RawLog[] => block.transactions.flatMap(({ logs }) => logs)

/**
 * A node over a model chain. `chain` answers the blocks as they are now; `between` runs before each call, so that the
 * chain may change in the middle of a step. Some answers are lies or failures: time-outs, refused calls, a head that goes
 * back, empty or shortened logs.
 */
export function createModelNode(input: {
  chainId: number
  chain: () => readonly ModelBlock[]
  finalized: () => number | null
  random: Random
  faults: Faults
  between: () => void
}): Node {
  const { chain, random, faults } = input
  const lie = () => random.chance(faults.share)
  const call = <T>(answer: () => T): Promise<T> => {
    input.between()
    if (random.chance(faults.share / 2)) return Promise.reject(new OutboundError('timeout', 'no answer'))
    if (random.chance(faults.share / 4)) return Promise.reject(new OutboundError('rate-limited', 'too many', 0))
    if (random.chance(faults.share / 4)) return Promise.reject(new RpcError(-32000, 'header not found', undefined))
    try {
      return Promise.resolve(answer())
    } catch (error) {
      return Promise.reject(error)
    }
  }
  const at = (number: number) => chain().find((block) => block.number === number)
  const byHash = (hash: string): ModelBlock => {
    const block = chain().find((each) => each.hash === hash)
    if (!block) throw new RpcError(-32000, 'unknown block', undefined)
    return block
  }
  const transaction = (hash: string) => {
    for (const block of chain()) {
      const index = block.transactions.findIndex((each) => each.hash === hash)
      const found = block.transactions[index]
      if (found) return { block, index, found }
    }
    throw new OutboundError('malformed', 'no such transaction')
  }
  return {
    chainId: () => call(() => input.chainId),
    findHeader: (which) =>
      call(() => {
        if (which === 'finalized') {
          const number = input.finalized()
          const block = number === null ? undefined : at(number)
          return block && header(block)
        }
        const top = chain().at(-1)?.number ?? 0
        if (which === 'latest' && lie()) return random.chance(0.3) ? undefined : mapHeader(at(random.int(0, top)))
        return mapHeader(at(which === 'latest' ? top : which))
      }),
    listHeaders: (numbers) =>
      call(() =>
        numbers.map((number) => {
          const block = at(number)
          if (!block) throw new OutboundError('malformed', 'a node gave no block')
          return header(block)
        }),
      ),
    listLogs: (filter) =>
      call(() => {
        const blocks =
          'blockHash' in filter
            ? [byHash(filter.blockHash)]
            : chain().filter(({ number }) => number >= filter.fromBlock && number <= filter.toBlock)
        const logs = blocks
          .flatMap(logsOf)
          .filter((log) => filter.addresses.includes(log.address) && filter.topics.includes(log.topics[0] ?? ''))
        // Deep in the past a lie is found only by chance, so it is told where every answer is checked.
        if ('blockHash' in filter && logs.length > 0 && lie()) return random.chance(0.5) ? [] : logs.slice(1)
        return logs
      }),
    listTransactions: (hashes) =>
      call(() =>
        hashes.map((hash) => {
          const { block, index, found } = transaction(hash)
          const { from, to, input } = found
          return { blockNumber: block.number, transactionIndex: index, hash, from, to, input }
        }),
      ),
    listReceiptLogs: (hash) => call(() => transaction(hash).found.logs),
    listBlockLogs: (hash) => call(() => logsOf(byHash(hash))),
  }
}

function mapHeader(block: ModelBlock | undefined): Header | undefined {
  return block && header(block)
}
