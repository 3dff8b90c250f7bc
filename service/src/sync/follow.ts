import type { Clock } from '../kernel/clock.js'
import type { Log } from '../kernel/log.js'
import { type OutboundClass, OutboundError } from '../kernel/outbound.js'
import { hasBits } from '../rpc/bloom.js'
import type { Node } from '../rpc/node.js'
import type { Header, RawBlock } from '../rpc/raw.js'
import { RpcError } from '../rpc/rpc.js'
import { type Checks, fetchBlock, fetchRange, LogsDiffer, type Range } from './fetch.js'
import { createFinality, type Final, type Pace } from './finality.js'
import { decideStep, judgeReorg } from './localChain.js'
import { createAlarmLog, createProgress } from './progress.js'
import { CursorMoved, type HeadRecord, type Sink } from './sink.js'
import { type Cursor, headBatch, isAtHead } from './storeCursors.js'
import type { WatchList } from './watchList.js'

export { CursorMoved, type HeadRecord, type Sink }

/** What a chain needs to be watched; `Chain` has all of it. */
export type WatchSettings = {
  chainId: number
  confirmations: number
  finalityDepth: number
  reorgRecheckSeconds: number
}

export type Watcher = {
  /** One look at the chain. `progress`: look again at once; `idle`: nothing new; `stalled`: an operator is needed. */
  step(): Promise<'progress' | 'idle' | 'stalled'>
}

type Options = {
  chain: WatchSettings
  node: Node
  sink: Sink
  clock: Clock
  log: Log
  windowMax?: number
  /** Chooses the windows of the past that are checked against receipts. */
  random?: () => number
  /** Kept from one watcher of a chain to the next. */
  suspect?: SuspectRange
  /** How long after a contradiction, or a window of the past, final blocks are not looked at again. */
  calmMs?: number
  /** Default: as often as there is something to ask. */
  pace?: Pace
}

/**
 * Up to which block every block of the past is checked, because one was found wrong, and until when nothing is looked at
 * again: asked at once, a node may tell the same lie twice.
 */
export type SuspectRange = { to: number; untilMs?: number }

/** Share of blocks of the deeper past whose logs are compared with header and receipts. */
const checkedShare = 0.01
const calmMsDefault = 15_000

/** So long the head may stand still before another node is asked whether it does. */
const stillMsMax = 30_000

/** Logs a window of the past should bring. */
const logsPerWindow = 10_000
/** Blocks of the first window of the past: a busy chain must not bring more than memory holds; a quiet one soon doubles it. */
const firstWindow = 25
/** Stored headers compared at once in the search for a common ancestor. */
const ancestorBatch = 16

/** Windows that do not grow after a larger one was refused, so that few calls are spent on trying again. */
const steadyWindows = 16

/** Failures a smaller window may not meet; some nodes refuse a range by status alone. */
const tooMuchKinds = new Set<OutboundClass>(['too-large', 'timeout', 'client'])

/** A refusal that a smaller window may not meet. */
export function asksTooMuch(error: unknown): boolean {
  return error instanceof RpcError || (error instanceof OutboundError && tooMuchKinds.has(error.kind))
}

const isMalformed = (error: unknown): boolean => error instanceof OutboundError && error.kind === 'malformed'

/** Turns a chain into appended blocks and reorganisations, one step at a time. */
export function createWatcher(options: Options): Watcher {
  const { chain, node, sink, clock, log } = options
  const windowMax = options.windowMax ?? 10_000
  const random = options.random ?? Math.random
  const suspect = options.suspect ?? { to: -1 }
  const calmMs = options.calmMs ?? calmMsDefault
  const pace = options.pace ?? { finalMs: 0, againMs: 0, againBlocks: 0 }
  const readFinal = createFinality({ node, clock, finalityDepth: chain.finalityDepth, everyMs: pace.finalMs })
  const say = createAlarmLog(log, clock)
  const tellProgress = createProgress(clock)
  let window = Math.min(firstWindow, windowMax)
  let steady = 0

  const waitForCalm = (): void => {
    suspect.untilMs = clock.monotonicMs() + calmMs
  }

  /** Every block since the first start is compared with its header; of the deeper past a share, and all is read twice. */
  const checksOf =
    (followedFrom: number) =>
    ({ from }: Range): Checks => ({
      byBloom: (number) => number >= followedFrom || number <= suspect.to || random() < checkedShare,
      twice: from < followedFrom,
    })

  const readWindow = async (cursor: Cursor, from: number, to: number, list: WatchList) => {
    for (;;) {
      const end = Math.min(to, from + window - 1)
      try {
        const range = { from, to: end }
        const read = await fetchRange(node, range, list, checksOf(cursor.followedFrom)(range))
        window = nextWindow(read.blocks)
        return read
      } catch (error) {
        if (error instanceof LogsDiffer) {
          // Asked again with other samples, the same answer might be believed; and what it said before was.
          suspect.to = Math.max(suspect.to, end)
          if (from < cursor.followedFrom) await sink.doubtPast(cursor)
        }
        if (!asksTooMuch(error) || end === from) throw error
        window = Math.max(1, Math.floor((end - from + 1) / 2))
        steady = steadyWindows
      }
    }
  }

  /** Windows aim at a number of logs, so that busy and quiet stretches cost about the same memory and time. */
  const nextWindow = (blocks: readonly RawBlock[]): number => {
    const logs = blocks.reduce((sum, block) => sum + block.logs.length, 0)
    if (logs > logsPerWindow * 2) return Math.max(1, Math.floor(window / 2))
    steady = Math.max(0, steady - 1)
    return steady === 0 && logs < logsPerWindow / 2 ? Math.min(windowMax, window * 2) : window
  }

  /** The window after the one being written, already on its way. */
  let ahead: { from: number; list: WatchList; range: ReturnType<typeof readWindow> } | undefined

  const syncRange = async (cursor: Cursor, to: number): Promise<Cursor> => {
    await assertTip(cursor)
    const list = sink.watchList()
    const from = cursor.blockNumber + 1
    const range = ahead?.from === from && ahead.list === list ? ahead.range : readWindow(cursor, from, to, list)
    ahead = undefined
    const { blocks, last } = await range
    if (last.number < to) {
      const next = readWindow(cursor, last.number + 1, to, list)
      // Whoever takes it up sees the failure; until then it must not end the process.
      next.catch(() => undefined)
      ahead = { from: last.number + 1, list, range: next }
    }
    waitForCalm()
    return sink.append(cursor, await sink.complete(node, blocks), last)
  }

  /** The tip must still be the node's block before anything is put on it unlinked. */
  const assertTip = async (cursor: Cursor): Promise<void> => {
    if (cursor.blockHash === '') return
    const held = await node.findHeader(cursor.blockNumber)
    if (!held) throw new OutboundError('malformed', 'a node does not know a block below its head')
    if (held.hash !== cursor.blockHash) throw new ForkFound()
  }

  /** A bloom with bits was seen. */
  let makesBlooms = false

  const syncHead = async (cursor: Cursor, head: Header): Promise<Cursor> => {
    const from = cursor.blockNumber + 1
    const to = Math.min(head.number, from + headBatch - 1)
    const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index)
    // The head is known; whether it stands on what is read before it, the links tell.
    const headers =
      to === head.number ? [...(await node.listHeaders(numbers.slice(0, -1))), head] : await node.listHeaders(numbers)
    let tip = { number: cursor.blockNumber, hash: cursor.blockHash }
    const linked: Header[] = []
    for (const header of headers) {
      if (decideStep(tip, header, () => undefined).kind !== 'append') break
      linked.push(header)
      tip = header
    }
    const last = linked.at(-1)
    if (!last) throw new ForkFound()
    const list = sink.watchList()
    makesBlooms ||= linked.some(({ bloom }) => bloom && hasBits(bloom))
    const blocks = await Promise.all(linked.map((header) => fetchBlock(node, header, list, { makesBlooms })))
    return sink.append(cursor, await sink.complete(node, blocks), last)
  }

  const findAncestor = async (
    cursor: Cursor,
    asked: Node = node,
  ): Promise<{ number: number; hash: string } | undefined> => {
    for (let from = cursor.blockNumber; ; ) {
      const held = await sink.listHeadersDown(from, ancestorBatch)
      // Every block since the first was replaced: begin again, if none of them was final.
      if (held.length === 0) return from < cursor.startBlock ? { number: cursor.startBlock - 1, hash: '' } : undefined
      const theirs = await Promise.all(held.map(({ number }) => asked.findHeader(number)))
      const match = held.find((header, index) => theirs[index]?.hash === header.hash)
      if (match) return match
      from = (held.at(-1)?.number ?? 0) - 1
    }
  }

  /** The ancestor by a second read: of another node, or where none answers of the same one after a while. */
  const findAncestorAgain = async (cursor: Cursor) => {
    const other = node.secondary()
    if (other) {
      try {
        return await findAncestor(cursor, other)
      } catch (error) {
        log.warn({ chainId: chain.chainId, err: error }, 'no second node answers; the first is asked again')
      }
    }
    await clock.sleep(chain.reorgRecheckSeconds * 1000)
    return findAncestor(cursor)
  }

  const reorganise = async (cursor: Cursor, head: Header): Promise<'progress' | 'idle' | 'stalled'> => {
    // A url that began to serve another chain since it was last asked is no reorganisation.
    if ((await node.chainId()) !== chain.chainId) {
      node.markUnreliable()
      throw new OutboundError('malformed', 'a node serves another chain now')
    }
    const ancestor = await findAncestor(cursor)
    const stall = async (reason: string): Promise<'stalled'> => {
      const { finalizedNumber } = cursor
      // The head is read on, so that the lag shows how far the chain has gone meanwhile.
      const headNumber = Math.max(cursor.headNumber, head.number)
      await sink.recordHead(cursor, { headNumber, finalizedNumber, state: 'stalled', reason })
      say({ chainId: chain.chainId, block: cursor.blockNumber }, reason)
      return 'stalled'
    }
    if (!ancestor) return stall('the node has another chain than this database, without a common block')
    if (ancestor.number === cursor.blockNumber) return 'progress'
    const verdict = judgeReorg({
      ancestor: ancestor.number,
      head: cursor.blockNumber,
      confirmations: chain.confirmations,
      finalized: cursor.finalizedNumber,
      finalityDepth: chain.finalityDepth,
    })
    if (verdict === 'refuse')
      return stall(
        `the node replaced final blocks above ${ancestor.number}; check it, then run: openearn chains rewind`,
      )
    if (verdict === 'recheck') {
      const again = await findAncestorAgain(cursor)
      if (again?.number !== ancestor.number) {
        const [first, second] = [ancestor.number, again?.number ?? 'nowhere']
        const reason = `two reads disagree about where the chain forked: above ${first}, above ${second}`
        const { headNumber, finalizedNumber, state } = cursor
        await sink.recordHead(cursor, { headNumber, finalizedNumber, state, reason })
        log.warn({ chainId: chain.chainId, block: cursor.blockNumber }, `${reason}; nothing is taken back yet`)
        return 'idle'
      }
    }
    await sink.rewind(cursor, ancestor)
    log.warn({ chainId: chain.chainId, from: cursor.blockNumber, to: ancestor.number }, 'reorganisation')
    return 'progress'
  }

  const isFork = async (cursor: Cursor, head: Header): Promise<boolean> => {
    if (head.number > cursor.blockNumber || cursor.blockHash === '') return false
    const held = head.number === cursor.blockNumber ? cursor.blockHash : await sink.localHash(head.number)
    return held !== undefined && held !== head.hash
  }

  /** The last head that was new, and when. */
  let moved = { number: -1, atMs: clock.monotonicMs() }

  /** A node that stands still is left when another one goes on. */
  const assertMoving = async (head: Header): Promise<void> => {
    const nowMs = clock.monotonicMs()
    if (head.number > moved.number) moved = { number: head.number, atMs: nowMs }
    if (nowMs - moved.atMs < stillMsMax) return
    moved.atMs = nowMs
    // One that does not answer says nothing.
    const theirs = await node
      .secondary()
      ?.findHeader('latest')
      .catch(() => undefined)
    if (!theirs || theirs.number <= head.number) return
    node.markUnreliable()
    log.warn({ chainId: chain.chainId, head: head.number, theirs: theirs.number }, 'a node has stood still: left')
  }

  /** What is final, unless a node says so of another block than ours: it may be of another branch. */
  const assertOurs = async (final: Final, cursor: Cursor): Promise<number | null> => {
    const { number, hash } = final
    if (number === null || hash === undefined || number > cursor.blockNumber) return number
    const held = await sink.localHash(number)
    if (held === undefined || held === hash) return number
    log.warn({ chainId: chain.chainId, block: number }, 'a node calls another block final than ours; not believed yet')
    return cursor.finalizedNumber
  }

  let lookedAgainMs = clock.monotonicMs()

  /** The second look at final blocks. It waits for calm, and where it fails the head does not wait for it. */
  const lookAgain = async (cursor: Cursor): Promise<boolean> => {
    const nowMs = clock.monotonicMs()
    if (nowMs < (suspect.untilMs ?? 0)) return false
    const waiting = Math.min(cursor.finalizedNumber ?? -1, cursor.blockNumber) - cursor.checkedTo
    if (waiting < pace.againBlocks && nowMs - lookedAgainMs < pace.againMs) return false
    lookedAgainMs = nowMs
    // What was read as it came was compared with its header then.
    const isDoubted = (number: number) =>
      number < cursor.followedFrom || number <= suspect.to || random() < checkedShare
    try {
      return await sink.recheck(cursor, node, isDoubted)
    } catch (error) {
      if (error instanceof CursorMoved) return true
      if (!(error instanceof RpcError) && !(error instanceof OutboundError)) throw error
      waitForCalm()
      if (isMalformed(error)) node.markUnreliable()
      log.warn({ chainId: chain.chainId, err: error }, 'final blocks could not be looked at again yet')
      return false
    }
  }

  const look = async (): Promise<'progress' | 'idle' | 'stalled'> => {
    const head = await node.findHeader('latest')
    if (!head) return 'idle'
    await assertMoving(head)
    let cursor = await sink.refresh(head)
    try {
      if (await isFork(cursor, head)) return await reorganise(cursor, head)
      const final = await readFinal(cursor, head)
      const deepTo = Math.min(final.number ?? -1, head.number - headBatch)
      const behind = head.number > cursor.blockNumber
      // The head first: on a chain that has forked, reading the past of a vault would never match.
      if (behind && cursor.blockNumber < deepTo) cursor = await syncRange(cursor, deepTo)
      else if (behind) cursor = await syncHead(cursor, head)
      const finalizedNumber = await assertOurs(final, cursor)
      const more = await sink.backfill({ ...cursor, finalizedNumber }, node, checksOf(cursor.followedFrom))
      const isLive = isAtHead({ ...cursor, headNumber: head.number })
      const progress = tellProgress(cursor.blockNumber, isLive ? cursor.blockNumber : head.number)
      if (progress) log.info({ chainId: chain.chainId }, progress)
      await sink.recordHead(cursor, {
        headNumber: Math.max(head.number, cursor.blockNumber),
        finalizedNumber,
        state: isLive && !more ? 'live' : 'backfilling',
        reason: null,
      })
      if (isLive && !more) await sink.takeTraces({ ...cursor, finalizedNumber })
      const rest = isLive && !more && (await lookAgain({ ...cursor, finalizedNumber }))
      return cursor.blockNumber < head.number || more || rest ? 'progress' : 'idle'
    } catch (error) {
      if (error instanceof ForkFound) return reorganise(cursor, head)
      if (error instanceof CursorMoved) return 'idle'
      throw error
    }
  }

  return {
    step: async () => {
      try {
        return await look()
      } catch (error) {
        const isContradiction = isMalformed(error)
        if (isContradiction) waitForCalm()
        if (isContradiction || error instanceof RpcError) node.markUnreliable()
        throw error
      }
    },
  }
}

class ForkFound extends Error {
  override readonly name = 'ForkFound'
}
