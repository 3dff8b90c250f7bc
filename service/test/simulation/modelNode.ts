import { OutboundError } from '../../src/kernel/outbound.js'
import type { LogFilter, Node } from '../../src/rpc/node.js'
import type { Header, RawLog } from '../../src/rpc/raw.js'
import { RpcError } from '../../src/rpc/rpc.js'
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
 * A node over a model chain. `chain` answers the blocks as they are now, `stale` as they were before the last fork;
 * `between` runs before each call, so that the chain may change in the middle of a step. Some answers are lies or
 * failures: time-outs, refused calls, a head that goes back or does not link, answers of the branch that was left,
 * transactions placed elsewhere, logs and receipts that are empty, shortened, doubled, altered or invented.
 */
export function createModelNode(input: {
  chainId: number
  chain: () => readonly ModelBlock[]
  stale: () => readonly ModelBlock[]
  finalized: () => number | null
  random: Random
  faults: Faults
  between: () => void
}): Node {
  const { random, faults } = input
  let view = input.chain()
  const chain = () => view
  /** Blocks about whose logs a lie was told. */
  const told = new Set<string>()
  const lie = () => random.chance(faults.share)
  const call = <T>(answer: () => T): Promise<T> => {
    input.between()
    if (random.chance(faults.share / 2)) return Promise.reject(new OutboundError('timeout', 'no answer'))
    if (random.chance(faults.share / 4)) return Promise.reject(new OutboundError('rate-limited', 'too many', 0))
    if (random.chance(faults.share / 4)) return Promise.reject(new RpcError(-32000, 'header not found', undefined))
    view = random.chance(faults.share / 3) ? input.stale() : input.chain()
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
        const [first, top] = [chain()[0]?.number ?? 0, chain().at(-1)?.number ?? 0]
        if (which === 'latest' && lie()) return random.chance(0.3) ? undefined : mapHeader(at(random.int(first, top)))
        const head = mapHeader(at(which === 'latest' ? top : which))
        return head && which === 'latest' && random.chance(faults.share / 4) ? { ...head, parentHash: head.hash } : head
      }),
    listHeaders: (numbers) =>
      call(() =>
        numbers.map((number) => {
          const block = at(number)
          if (!block) throw new OutboundError('malformed', 'a node gave no block')
          return header(block)
        }),
      ),
    listLogs: ({ blockHash, ...filter }) =>
      call(() => {
        const logs = select(logsOf(byHash(blockHash)), filter)
        if (!lie()) return logs
        told.add(blockHash)
        return falsify(random, logs)
      }),
    // A node may not have got that far; and it leaves logs out of ranges as it does of blocks.
    listRange: ({ fromBlock, toBlock, ...filter }) =>
      call(() => {
        const last = mapHeader(at(toBlock))
        if (!last) throw new OutboundError('malformed', 'a node gave no block')
        const blocks = chain().filter(({ number }) => number >= fromBlock && number <= toBlock)
        const logs = blocks.flatMap((block) => {
          const own = select(logsOf(block), filter)
          if (!lie()) return own
          told.add(block.hash)
          return falsify(random, own)
        })
        return { logs, hashes: new Map(blocks.map(({ number, hash }) => [number, hash])), last }
      }),
    listTransactions: (wanted) =>
      call(() =>
        wanted.map(({ hash }) => {
          const { block, index, found } = transaction(hash)
          const { from, to, input } = found
          const moved = random.chance(faults.share / 8) ? 1 : 0
          return { blockNumber: block.number + moved, transactionIndex: index, hash, from, to, input }
        }),
      ),
    listReceiptLogs: ({ hash, blockHash }) =>
      call(() => {
        const { block, found } = transaction(hash)
        if (block.hash !== blockHash) throw new OutboundError('malformed', 'a receipt of another block')
        return found.logs
      }),
    listBlockLogs: (hash) =>
      call(() => {
        const logs = logsOf(byHash(hash))
        // Two equal lies about one block could not be told from the truth.
        return !told.has(hash) && random.chance(faults.share / 4) ? falsify(random, logs) : logs
      }),
    secondary: () => undefined,
    markUnreliable: () => undefined,
  }
}

function mapHeader(block: ModelBlock | undefined): Header | undefined {
  return block && header(block)
}

function select(logs: readonly RawLog[], { addresses, topics }: LogFilter): RawLog[] {
  return logs.filter((log) => addresses.includes(log.address) && topics.includes(log.topics[0] ?? ''))
}

/** The logs of a block as they are not: one missing, all missing, one twice, one altered, one that never was. */
function falsify(random: Random, logs: readonly RawLog[]): RawLog[] {
  const last = logs.at(-1)
  if (!last) return []
  const after = { ...last, logIndex: last.logIndex + 1 }
  return random.pick([
    () => [],
    () => logs.slice(1),
    () => logs.slice(0, -1),
    () => [...logs, last],
    () => [...logs.slice(0, -1), { ...last, data: last.data.replace(/.$/, (digit) => (digit === '1' ? '2' : '1')) }],
    () => [...logs, after],
  ])()
}
