import { emptyInspection, type Inspection, needsTrace } from '@openearn/attribution'
import { formatTs } from '../../kernel/clock.js'
import { EarnError } from '../../kernel/errors.js'
import { written } from '../../kernel/operation.js'
import type { Written } from '../../postgres/context.js'
import type { Transaction } from '../../postgres/pool.js'
import { listTraced } from '../../sync/storeEvidence.js'
import { formatAddress } from '../../wallets/format.js'
import {
  type Activity,
  listInteractionsByTx,
  listTransactionAttributions,
  type RecordedAttribution,
} from '../ledger/index.js'
import { listActions } from '../plans/index.js'
import { takeWithin } from './boundAnswer.js'
import { findCarrier } from './carriers.js'
import { addProblems, addState, type Claim, findClaim } from './claim.js'
import type { KeptTransaction } from './judge.js'
import type { Verdict } from './judgeThread.js'
import { keepCarriers } from './keepCarriers.js'
import type { ActionBody, WatchedBody } from './schema.js'
import { findStanding, type Standing } from './standing.js'
import type { Statement } from './statements.js'
import { listSightingsIn } from './storeSightings.js'
import {
  type AttributionContext,
  getSupportedChain,
  hasDistributor,
  type JudgeContext,
  type LookedAt,
  lookAt,
} from './transaction.js'

export type AttributionResult = {
  txHash: string
  chainId: number | null
  attributed: boolean
  distributorId: string | null
  codes: string[]
  source: 'interaction' | 'watcher' | 'calldata' | null
  action: ActionBody | null
  interactions: Activity[]
  watched: WatchedBody[]
  calldata: Inspection | null
  /** Counts of the items that a response of limited size does not list. */
  omitted: { codes: number; interactions: number; watched: number; stacked: number }
}

/** Bytes the parts of an answer have (`boundAnswer.ts` says how they share it), and the rows of what was watched. */
const interactionBytesMax = 96 * 1024
const codeBytesMax = 16 * 1024
const watchedCodeBytesMax = 1024
const watchedMax = 16

type LookUpContext = AttributionContext & JudgeContext

/** Shows everything known about who brought a transaction: ledger, watcher and, with a chain, the calldata itself. */
export async function getAttribution(
  ctx: LookUpContext,
  input: { txHash: string; chainId?: number },
): Promise<AttributionResult | Written<AttributionResult>> {
  const txHash = input.txHash.toLowerCase()
  const chainId = input.chainId === undefined ? undefined : getSupportedChain(ctx, input.chainId).chainId
  const [interactions, watched, look, traced, sighted] = await Promise.all([
    listInteractionsByTx(ctx.db, txHash, chainId),
    listTransactionAttributions(ctx.db, txHash, chainId),
    lookAtCalldata(ctx, txHash, chainId),
    listTraced(ctx.db, txHash),
    listSightingsIn(ctx.db, txHash, chainId),
  ])
  const claim = findClaim(look.statements, (code) => hasDistributor(ctx, code))
  const verdict = decideSource(interactions, watched, claim, look.transaction)
  const codes = takeWithin(listCodes(watched, look.calldata, verdict.distributorId), codeBytesMax)
  const entries = takeWithin(interactions, interactionBytesMax)
  // The newest stand last.
  const shown = watched.slice(-watchedMax)
  const standing = await findActionOf(ctx, look, claim, [...watched, ...sighted])
  const result: AttributionResult = {
    txHash,
    chainId: chainId ?? interactions[0]?.chainId ?? watched[0]?.chainId ?? sighted[0]?.chainId ?? null,
    attributed: verdict.source !== null,
    ...verdict,
    codes: codes.kept,
    action: standing?.body ?? null,
    interactions: entries.kept,
    watched: shown.map((row) => toWatchedBody(row, traced)),
    calldata: look.calldata && addProblems(look.calldata, watched),
    omitted: {
      codes: codes.omitted,
      interactions: entries.omitted,
      watched: watched.length - shown.length,
      stacked: look.stackedOmitted,
    },
  }
  const writes = [standing?.write, look.found && (await keepCarriers(ctx, look.found))].filter(
    (write) => write !== undefined,
  )
  return writes.length > 0 ? written(result, (tx) => inTurn(writes, tx)) : result
}

async function inTurn(writes: readonly ((tx: Transaction) => Promise<void>)[], tx: Transaction): Promise<void> {
  for (const write of writes) await write(tx)
}

type Look = {
  calldata: Inspection | null
  transaction: KeptTransaction | undefined
  /** The transaction with its verdict. */
  found: LookedAt | undefined
  statements: readonly Statement[]
  stackedOmitted: number
}

/** The calldata, inspected when a chain is given; without one our own store still tells which action it was. */
async function lookAtCalldata(ctx: LookUpContext, hash: string, chainId: number | undefined): Promise<Look> {
  try {
    const asked = chainId !== undefined
    const found = await lookAt(ctx, { hash, chainId })
    if (!found) return nothing(asked ? emptyInspection('transaction not found') : null)
    const { transaction, verdict } = found
    const { statements, inspection, stackedOmitted } = readVerdict(verdict)
    if (!asked) return { calldata: null, transaction, found, statements, stackedOmitted: 0 }
    return { calldata: addState(inspection, transaction), transaction, found, statements, stackedOmitted }
  } catch (error) {
    if (!(error instanceof EarnError) || error.code !== 503) throw error
    ctx.log.warn({ err: error.cause ?? error }, 'a chain could not be read for an attribution look-up')
    return nothing(emptyInspection('chain unavailable'))
  }
}

const nothing = (calldata: Inspection | null): Look => ({
  calldata,
  transaction: undefined,
  found: undefined,
  statements: [],
  stackedOmitted: 0,
})

function readVerdict(verdict: Verdict): Pick<Look, 'statements' | 'stackedOmitted'> & { inspection: Inspection } {
  if (verdict.status === 'judged') return verdict.judgement
  const problem =
    verdict.status === 'busy'
      ? 'too many transactions are being inspected; try again shortly'
      : 'the transaction is too complex to be inspected'
  return { statements: [], stackedOmitted: 0, inspection: emptyInspection(problem) }
}

/** The first of ledger, watcher and calldata that names a registered distributor. Pure. */
function decideSource(
  interactions: readonly Activity[],
  watched: readonly RecordedAttribution[],
  claim: Claim | undefined,
  transaction: KeptTransaction | undefined,
): { distributorId: string | null; source: AttributionResult['source'] } {
  const [entry] = interactions
  if (entry) return { distributorId: entry.distributorId, source: 'interaction' }
  const seen = watched.find(({ distributorId, retracted }) => distributorId !== null && !retracted)
  if (seen) return { distributorId: seen.distributorId, source: 'watcher' }
  // The watcher's judgement counts; before it exists, calldata decides as far as it needs no trace.
  const isOpen = watched.some(({ retracted, problems }) => !retracted && problems.includes(needsTrace))
  if (claim?.registered && claim.proven && !isOpen && transaction?.mined?.success)
    return { distributorId: claim.code, source: 'calldata' }
  return { distributorId: null, source: null }
}

function listCodes(
  watched: readonly RecordedAttribution[],
  calldata: Inspection | null,
  distributorId: string | null,
): string[] {
  const inspected = calldata ? [calldata, ...calldata.stacked].flatMap(({ codes }) => codes) : []
  const codes = [...inspected, ...watched.flatMap((row) => row.codes)]
  return [...new Set(codes.length > 0 || distributorId === null ? codes : [distributorId])]
}

/**
 * The action a signed suffix names; a copied suffix names somebody else's, so it is not shown. A transaction that no node
 * was asked for names the action that it was found to carry.
 */
async function findActionOf(
  ctx: LookUpContext,
  { found, transaction }: Look,
  claim: Claim | undefined,
  known: readonly { actionId: string | null }[],
): Promise<{ body: ActionBody; write: Standing['write'] } | undefined> {
  const signed = claim?.signatureValid && claim.proven ? claim.actionId : undefined
  const actionId = transaction ? signed : known.find((row) => row.actionId !== null)?.actionId
  const action = actionId === undefined || actionId === null ? undefined : (await listActions(ctx.db, [actionId]))[0]
  if (!action) return undefined
  const carrier = found && findCarrier(action, found)
  const { status, write } = await findStanding(ctx, action, carrier ? [carrier] : [])
  return { body: { actionId: action.id, kind: action.kind, status, createdAt: formatTs(action.createdAt) }, write }
}

/** `traced` are the blocks in which the calls of the transaction are known. */
function toWatchedBody(
  row: RecordedAttribution,
  traced: readonly { chainId: number; blockHash: string }[],
): WatchedBody {
  const { chainId, blockNumber, blockHash, distributorId, codes, schema, signatureValid, retracted } = row
  return {
    chainId,
    blockNumber,
    blockHash,
    timestamp: formatTs(row.timestamp),
    from: formatAddress(row.from),
    to: row.to === null ? null : formatAddress(row.to),
    distributorId,
    codes: takeWithin(codes, watchedCodeBytesMax).kept,
    schema,
    signatureValid,
    evidence: traced.some((each) => each.chainId === chainId && each.blockHash === blockHash) ? 'trace' : 'calldata',
    retracted,
  }
}
