import { describe, expect, it } from 'vitest'
import { createWatcher, type HeadRecord, type Sink, type SuspectRange } from '../../test/sink.js'
import { fakeClock } from '../kernel/clock.js'
import { silentLog } from '../kernel/log.js'
import { OutboundError } from '../kernel/outbound.js'
import type { Node } from '../rpc/node.js'
import type { Header } from '../rpc/raw.js'
import { RpcError } from '../rpc/rpc.js'
import type { Pace } from './finality.js'
import type { Cursor } from './storeCursors.js'
import { createWatchList } from './watchList.js'

/** Block `number` of a branch; both have block 0 in common. */
const block = (number: number, branch = 'a'): Header => {
  const hash = (n: number) => `0x${branch.charCodeAt(0).toString(16)}${n.toString(16).padStart(62, '0')}`
  return { number, hash: hash(number), parentHash: hash(number - 1), timestamp: 1_700_000_000 + number }
}

type Told = { latest: Header | undefined; finalized: Header | undefined; find(number: number): Header | undefined }

/** A network that tells what it is told to, and another behind it. */
function nodeOf(told: Told, other?: Told) {
  const calls = { unreliable: 0, ranges: 0, finalized: 0, latest: 0 }
  let range: Node['listRange'] = async ({ toBlock }) => ({
    logs: [],
    hashes: new Map(),
    last: told.find(toBlock) ?? block(0),
  })
  const node: Node = {
    chainId: async () => 1,
    findHeader: async (at) => {
      if (typeof at === 'number') return told.find(at)
      calls[at] += 1
      return told[at]
    },
    listHeaders: async (numbers) => numbers.map((number) => told.find(number) ?? block(0)),
    listLogs: async () => [],
    listRange: (filter) => {
      calls.ranges += 1
      return range(filter)
    },
    listTransactions: async () => [],
    listReceiptLogs: async () => [],
    listBlockLogs: async () => [],
    secondary: () => other && nodeOf(other).node,
    markUnreliable: () => {
      calls.unreliable += 1
    },
  }
  return { node, calls, answerRange: (answer: Node['listRange']) => (range = answer) }
}

/** A store in memory that holds blocks of branch a up to a height. */
function sinkAt(blockNumber: number, headNumber = blockNumber) {
  const records: HeadRecord[] = []
  let cursor: Cursor = {
    chainId: 1,
    startBlock: 0,
    blockNumber,
    blockHash: block(blockNumber).hash,
    blockTimestamp: null,
    headNumber,
    finalizedNumber: 5,
    followedFrom: 1_000_000,
    checkedTo: 5,
    state: 'live',
    reason: null,
    updatedAt: new Date(0),
    nodeHead: null,
    tipMissedSince: null,
  }
  const sink: Sink = {
    complete: async (_node, blocks) => blocks,
    refresh: async () => cursor,
    watchList: () => list,
    append: async (_cursor, _blocks, tip) => {
      cursor = { ...cursor, blockNumber: tip.number, blockHash: tip.hash }
      return cursor
    },
    rewind: async () => cursor,
    backfill: async () => false,
    recheck: async () => false,
    takeTraces: async () => undefined,
    doubtPast: async () => undefined,
    recordHead: async (_cursor, head) => void records.push(head),
    localHash: async (number) => (number <= cursor.blockNumber ? block(number).hash : undefined),
    listHeadersDown: async (from, count) => Array.from({ length: Math.min(count, from) }, (_, i) => block(from - i)),
  }
  return { sink, records, cursor: () => cursor }
}
const list = createWatchList([
  { key: '', addresses: [`0x${'aa'.repeat(20)}`], topics: [`0x${'bb'.repeat(32)}`], fromBlock: 0, calldata: [] },
])
const chain = { chainId: 1, confirmations: 1, finalityDepth: 64, reorgRecheckSeconds: 0 }
const open = (node: Node, sink: Sink, over: { suspect?: SuspectRange; random?: () => number; pace?: Pace } = {}) => {
  const clock = fakeClock('2026-01-01T00:00:00Z')
  return { clock, watcher: createWatcher({ chain, node, sink, clock, log: silentLog, ...over }) }
}

describe('finality', () => {
  it('of a block of another branch than ours is not believed', async () => {
    const told = { latest: block(21), finalized: block(18, 'b'), find: (number: number) => block(number) }
    const { sink, records } = sinkAt(20)
    await open(nodeOf(told).node, sink).watcher.step()
    expect(records).toMatchObject([{ finalizedNumber: 5 }])
    await open(nodeOf({ ...told, latest: block(22), finalized: block(18) }).node, sink).watcher.step()
    expect(records[1]).toMatchObject({ finalizedNumber: 18 })
  })

  it('of a block beyond the head counts for the head only where it is still on the chain', async () => {
    const told = { latest: block(21), finalized: block(90), find: (number: number) => block(number, 'b') }
    const { sink, records } = sinkAt(20)
    await open(nodeOf(told).node, sink).watcher.step()
    await open(nodeOf({ ...told, latest: block(22), find: (number) => block(number) }).node, sink).watcher.step()
    expect(records.map(({ finalizedNumber }) => finalizedNumber)).toEqual([5, 22])
  })

  it('that goes backwards stays', async () => {
    const told = { latest: block(21), finalized: block(2), find: (number: number) => block(number) }
    const { sink, records } = sinkAt(20)
    await open(nodeOf(told).node, sink).watcher.step()
    expect(records).toMatchObject([{ finalizedNumber: 5 }])
  })
})

describe('a chain that is followed', () => {
  it('costs one call a block where nothing of ours is in it, and at its pace one for what is final', async () => {
    const empty = (number: number): Header => ({ ...block(number), isEmpty: true })
    const told = { latest: empty(21), finalized: block(18), find: empty }
    const { node, calls } = nodeOf(told)
    const { sink, records } = sinkAt(20)
    const pace = { finalMs: 10_000, againMs: 10_000, againBlocks: 200 }
    const looks: number[] = []
    const { watcher, clock } = open(
      node,
      { ...sink, recheck: async (cursor) => looks.push(cursor.blockNumber) > 9 },
      { pace },
    )
    for (let number = 21; number <= 30; number++) {
      told.latest = empty(number)
      told.finalized = block(number - 3)
      expect(await watcher.step()).toBe('idle')
      clock.advance(2_000)
    }
    expect(calls).toMatchObject({ latest: 10, finalized: 2, ranges: 0 })
    expect(looks).toEqual([26])
    expect(records.map(({ finalizedNumber }) => finalizedNumber)).toEqual([18, 18, 18, 18, 18, 23, 23, 23, 23, 23])
  })
})

describe('a chain far behind', () => {
  const told = { latest: block(500), finalized: block(450), find: (number: number) => block(number) }

  it('is not read on by a node that does not know where it stands', async () => {
    const { node, calls } = nodeOf({ ...told, find: (number) => (number === 20 ? undefined : block(number)) })
    const { sink, cursor } = sinkAt(20)
    await expect(open(node, sink).watcher.step()).rejects.toThrow('below its head')
    expect([cursor().blockNumber, calls.unreliable]).toEqual([20, 1])
  })

  it('has a window that failed its check checked again, by the next watcher too', async () => {
    const { node, answerRange } = nodeOf(told)
    const good = { logs: [], hashes: new Map(), last: block(45) }
    answerRange(async () => ({ ...good, last: { ...block(45), bloom: new Uint8Array(256).fill(255) } }))
    const { sink, cursor } = sinkAt(20)
    const suspect = { to: -1 }
    await expect(open(node, sink, { suspect, random: () => 0 }).watcher.step()).rejects.toThrow(OutboundError)
    // Chance would not choose it a second time.
    await expect(open(node, sink, { suspect, random: () => 0.5 }).watcher.step()).rejects.toThrow(OutboundError)
    answerRange(async () => good)
    await open(node, sink, { suspect, random: () => 0.5 }).watcher.step()
    expect(cursor().blockNumber).toBe(45)
  })
})

describe('a node that refuses long ranges', () => {
  it('is seldom asked for one again', async () => {
    const told = { latest: block(20_500), finalized: block(20_400), find: (number: number) => block(number) }
    const { node, answerRange } = nodeOf(told)
    const sizes: number[] = []
    answerRange(async ({ fromBlock, toBlock }) => {
      sizes.push(toBlock - fromBlock + 1)
      if (toBlock - fromBlock >= 500) throw new RpcError(-32005, 'query exceeds max block range 500', undefined)
      return { logs: [], hashes: new Map(), last: block(toBlock) }
    })
    const { sink, cursor } = sinkAt(20)
    const { watcher } = open(node, sink, { random: () => 1 })
    while (cursor().blockNumber < 20_400) await watcher.step()
    const refused = sizes.filter((size) => size > 500).length
    expect(refused).toBeGreaterThan(0)
    expect(refused).toBeLessThan(sizes.length / 10)
  })
})

describe('a node that stands still', () => {
  const still = { latest: block(20), finalized: block(5), find: (number: number) => block(number) }

  it('is left when another one goes on', async () => {
    const { node, calls } = nodeOf(still, { ...still, latest: block(30) })
    const { watcher, clock } = open(node, sinkAt(20).sink)
    await watcher.step()
    clock.advance(29_000)
    await watcher.step()
    expect(calls.unreliable).toBe(0)
    clock.advance(2_000)
    await watcher.step()
    expect(calls.unreliable).toBe(1)
  })

  it('is kept when the chain itself stands still', async () => {
    const { node, calls } = nodeOf(still, still)
    const { watcher, clock } = open(node, sinkAt(20).sink)
    await watcher.step()
    clock.advance(60_000)
    await watcher.step()
    expect(calls.unreliable).toBe(0)
  })
})

describe('a node whose head is below the tip, at a height of which no header is kept', () => {
  /** Headers are kept of block 2 and from block 15 on. */
  const keepFew = ({ sink }: ReturnType<typeof sinkAt>): Sink => ({
    ...sink,
    localHash: async (number) => (number >= 15 ? block(number).hash : undefined),
    listHeadersDown: async (from) => [20, 19, 18, 17, 16, 15, 2].filter((n) => n <= from).map((n) => block(n)),
  })
  const rewind = async () => expect.fail('nothing is taken back')

  it('has another chain where the newest header kept below is not its own', async () => {
    const find = (number: number) => (number >= 1 && number <= 10 ? block(number, 'b') : undefined)
    const opened = sinkAt(20)
    const { node } = nodeOf({ latest: block(10, 'b'), finalized: block(5, 'b'), find })
    const { watcher } = open(node, { ...keepFew(opened), rewind })
    for (let turn = 0; turn < 3; turn++) expect(await watcher.step()).toBe('stalled')
    expect(opened.records).toHaveLength(3)
    expect(opened.records[0]).toMatchObject({ state: 'stalled', nodeHead: 10 })
  })

  it('lags where it has the newest header kept below', async () => {
    const find = (number: number) => (number <= 10 ? block(number) : undefined)
    const opened = sinkAt(20)
    const { node } = nodeOf({ latest: block(10), finalized: block(5), find })
    expect(await open(node, { ...keepFew(opened), rewind }).watcher.step()).toBe('idle')
    expect(opened.records).toMatchObject([{ state: 'live', reason: null, nodeHead: 10 }])
  })
})

describe('a watcher far behind', () => {
  it('notices a fork before it reads a window of the past', async () => {
    const find = (number: number) => (number >= 18 ? block(number, 'b') : block(number))
    const { node, calls } = nodeOf({ latest: block(500, 'b'), finalized: block(400, 'b'), find })
    const { sink, cursor } = sinkAt(20)
    const rewound: number[] = []
    const rewind: Sink['rewind'] = async (held, { number }) => {
      rewound.push(number)
      return held
    }
    await open(node, { ...sink, rewind }).watcher.step()
    expect({ rewound, ranges: calls.ranges, at: cursor().blockNumber }).toEqual({ rewound: [17], ranges: 0, at: 20 })
  })

  it('stalls, and does not begin again, where the blocks it kept end above its start', async () => {
    const { node } = nodeOf({
      latest: block(500, 'b'),
      finalized: block(400, 'b'),
      find: (number) => block(number, 'b'),
    })
    const { sink, records } = sinkAt(20)
    const listHeadersDown: Sink['listHeadersDown'] = async (from) =>
      Array.from({ length: Math.max(0, from - 14) }, (_, index) => block(from - index))
    const rewind = async () => expect.fail('nothing is taken back')
    expect(await open(node, { ...sink, listHeadersDown, rewind }).watcher.step()).toBe('stalled')
    expect(records.at(-1)).toMatchObject({
      state: 'stalled',
      reason: expect.stringContaining('without a common block'),
    })
  })

  it('grows its lag while it is stalled: the head is read on', async () => {
    const find = (number: number) => block(number, 'b')
    const told = { latest: block(500, 'b'), finalized: block(400, 'b'), find }
    const { sink, records } = sinkAt(20)
    const listHeadersDown: Sink['listHeadersDown'] = async (from) => (from < 20 ? [] : [block(20)])
    const { watcher } = open(nodeOf(told).node, { ...sink, listHeadersDown })
    for (const head of [500, 501, 530]) {
      told.latest = block(head, 'b')
      expect(await watcher.step()).toBe('stalled')
    }
    expect(records.map(({ headNumber, state }) => [headNumber, state])).toEqual([
      [500, 'stalled'],
      [501, 'stalled'],
      [530, 'stalled'],
    ])
  })

  it.each([
    ['twice as large where it brings few', 0, [45, 95, 195, 395, 400]],
    ['half as large, rounded down, where it brings many', 900, [45, 57, 69, 81, 93]],
    ['as large as before where it brings what it should', 300, [45, 70, 95, 120, 145]],
  ])('reads a window of the past %s', async (_what, logsPerBlock, tips) => {
    const told = { latest: block(500), finalized: block(400), find: (number: number) => block(number) }
    const { node, answerRange } = nodeOf(told)
    const topics = [`0x${'bb'.repeat(32)}`]
    answerRange(async ({ fromBlock, toBlock }) => {
      const numbers = Array.from({ length: toBlock - fromBlock + 1 }, (_, index) => fromBlock + index)
      const logs = numbers.flatMap((blockNumber) =>
        Array.from({ length: logsPerBlock }, (_, logIndex) => ({
          ...{ blockNumber, logIndex, transactionIndex: 0, transactionHash: block(blockNumber, 'e').hash },
          ...{ address: `0x${'aa'.repeat(20)}`, topics, data: '0x' },
        })),
      )
      return { logs, hashes: new Map(numbers.map((number) => [number, block(number).hash])), last: block(toBlock) }
    })
    const { sink, cursor } = sinkAt(20)
    const { watcher } = open(node, sink, { random: () => 1 })
    const read: number[] = []
    for (let step = 0; step < 60 && read.length < tips.length; step++) {
      await watcher.step()
      if (cursor().blockNumber !== read.at(-1)) read.push(cursor().blockNumber)
    }
    expect(read).toEqual(tips)
  })

  it('stalls where final blocks were replaced, and says how to take them back', async () => {
    const find = (number: number) => (number >= 4 ? block(number, 'b') : block(number))
    const { node } = nodeOf({ latest: block(500, 'b'), finalized: block(400, 'b'), find })
    const { sink, records } = sinkAt(20)
    const rewind = async () => expect.fail('nothing is taken back')
    expect(await open(node, { ...sink, rewind }).watcher.step()).toBe('stalled')
    expect(records.at(-1)).toMatchObject({
      state: 'stalled',
      reason: 'the node replaced final blocks above 3; check it, then run: openearn chains rewind 1 --to 3',
    })
  })

  it('asks for half of a range that a node refuses, rounded down, until it is small enough', async () => {
    const { node, answerRange } = nodeOf({ latest: block(500), finalized: block(400), find: (number) => block(number) })
    const asked: number[] = []
    answerRange(async ({ fromBlock, toBlock }) => {
      const size = toBlock - fromBlock + 1
      asked.push(size)
      if (size > 3) throw new RpcError(-32005, 'query returned more than 10000 results', undefined)
      return { logs: [], hashes: new Map(), last: block(toBlock) }
    })
    const { sink, cursor } = sinkAt(20)
    const { watcher } = open(node, sink)
    while (cursor().blockNumber === 20) await watcher.step()
    // Each is asked for whole, and in two parts to compare.
    const whole = asked.filter((_, index) => index % 3 === 0)
    expect([whole.slice(0, 4), cursor().blockNumber]).toEqual([[25, 12, 6, 3], 23])
  })

  it('gives up, and tells, where a node refuses even a single block', async () => {
    const { node, calls, answerRange } = nodeOf({
      latest: block(500),
      finalized: block(400),
      find: (number) => block(number),
    })
    answerRange(async () => {
      if (calls.ranges > 100) throw new Error('asked without end')
      throw new RpcError(-32005, 'query returned more than 10000 results', undefined)
    })
    await expect(open(node, sinkAt(20).sink).watcher.step()).rejects.toThrow('more than 10000')
  })
})
