import type { Context } from '../postgres/context.js'
import type { Transaction } from '../postgres/pool.js'
import { restsOnWord } from '../rpc/checkTrace.js'
import type { RawBlock, RawTransaction } from '../rpc/raw.js'
import type { Tracer, WantedTrace } from '../rpc/tracer.js'
import { groupByTransaction } from './fetch.js'
import type { Opened } from './projection.js'
import { rederiveFromBlock } from './rederive.js'
import type { Cursor } from './storeCursors.js'
import {
  type Awaited,
  endWait,
  isAnyAwaited,
  listOverdue,
  recordAwaited,
  recordChainEvidence,
  recordEvidence,
  takeDue,
} from './storeEvidence.js'
import { listRawTransactions } from './storeRaw.js'
import { findConfirmations } from './storeSources.js'
import type { WatchList } from './watchList.js'

/** How a chain is asked how its transactions ran. */
export type Tracing = { tracer: Tracer; waitSeconds: number; trusts: boolean }

/** Asked for at a time. */
const askedMax = 512
/** What comes within this is taken up at once; the head does not wait longer. */
const patienceMs = 20

type Asked = { awaited: readonly Awaited[]; answers: readonly RawTransaction[] }

/** Traces that have not come yet: which they are, asking for them beside everything else, and taking them up. */
export function createAwaiting(
  ctx: Pick<Context, 'db' | 'clock' | 'log'>,
  { chainId, tracing }: { chainId: number; tracing: Tracing },
) {
  const { db, clock, log } = ctx
  const { tracer, waitSeconds, trusts } = tracing
  let said: 'trace' | 'calldata' | undefined
  /** False once nothing is awaited; what is awaited before this process began is not known. */
  let isAnything = true
  let asking: Promise<void> | undefined
  let asked: Asked | undefined

  const ask = async (awaited: readonly Awaited[], list: WatchList): Promise<void> => {
    const held = await listRawTransactions(db, chainId, awaited)
    const hashes = new Map(awaited.map((each) => [placeOf(each), each.blockHash]))
    const wanted = held
      .filter((each) => hashes.get(placeOf(each)) === each.blockHash)
      .map(
        ({ logs, blockHash, ...transaction }): WantedTrace => ({ transaction, blockHash, logs, isOurs: list.isOurs }),
      )
    const found = await tracer.trace(wanted)
    const answers = wanted.flatMap(({ transaction }) => {
      const evidence = found.get(transaction.hash)
      return evidence ? [{ ...transaction, evidence }] : []
    })
    const words = new Set(answers.filter(({ evidence }) => isWord(evidence)).map(placeOf))
    const told = new Set(answers.map(placeOf))
    // What still rests on one node's word is kept once the time is up, as it was kept before.
    const done = awaited.filter((each) => told.has(placeOf(each)) && !words.has(placeOf(each)))
    asked = { awaited: done, answers: answers.filter((each) => !words.has(placeOf(each)) || isFirst(held, each)) }
  }

  const isWord = (evidence: RawTransaction['evidence']): boolean =>
    evidence !== undefined && evidence !== 'no trace' && !trusts && tracer.hasSecond() && restsOnWord(evidence)

  /** Puts traces that came in their places and derives again from the first of their blocks on. */
  const takeUp = async (tx: Transaction, { awaited, answers }: Asked, opened: readonly Opened[], to: number) => {
    const ended = new Set((await endWait(tx, chainId, awaited)).map(placeOf))
    const isEnding = new Set(awaited.map(placeOf))
    const held = new Map((await listRawTransactions(tx, chainId, answers)).map((each) => [placeOf(each), each.hash]))
    // A block that was replaced meanwhile is asked for by itself.
    const now = answers.filter((each) => {
      const place = placeOf(each)
      return held.get(place) === each.hash && (!isEnding.has(place) || ended.has(place))
    })
    if (now.length === 0) return
    await recordEvidence(tx, chainId, now, 'replace')
    const from = Math.min(...now.map(({ blockNumber }) => blockNumber))
    await rederiveFromBlock(tx, { chainId, all: opened, from, to })
    log.info({ chainId, from, transactions: now.length }, 'traces came later than their blocks: derived again')
  }

  /** Stores that no trace was to be had of those that were asked for long enough. */
  const giveUp = async (tx: Transaction, cursor: Cursor): Promise<void> => {
    const depth = cursor.blockNumber - (await findConfirmations(tx, chainId)) + 1
    const confirmedTo = Math.max(depth, Math.min(cursor.finalizedNumber ?? depth, cursor.blockNumber))
    const overdue = await listOverdue(tx, { chainId, confirmedTo, at: clock.now(), waitSeconds })
    if (overdue.length === 0) return
    const places = await endWait(tx, chainId, overdue)
    const held = await listRawTransactions(tx, chainId, places)
    await recordEvidence(
      tx,
      chainId,
      held.map((each) => ({ ...each, evidence: 'no trace' as const })),
    )
    log.warn({ chainId, transactions: held.length }, 'no trace was to be had: their calldata decides')
  }

  return {
    /** Remembers what of blocks that are being written is to be asked for later. */
    note: async (tx: Transaction, blocks: readonly RawBlock[], list: WatchList): Promise<void> => {
      if (tracer.evidence() === 'calldata') return
      const awaited = blocks.flatMap(({ hash: blockHash, transactions, logs }) => {
        if (transactions.length === 0) return []
        const own = groupByTransaction(logs)
        const isWanted = (each: RawTransaction) =>
          each.evidence === undefined ? list.needsTrace(each, own.get(each.hash) ?? []) : isWord(each.evidence)
        return transactions
          .filter(isWanted)
          .map(({ blockNumber, transactionIndex }) => ({ blockNumber, transactionIndex, blockHash }))
      })
      if (awaited.length === 0) return
      await recordAwaited(tx, { chainId, awaited, at: clock.now() })
      isAnything = true
    },
    /** One turn: what has come is taken up, what was waited for too long is given up, and more is asked for. */
    turn: async (
      inOwn: (work: (tx: Transaction) => Promise<void>) => Promise<void>,
      cursor: Cursor,
      { opened, list }: { opened: readonly Opened[]; list: WatchList },
    ): Promise<void> => {
      const evidence = tracer.evidence()
      if (evidence && evidence !== said) {
        await recordChainEvidence(db, { chainId, evidence, at: clock.now() })
        said = evidence
      }
      if (!isAnything) return
      if (!asking) {
        const due = await takeDue(db, { chainId, at: clock.now(), limit: askedMax })
        if (due.length > 0)
          asking = ask(due, list)
            .catch((error: unknown) => log.warn({ err: error }, 'traces could not be asked for'))
            .finally(() => {
              asking = undefined
            })
      }
      if (asking) await within(asking)
      const taken = asked
      asked = undefined
      await inOwn(async (tx) => {
        if (taken && taken.answers.length > 0) await takeUp(tx, taken, opened, cursor.blockNumber)
        await giveUp(tx, cursor)
      })
      isAnything = await isAnyAwaited(db, chainId)
    },
  }

  async function within(work: Promise<void>): Promise<void> {
    const enough = new AbortController()
    await Promise.race([work, clock.sleep(patienceMs, enough.signal)]).finally(() => enough.abort())
  }
}

const placeOf = ({ blockNumber, transactionIndex }: Pick<RawTransaction, 'blockNumber' | 'transactionIndex'>): string =>
  `${blockNumber}:${transactionIndex}`

/** Whether nothing is known yet of how a transaction ran. */
function isFirst(held: readonly RawTransaction[], transaction: RawTransaction): boolean {
  return held.find((each) => placeOf(each) === placeOf(transaction))?.evidence === undefined
}
