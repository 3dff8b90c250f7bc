import { OutboundError } from '../../kernel/outbound.js'
import { readHead } from '../blocks.js'
import type { Rpc } from '../rpc.js'
import { SignerFailed } from '../signer.js'
import { acceptPast, adoptNext } from './adopting.js'
import { decideKey, pickNonce, type Standing } from './decide.js'
import { openParts, type SenderContext, type SenderOptions, type SenderParts, type Situation } from './senderParts.js'
import { settleRows } from './settling.js'
import { fillGap, offer, send } from './signing.js'
import {
  explainWaiting,
  hasUnfinished,
  listAttempts,
  listQueued,
  listWatched,
  type OutgoingRow,
} from './storeOutgoing.js'
import { readSender, recordStop, type SenderRow } from './storeSenders.js'

export type { SenderCaps, SenderOptions } from './senderParts.js'

export type Sender = {
  /** Looks at what was sent until it is final, offers again what is not mined, and sends what is queued. Any number of processes may do it. */
  step(): Promise<void>
}

/** Queued transactions that are tried in one step; those that were held are tried after the others. */
const triesMax = 16

/**
 * Sends the transactions of one key on one chain, each once. A transaction is signed and written down in one database
 * transaction with its nonce and only then handed to a node, so a process may end between any two lines.
 */
export function createSender(ctx: SenderContext, options: SenderOptions): Sender {
  const parts = openParts(ctx, options)
  const { db, key, chain, view } = parts
  let seenHead: string | undefined
  return {
    step: async () => {
      if (!(await hasUnfinished(db, key))) return
      const [head, sender] = await Promise.all([readHead(chain), readSender(db, key)])
      const counts = await readCounts(parts, sender)
      const { confirmations, finalityDepth } = chain
      const standing: Standing = { head: head.number, counted: counts.latest, confirmations, finalityDepth }
      const rows = await listWatched(db, key, counts.isSure ? counts.latest : Number.MAX_SAFE_INTEGER)
      // Finished transactions change only with the chain.
      const looked = head.hash === seenHead ? rows.filter(({ state }) => state === 'sent') : rows
      const attempts = await listAttempts(db, looked)
      const { waiting, foreign } = await settleRows(parts, { rows: looked, attempts, standing })
      seenHead = head.hash
      const queued = await listQueued(db, key)
      if (waiting.length + queued.length === 0 && foreign === undefined && sender.stopped === null) return
      const maySign = await judge(parts, { sender, counts, standing, foreign })
      const [level, balance] = await Promise.all([view.readFeeLevel(), view.readBalance()])
      const reserved = waiting.reduce((sum, row) => sum + (row.reserved ?? 0n), 0n)
      const situation: Situation = { head: head.number, counted: counts.latest, level, balance, reserved }
      const isSigned = await offerAll(parts, { waiting, attempts, situation, maySign })
      if (maySign && isSigned)
        await sendAll(parts, {
          queued,
          waiting,
          situation,
          counted: counts.latest,
          nonces: rows.map(({ nonce }) => nonce ?? 0),
        })
    },
  }
}

type Counts = { latest: number; pending: number; isSure: boolean }

/** How many transactions of the key there are. More than ours, or any number before our first, is one node's word until another says so. */
async function readCounts({ view, viewOf, witness }: SenderParts, { next }: SenderRow): Promise<Counts> {
  const counts = await view.readCounts()
  const about = 'counts'
  if (next !== undefined && counts.pending <= next) {
    witness.forget(about)
    return { ...counts, isSure: true }
  }
  let other: { latest: number; pending: number } | undefined
  const told = next === undefined ? `${counts.latest} ${counts.pending}` : 'more'
  const isSure = await witness.isSure(about, told, async (second) => {
    other = await viewOf(second).readCounts()
    return next === undefined ? other.latest === counts.latest : other.pending > next
  })
  // Of two counts the lower is believed: the next look finds the rest.
  if (!isSure && other && next !== undefined) return { ...other, isSure: true }
  return { ...counts, isSure }
}

/** Whether anything may be signed with the key now; says so where that changes. */
async function judge(
  parts: SenderParts,
  given: { sender: SenderRow; counts: Counts; standing: Standing; foreign: string | undefined },
): Promise<boolean> {
  const { db, clock, log, key } = parts
  const { sender, counts, standing, foreign } = given
  const releasedMs = sender.releasedAt ? clock.now().getTime() - sender.releasedAt.getTime() : undefined
  let { next } = sender
  let decided = decideKey({ ...counts, next, releasedMs })
  if (decided.act === 'stop' && next !== undefined && counts.latest > next) {
    next += await adoptNext(parts, { next, latest: counts.latest, standing })
    decided = decideKey({ ...counts, next, releasedMs })
  }
  if (decided.act === 'accept') {
    const { count } = decided
    if (!(await acceptPast(parts, { next, latest: counts.latest, count, standing }))) return false
    if (next !== undefined)
      log.warn({ count }, 'an operator lets the key go on: its transactions so far are taken as they are')
  }
  const isGoing = decided.act === 'go' || decided.act === 'accept'
  const why = decided.act === 'stop' ? decided.why : (isGoing && foreign) || undefined
  if (
    decided.act !== 'doubt' &&
    (why ?? null) !== sender.stopped &&
    (await recordStop(db, key, why ?? null, clock.now()))
  ) {
    if (why) log.error({ why }, 'nothing is signed with the key: it has transactions that are not ours')
    else log.info({}, 'the key goes on')
  }
  return isGoing && why === undefined
}

/** Offers what waits to be mined, by nonce. False where the signer does not sign. */
async function offerAll(
  parts: SenderParts,
  given: {
    waiting: readonly OutgoingRow[]
    attempts: Awaited<ReturnType<typeof listAttempts>>
    situation: Situation
    maySign: boolean
  },
): Promise<boolean> {
  const { waiting, attempts, situation } = given
  let { maySign } = given
  for (const row of waiting) {
    try {
      await offer(parts, row, attempts.get(row.id) ?? [], situation, maySign)
    } catch (error) {
      if (!(error instanceof SignerFailed)) throw error
      maySign = false
      await sayUnsigned(parts, row, error)
    }
  }
  return given.maySign === maySign
}

/** Sends queued transactions, up to the limit of open ones, and fills a nonce gap that no queued transaction fills. */
async function sendAll(
  parts: SenderParts,
  given: {
    queued: readonly OutgoingRow[]
    waiting: readonly OutgoingRow[]
    /** Those that are ours, from the count on at least. */
    nonces: readonly number[]
    counted: number
    situation: Situation
  },
): Promise<void> {
  const { waiting, situation } = given
  const gap = await findGap(parts, given)
  let [underWay, failures, isFilled] = [waiting.length, 0, false]
  for (const row of inTurn(parts, given.queued).slice(0, triesMax)) {
    if (underWay >= parts.inFlightMax || failures > 1) break
    parts.tried.set(row.id, parts.clock.monotonicMs())
    try {
      const { outcome, reserved } = await send(parts, row, situation, { isGapSure: gap !== undefined })
      if (outcome !== 'sent') continue
      underWay += 1
      situation.reserved += reserved
      isFilled = true
    } catch (error) {
      if (error instanceof SignerFailed) return sayUnsigned(parts, row, error)
      if (!(error instanceof OutboundError)) throw error
      failures += 1
      parts.log.warn({ err: error, id: row.id }, 'a transaction could not be looked at; others are sent')
      await explainWaiting(parts.db, row.id, 'no node told in time what it needs')
    }
  }
  if (gap !== undefined && !isFilled) await fillGap(parts, gap, situation)
}

async function sayUnsigned({ db, log }: SenderParts, row: OutgoingRow, error: SignerFailed): Promise<void> {
  log.warn({ err: error, id: row.id }, 'a transaction could not be signed; it is tried again')
  await explainWaiting(db, row.id, 'the signer of the key does not sign')
}

/** The lowest nonce that nothing of ours has, below one that waits: once it was seen for as long as it takes to be stuck. */
async function findGap(
  { witness, viewOf, clock, raiseAfterMs }: SenderParts,
  { waiting, nonces, counted }: { waiting: readonly OutgoingRow[]; nonces: readonly number[]; counted: number },
): Promise<number | undefined> {
  const free = pickNonce({ counted, next: counted, isGapSure: true }, nonces)
  if (!waiting.some(({ nonce }) => (nonce ?? 0) > free)) {
    witness.forget('gap')
    return undefined
  }
  const sinceMs = witness.note('gap', 'seen')
  if (clock.monotonicMs() - sinceMs < raiseAfterMs) return undefined
  const agrees = async (second: Rpc) => (await viewOf(second).count('latest')) <= free
  return (await witness.isSure('gap', 'seen', agrees)) ? free : undefined
}

/** Those that were not tried yet, then those that were tried longest ago. */
function inTurn({ tried }: SenderParts, queued: readonly OutgoingRow[]): readonly OutgoingRow[] {
  const ids = new Set(queued.map(({ id }) => id))
  for (const id of tried.keys()) if (!ids.has(id)) tried.delete(id)
  return [...queued].sort((a, b) => (tried.get(a.id) ?? -1) - (tried.get(b.id) ?? -1))
}
