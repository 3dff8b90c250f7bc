import { type Address, type Hex, keccak256 } from 'viem'
import { unavailable } from '../../kernel/errors.js'
import { type ActionRow, listActions } from '../plans/index.js'
import { type Carried, digestOf } from './carried.js'
import type { KeptTransaction } from './judge.js'
import type { Verdict } from './judgeThread.js'
import type { ActionSighting } from './storeSightings.js'
import { type AttributionContext, findTransaction, type JudgeContext, type LookedAt, lookAt } from './transaction.js'

type LookUpContext = AttributionContext & JudgeContext

/** A transaction that carries an action, as it was just looked at. */
export type Carrier = {
  transaction: KeptTransaction
  isMain: boolean
  /** False where the operation with the call failed, though the transaction did not. */
  ran: boolean
}

/** How a transaction that was looked at carries an action; undefined: it does not. Pure. */
export function findCarrier(action: ActionRow, { transaction, verdict }: LookedAt): Carrier | undefined {
  const calls = listCalls(verdict).filter(({ actionId }) => actionId === action.id)
  if (transaction.chainId !== action.chainId || calls.length === 0) return undefined
  const digest = digestOf(action)
  const main = calls.filter((call) => call.digest === digest)
  return { transaction, isMain: main.length > 0, ran: (main.length > 0 ? main : calls).some(({ ran }) => ran) }
}

/** The actions a transaction carries, each with how it does. */
export async function listCarriers(
  ctx: AttributionContext,
  looked: LookedAt,
): Promise<{ action: ActionRow; carrier: Carrier }[]> {
  const actions = await listActions(ctx.db, [...new Set(listCalls(looked.verdict).map(({ actionId }) => actionId))])
  return actions.flatMap((action) => {
    const carrier = findCarrier(action, looked)
    return carrier ? [{ action, carrier }] : []
  })
}

const listCalls = (verdict: Verdict): readonly Carried[] =>
  verdict.status === 'judged' ? verdict.judgement.carried : []

/**
 * Looks at a transaction and tells how it carries an action; undefined: it does not, or nobody knows it. An action without
 * a suffix is told by its call. A chain that cannot be read is a 503.
 */
export async function readCarrier(ctx: LookUpContext, action: ActionRow, hash: string): Promise<Carrier | undefined> {
  const { chainId } = action
  if (action.distributorId !== null) {
    const looked = await lookAt(ctx, { hash, chainId })
    if (looked?.verdict.status === 'busy')
      throw unavailable('too many transactions are being inspected; try again shortly', { retryAfterSeconds: 2 })
    return looked && findCarrier(action, looked)
  }
  const found = await findTransaction(ctx, hash, chainId)
  if (!found || !isCallOf(action, found)) return undefined
  return { transaction: { chainId, hash, mined: found.mined }, isMain: true, ran: true }
}

function isCallOf(action: ActionRow, call: { from: string; to: string | null; input: Hex }): boolean {
  return call.from === action.wallet && call.to === action.target && keccak256(call.input) === action.callHash
}

/** The record of it. `finalTo` is the last final block. */
export function toSighting(
  action: ActionRow,
  { transaction: { hash, mined }, isMain, ran }: Carrier,
  { finalTo, at }: { finalTo: number; at: Date },
): ActionSighting {
  return {
    ...{ actionId: action.id, transactionHash: hash, chainId: action.chainId, isMain, foundAt: at },
    blockNumber: mined?.blockNumber ?? null,
    blockHash: mined?.blockHash ?? null,
    success: mined ? mined.success && ran : null,
    isFinal: mined !== undefined && mined.blockNumber <= finalTo,
  }
}

/** Whether two say the same of a transaction. */
export function isSameSighting(a: ActionSighting, b: ActionSighting): boolean {
  return a.blockHash === b.blockHash && a.success === b.success && a.isFinal === b.isFinal
}

/** The tokens that move where an action is done: what the wallet gives, and what it gets. */
export function listMoved({ tokenIn, tokenOut }: ActionRow, native: Address): string[] {
  const tokens = [tokenIn, tokenOut].filter((token) => token !== null && token !== native.toLowerCase())
  return [...new Set(tokens)] as string[]
}
