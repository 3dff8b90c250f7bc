import type { Context } from '../postgres/context.js'
import { inTransaction, type Transaction } from '../postgres/pool.js'
import type { Evidence } from '../rpc/callPaths.js'
import { isSamePaths } from '../rpc/checkTrace.js'
import type { RawTransaction } from '../rpc/raw.js'
import type { Tracer, WantedTrace } from '../rpc/tracer.js'
import { CursorMoved } from './failures.js'
import { groupByTransaction } from './fetch.js'
import type { Projections } from './projection.js'
import { replaceEvidence } from './steps/traces.js'
import { lockCursor } from './storeCursors.js'
import { holdRows, listDifferences, type TableDifference } from './storeDifferences.js'
import { endWait } from './storeEvidence.js'
import { findBlockHash, readRawBlocks } from './storeRaw.js'
import { findConfigurationVersion, listSources } from './storeSources.js'
import { loadConfigurations, takeUp } from './taken.js'

/** Logs read at once. */
const logsMax = 5_000
/** Rows shown of each table and kind of difference. */
const rowsMax = 50

export type Retraced = {
  /** Transactions that needed a trace, how many of them have one now, and how many traces differ from the stored ones. */
  asked: number
  traced: number
  changed: number
  differences: TableDifference[]
}

export type RetraceInput = {
  chainId: number
  projections: Projections
  from: number
  to: number
  tracer: Tracer
  isDry: boolean
  /** Called with the differences before they are stored. */
  onDifferences?: (retraced: Retraced) => void
}

/** Ends a transaction that only looked. */
class OnlyLooked extends Error {
  override readonly name = 'OnlyLooked'
}

/**
 * Requests the traces of a range again, and derives again from the first transaction whose trace differs from the stored one.
 * Only this command of an operator lets later traces change rows.
 */
export async function retraceRange(ctx: Pick<Context, 'db' | 'clock'>, input: RetraceInput): Promise<Retraced> {
  const { db } = ctx
  const { chainId, projections, tracer, isDry } = input
  await tracer.open()
  if (tracer.evidence() !== 'trace') throw new Error(`no url of chain ${chainId} tells how transactions ran`)
  const version = await findConfigurationVersion(db, chainId)
  const full = await loadConfigurations(db, chainId, projections.derived)
  const { opened, list } = takeUp(full, await listSources(db, chainId))
  const retraced: Retraced = { asked: 0, traced: 0, changed: 0, differences: [] }
  const changed: (RawTransaction & { blockHash: string })[] = []
  for (let from: number | undefined = input.from; from !== undefined; ) {
    const { blocks, next } = await readRawBlocks(db, { chainId, from, to: input.to, logsMax })
    const wanted = blocks.flatMap(({ hash: blockHash, transactions, logs }) => {
      const own = groupByTransaction(logs)
      return transactions.flatMap((transaction): WantedTrace[] => {
        const kept = own.get(transaction.hash) ?? []
        if (!list.needsTrace(transaction, kept)) return []
        return [{ transaction, blockHash, logs: kept, isOurs: list.isOurs }]
      })
    })
    const found = await tracer.trace(wanted)
    retraced.asked += wanted.length
    retraced.traced += found.size
    for (const { transaction, blockHash } of wanted) {
      const evidence = found.get(transaction.hash)
      if (evidence && isOther(transaction.evidence, evidence)) changed.push({ ...transaction, blockHash, evidence })
    }
    from = next
  }
  retraced.changed = changed.length
  if (changed.length === 0) {
    input.onDifferences?.(retraced)
    return retraced
  }
  const write = async (tx: Transaction): Promise<void> => {
    const cursor = await lockCursor(tx, chainId)
    if (!cursor || (await findConfigurationVersion(tx, chainId)) !== version)
      throw new CursorMoved('the configuration has changed meanwhile; run it again')
    for (const { blockNumber, blockHash } of changed)
      if ((await findBlockHash(tx, chainId, blockNumber)) !== blockHash)
        throw new CursorMoved('the chain has changed meanwhile; run it again')
    const tables = opened.flatMap(({ projection }) => projection.tables.map(({ table }) => table))
    await holdRows(tx, chainId, tables)
    await endWait(tx, chainId, changed)
    await replaceEvidence(tx, { chainId, opened, transactions: changed, to: cursor.blockNumber })
    retraced.differences = await listDifferences(tx, chainId, tables, rowsMax)
    input.onDifferences?.(retraced)
    if (isDry) throw new OnlyLooked()
  }
  await inTransaction(db, write).catch((error: unknown) => {
    if (!(error instanceof OnlyLooked)) throw error
  })
  return retraced
}

/** Whether a trace differs from the stored one; a new mark of one node's word is no difference. */
function isOther(kept: Evidence | undefined, found: Exclude<Evidence, 'no trace'>): boolean {
  if (kept === undefined || kept === 'no trace') return true
  const isMoreCertain = kept.calls.some((call, at) => call.isWord && found.calls[at]?.isWord === false)
  return !isSamePaths(kept, found) || kept.hasLogs !== found.hasLogs || isMoreCertain
}
