import { createHash } from 'node:crypto'
import { generateTransaction } from './generate.js'
import {
  asyncVault,
  cloneState,
  lateVault,
  type ModelBlock,
  type ModelState,
  type ModelTransaction,
  start,
  zero,
} from './model.js'
import type { Random } from './random.js'

export type ModelChain = ReturnType<typeof createModelChain>

/** Depths of the forks of a chain, and how often each way of forking was taken. */
export type Forks = { depths: number[]; fresh: number; reincluded: number; returned: number }

/** Where a chain begins and how fast it goes. */
export type Course = {
  /** Height of the first block. */
  base?: number
  /** Seconds from block to block; below one, several blocks share an instant. */
  period?: number
  /** Blocks of another chain that this one begins with, as after a hard fork; instead of `base`. */
  history?: readonly ModelBlock[]
  /** How likely a change is a fork, and how likely a fork is of any depth there can be, instead of some blocks. */
  forkShare?: number
  deepShare?: number
}

/**
 * A chain that grows and forks. A fork writes new blocks, or carries the transactions of the old branch again in other
 * blocks, or goes back to the branch that was left before; it may be shorter than what it replaces.
 */
export function createModelChain(random: Random, chainId: number, isLong: boolean, course: Course = {}) {
  const { base = 0, period = 12, history = [], forkShare = 0.4, deepShare = 0.3 } = course
  const hash = (text: string) => `0x${createHash('sha256').update(`${chainId}:${text}`).digest('hex')}`
  const genesis: ModelBlock = history[0] ?? {
    number: base,
    hash: hash('genesis'),
    parentHash: hash(''),
    timestamp: start,
    transactions: [],
    state: { shares: new Map(), requests: [] },
  }
  const blocks: ModelBlock[] = [genesis, ...history.slice(1)]
  const forks: Forks = { depths: [], fresh: 0, reincluded: 0, returned: 0 }
  /** The branch that was left last, from the block above the common ancestor. */
  let left: ModelBlock[] = []

  const push = (write: (block: ModelBlock) => void) => {
    const parent = blocks.at(-1) ?? genesis
    const number = parent.number + 1
    const block: ModelBlock = {
      number,
      hash: hash(`${forks.depths.length}:${number}:${random.int(0, 1e9)}`),
      parentHash: parent.hash,
      timestamp: start + Math.floor((number - genesis.number) * period),
      transactions: [],
      state: cloneState(parent.state),
    }
    write(block)
    blocks.push(block)
    world.highest = Math.max(world.highest, number)
  }
  /** The vault that comes later is there from the third block on. */
  const isLate = (number: number) => number >= genesis.number + 3
  const logsIn = (block: ModelBlock) => block.transactions.reduce((sum, { logs }) => sum + logs.length, 0)

  const world = {
    blocks,
    forks,
    highest: genesis.number + blocks.length - 1,
    /** Timestamp no block has passed, on any branch. */
    latest: () => start + Math.floor((world.highest - genesis.number) * period),
    /** The chain as a node that has not heard of the last fork still tells it. */
    stale: (): readonly ModelBlock[] => {
      const at = blocks.findIndex((block) => block.hash === left[0]?.parentHash)
      return at === -1 ? blocks : [...blocks.slice(0, at + 1), ...left]
    },
    mine: (count: number, transactionsMax = 3) => {
      for (; count > 0; count--)
        push((block) => {
          const { number } = block
          for (let index = 0, wanted = random.int(0, transactionsMax); index < wanted; index++) {
            const place = {
              chainId,
              block: number,
              index,
              hash: hash(`${block.hash}:${index}`),
              firstLog: logsIn(block),
              late: isLate(number),
            }
            block.transactions.push(generateTransaction(random, block.state, place))
          }
        })
    },
    /** One block with those transactions of another chain that can be sent here as well, as they were signed there. */
    replay: (transactions: readonly ModelTransaction[]) =>
      push((block) => {
        for (const transaction of transactions) {
          const isHere = [...blocks, block].some((each) =>
            each.transactions.some(({ hash }) => hash === transaction.hash),
          )
          if (isHere || !repeat(transaction, block.state, isLate(block.number))) continue
          block.transactions.push(relocate(transaction, block.number, block.transactions.length, logsIn(block)))
        }
      }),
    /** Grows, or forks at a random depth. */
    change: () => {
      // What is final never changes: no fork reaches below the depth at which a block is final.
      const finalOffset = Math.max(0, world.highest - genesis.number - 78)
      const depthMax = Math.min(64, blocks.length - 1 - finalOffset)
      if (depthMax < 1 || random.chance(1 - forkShare)) {
        world.mine(random.int(1, random.chance(0.06) ? 40 : 4))
        return
      }
      const depth = random.chance(1 - deepShare) ? random.int(1, Math.min(4, depthMax)) : random.int(1, depthMax)
      const orphaned = blocks.splice(blocks.length - depth, depth)
      forks.depths.push(depth)
      const length = Math.max(1, depth + random.int(random.chance(0.2) ? -3 : 0, 2))
      const back = left[0]?.parentHash === blocks.at(-1)?.hash && random.chance(0.6) ? left : undefined
      left = orphaned
      if (back) {
        forks.returned += 1
        blocks.push(...back)
        world.mine(Math.max(1, length - back.length))
      } else if (random.chance(0.3)) {
        forks.reincluded += 1
        reinclude(orphaned)
        world.mine(random.int(1, 2))
      } else {
        forks.fresh += 1
        world.mine(length)
      }
    },
  }

  /** The same transactions in the same order, some a block later than before. */
  function reinclude(orphaned: readonly ModelBlock[]): void {
    let waiting: ModelTransaction[] = []
    let state = (blocks.at(-1) ?? genesis).state
    const write = (transactions: readonly ModelTransaction[], after: ModelBlock['state']) =>
      push((block) => {
        for (const transaction of transactions)
          block.transactions.push(relocate(transaction, block.number, block.transactions.length, logsIn(block)))
        block.state = cloneState(after)
      })
    for (const block of orphaned) {
      const delays = block.transactions.length > 0 && random.chance(0.3)
      const now = [...waiting, ...(delays ? [] : block.transactions)]
      waiting = delays ? [...block.transactions] : []
      // A block that waits is not in the state yet; all before it are.
      write(now, delays ? state : block.state)
      state = block.state
    }
    if (waiting.length > 0) write(waiting, state)
  }

  if (isLong) world.mine(100, 1)
  return world
}

/**
 * Puts what a transaction moves onto another state; false, and nothing done, where it would not do the same there. What
 * an asynchronous vault has been asked for is a state of its own, so nothing of that is repeated.
 */
function repeat({ events }: ModelTransaction, state: ModelState, isLate: boolean): boolean {
  const after = new Map<string, Map<string, bigint>>()
  for (const event of events) {
    const { vault } = event
    if (vault === asyncVault || (vault === lateVault && !isLate)) return false
    if (event.kind !== 'transfer') continue
    const shares = after.get(vault) ?? new Map(state.shares.get(vault))
    after.set(vault, shares)
    for (const [wallet, change] of [
      [event.from, -event.amount],
      [event.to, event.amount],
    ] as const) {
      if (wallet === zero) continue
      const held = (shares.get(wallet) ?? 0n) + change
      if (held < 0n) return false
      shares.set(wallet, held)
    }
  }
  for (const [vault, shares] of after) state.shares.set(vault, shares)
  return true
}

/** A transaction as it is when it lies elsewhere. */
function relocate(transaction: ModelTransaction, block: number, index: number, firstLog: number): ModelTransaction {
  const shift = firstLog - (transaction.logs[0]?.logIndex ?? firstLog)
  return {
    ...transaction,
    events: transaction.events.map((event) => ({ ...event, at: event.at + shift })),
    groups: transaction.groups.map(({ frames, from, to }) => ({ frames, from: from + shift, to: to + shift })),
    logs: transaction.logs.map((log) => ({
      ...log,
      blockNumber: block,
      transactionIndex: index,
      logIndex: log.logIndex + shift,
    })),
  }
}
