import type { Static } from 'typebox'
import { formatTs } from '../../kernel/clock.js'
import { notFound } from '../../kernel/errors.js'
import { type Caller, written } from '../../kernel/operation.js'
import type { Written } from '../../postgres/context.js'
import { formatAddress } from '../../wallets/format.js'
import { type Activity, type ActivitySchema, listInteractionsByTx } from '../ledger/index.js'
import { type ActionRow, listActions } from '../plans/index.js'
import type { actionDetailSchema, ShownTransaction } from './schema.js'
import { findStanding } from './standing.js'
import type { AttributionContext, JudgeContext } from './transaction.js'

type ActionDetail = Static<ReturnType<typeof actionDetailSchema<typeof ActivitySchema>>>

/** The status of an action of the caller's organization. */
export async function getAction(
  ctx: AttributionContext & JudgeContext,
  input: { actionId: string },
  { organizationId }: Caller,
): Promise<ActionDetail | Written<ActionDetail>> {
  const [action] = await listActions(ctx.db, [input.actionId.toLowerCase()])
  if (action?.organizationId !== organizationId) throw notFound('no such action')
  const { status, transactions, write } = await findStanding(ctx, action)
  const detail: ActionDetail = {
    actionId: action.id,
    kind: action.kind,
    status,
    opportunityId: action.opportunityId,
    chainId: action.chainId,
    walletAddress: formatAddress(action.wallet),
    distributorId: action.distributorId,
    createdAt: formatTs(action.createdAt),
    validUntil: formatTs(action.validUntil),
    transactions,
    interactions: await listEntries(ctx, action, transactions),
  }
  return write ? written(detail, write) : detail
}

/** Entries of the action's wallet and vault: a transaction may carry the calls of others as well. */
async function listEntries(
  ctx: AttributionContext,
  { chainId, opportunityId, wallet }: ActionRow,
  transactions: readonly ShownTransaction[],
): Promise<Activity[]> {
  const confirmed = transactions.filter(({ state }) => state === 'confirmed')
  const found = await Promise.all(confirmed.map(({ txHash }) => listInteractionsByTx(ctx.db, txHash, chainId)))
  const own = formatAddress(wallet)
  return found.flat().filter((entry) => entry.opportunityId === opportunityId && entry.walletAddress === own)
}
