import type { Database, Transaction } from '../../postgres/pool.js'
import { restsOnWord } from '../../rpc/checkTrace.js'
import type { RawBlock, RawLog, RawTransaction } from '../../rpc/raw.js'
import type { WantedTrace } from '../../rpc/tracer.js'
import { groupByTransaction } from '../fetch.js'
import type { Opened } from '../projection.js'
import { rederiveFromBlock } from '../rederive.js'
import type { Asked, Standing, State } from '../state.js'
import {
  type Awaited,
  endWait,
  isAnyAwaited,
  listOverdue,
  recordAwaited,
  recordChainEvidence,
  recordEvidence,
  takeDue,
} from '../storeEvidence.js'
import { listRawTransactions } from '../storeRaw.js'
import { findConfirmations } from '../storeSources.js'
import type { WatchList } from '../watchList.js'
import type { Reading, Tracing, Writing } from './step.js'

/** Asked for at a time. */
const askedMax = 512
/** Traces that arrive within this time are used at once; the head does not wait longer. */
const patienceMs = 20

/** Transactions whose traces are awaited and may be asked for now, as they are stored. */
export type Due = {
  awaited: readonly Awaited[]
  stored: readonly (RawTransaction & { blockHash: string; logs: RawLog[] })[]
}

/** Whether there is anything to do about traces. */
export function areTracesAwaited(tracing: Tracing | undefined, { traces }: State['memory']): boolean {
  if (!tracing) return false
  const evidence = tracing.tracer.evidence()
  return traces.isAnything || (evidence !== undefined && evidence !== traces.said)
}

/**
 * Stores the kind of evidence that nodes give, and lists the due traces: none while an earlier request is under way. Undefined
 * if no trace is awaited.
 */
export async function loadTraces(
  db: Database,
  { tracing, clock }: { tracing?: Tracing | undefined; clock: Writing['clock'] },
  { cursor: { chainId }, memory: { traces } }: Standing,
): Promise<Due | undefined> {
  const evidence = tracing?.tracer.evidence()
  if (evidence && evidence !== traces.said) {
    await recordChainEvidence(db, { chainId, evidence, at: clock.now() })
    traces.said = evidence
  }
  if (!traces.isAnything) return undefined
  if (traces.asking) return { awaited: [], stored: [] }
  const awaited = await takeDue(db, { chainId, at: clock.now(), limit: askedMax })
  return { awaited, stored: awaited.length > 0 ? await listRawTransactions(db, chainId, awaited) : [] }
}

/** Requests the due traces in the background and returns those that have arrived. The head does not wait for the rest. */
export async function readTraces(by: Reading, state: State, due: Due): Promise<Asked | undefined> {
  const { traces } = state.memory
  const { tracing, log } = by
  if (tracing && due.awaited.length > 0)
    traces.asking = ask(tracing, due, state.held.taken.list)
      .then((asked) => {
        traces.asked = asked
      })
      .catch((error: unknown) => log.warn({ err: error }, 'traces could not be asked for'))
      .finally(() => {
        traces.asking = undefined
      })
  if (traces.asking) await within(by, traces.asking)
  const { asked } = traces
  traces.asked = undefined
  return asked
}

/** Stores the traces that arrived, and gives up those that were awaited for too long. */
export async function commitTraces(to: Writing, state: Standing, asked: Asked | undefined): Promise<void> {
  if (asked && asked.answers.length > 0) await takeUp(to, state, asked)
  await giveUp(to, state)
}

/** Whether anything is awaited still. */
export async function recountAwaited(db: Database, { cursor, memory }: Standing): Promise<void> {
  memory.traces.isAnything = await isAnyAwaited(db, cursor.chainId)
}

/** Records which traces of the written blocks are requested later. */
export async function noteAwaited(
  { tx, tracing, clock }: Writing,
  { cursor, memory }: Standing,
  blocks: readonly RawBlock[],
  list: WatchList,
): Promise<void> {
  if (!tracing || tracing.tracer.evidence() === 'calldata') return
  const awaited = blocks.flatMap(({ hash: blockHash, transactions, logs }) => {
    if (transactions.length === 0) return []
    const own = groupByTransaction(logs)
    const isWanted = (each: RawTransaction) =>
      each.evidence === undefined ? list.needsTrace(each, own.get(each.hash) ?? []) : isWord(tracing, each.evidence)
    return transactions
      .filter(isWanted)
      .map(({ blockNumber, transactionIndex }) => ({ blockNumber, transactionIndex, blockHash }))
  })
  if (awaited.length === 0) return
  await recordAwaited(tx, { chainId: cursor.chainId, awaited, at: clock.now() })
  memory.traces.isAnything = true
}

async function ask(tracing: Tracing, { awaited, stored }: Due, list: WatchList): Promise<Asked> {
  const hashes = new Map(awaited.map((each) => [placeOf(each), each.blockHash]))
  const wanted = stored
    .filter((each) => hashes.get(placeOf(each)) === each.blockHash)
    .map(({ logs, blockHash, ...transaction }): WantedTrace => ({ transaction, blockHash, logs, isOurs: list.isOurs }))
  const found = await tracing.tracer.trace(wanted)
  const answers = wanted.flatMap(({ transaction }) => {
    const evidence = found.get(transaction.hash)
    return evidence ? [{ ...transaction, evidence }] : []
  })
  const words = new Set(answers.filter(({ evidence }) => isWord(tracing, evidence)).map(placeOf))
  const told = new Set(answers.map(placeOf))
  // A trace with only one node's word stays awaited: it is stored once the time is up.
  const done = awaited.filter((each) => told.has(placeOf(each)) && !words.has(placeOf(each)))
  return { awaited: done, answers: answers.filter((each) => !words.has(placeOf(each)) || isFirst(stored, each)) }
}

/** Whether it is one node's word, and another node can be asked. */
function isWord({ tracer, trusts }: Tracing, evidence: RawTransaction['evidence']): boolean {
  return evidence !== undefined && evidence !== 'no trace' && !trusts && tracer.hasSecond() && restsOnWord(evidence)
}

/** Stores traces that arrived and derives again from the first of their blocks on. */
async function takeUp({ tx, log }: Writing, state: Standing, { awaited, answers }: Asked): Promise<void> {
  const { chainId } = state.cursor
  const ended = new Set((await endWait(tx, chainId, awaited)).map(placeOf))
  const isEnding = new Set(awaited.map(placeOf))
  const held = new Map((await listRawTransactions(tx, chainId, answers)).map((each) => [placeOf(each), each.hash]))
  // A block that was replaced meanwhile is asked for by itself.
  const now = answers.filter((each) => {
    const place = placeOf(each)
    return held.get(place) === each.hash && (!isEnding.has(place) || ended.has(place))
  })
  if (now.length === 0) return
  const { opened } = state.held.taken
  const from = await replaceEvidence(tx, { chainId, opened, transactions: now, to: state.cursor.blockNumber })
  log.info({ chainId, from, transactions: now.length }, 'traces came later than their blocks: derived again')
}

/** Replaces the stored evidence of transactions, and derives again from the first of their blocks. Returns that block. */
export async function replaceEvidence(
  tx: Transaction,
  input: { chainId: number; opened: readonly Opened[]; transactions: readonly RawTransaction[]; to: number },
): Promise<number> {
  const { chainId, opened, transactions, to } = input
  await recordEvidence(tx, chainId, transactions, 'replace')
  const from = Math.min(...transactions.map(({ blockNumber }) => blockNumber))
  await rederiveFromBlock(tx, { chainId, all: opened, from, to })
  return from
}

/** Stores `no trace` for those that were requested for long enough. */
async function giveUp({ tx, tracing, clock, log }: Writing, { cursor }: Standing): Promise<void> {
  const { chainId } = cursor
  const depth = cursor.blockNumber - (await findConfirmations(tx, chainId)) + 1
  const confirmedTo = Math.max(depth, Math.min(cursor.finalizedNumber ?? depth, cursor.blockNumber))
  const waitSeconds = tracing?.waitSeconds ?? 0
  const overdue = await listOverdue(tx, { chainId, confirmedTo, at: clock.now(), waitSeconds })
  if (overdue.length === 0) return
  const places = await endWait(tx, chainId, overdue)
  const stored = await listRawTransactions(tx, chainId, places)
  await recordEvidence(
    tx,
    chainId,
    stored.map((each) => ({ ...each, evidence: 'no trace' as const })),
  )
  log.warn({ chainId, transactions: stored.length }, 'no trace was to be had: their calldata decides')
}

async function within({ clock }: Pick<Reading, 'clock'>, work: Promise<void>): Promise<void> {
  const enough = new AbortController()
  await Promise.race([work, clock.sleep(patienceMs, enough.signal)]).finally(() => enough.abort())
}

const placeOf = ({ blockNumber, transactionIndex }: Pick<RawTransaction, 'blockNumber' | 'transactionIndex'>): string =>
  `${blockNumber}:${transactionIndex}`

/** Whether nothing is known yet of how a transaction ran. */
function isFirst(stored: readonly RawTransaction[], transaction: RawTransaction): boolean {
  return stored.find((each) => placeOf(each) === placeOf(transaction))?.evidence === undefined
}
