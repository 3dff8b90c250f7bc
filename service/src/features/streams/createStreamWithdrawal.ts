import { parseRaw } from '../../kernel/amount.js'
import { invalidArgument, unavailable } from '../../kernel/errors.js'
import type { Caller } from '../../kernel/operation.js'
import { assertFree, assertPaid, getOwnStream, openOperation, type PaidStream } from './adminOperations.js'
import { isSameRoot } from './commitDecision.js'
import type { StreamContext } from './context.js'
import { computeWithdrawable, readHoldings } from './holdings.js'
import { listRoots } from './storeEvents.js'
import { listSnapshots } from './storeReadings.js'
import { isZeroAddress } from './terms.js'

export const expirationDefault = 300
export const expirationMax = 86_400

type WithdrawalInput = {
  id: string
  to?: string | null
  amount?: string | null
  signatureExpirationSeconds?: number | null
}

/** Signs the withdrawal of what a stream holds and need not keep. */
export async function createStreamWithdrawal(ctx: StreamContext, input: WithdrawalInput, caller: Caller) {
  const stream = await getOwnStream(ctx, input.id, caller)
  assertPaid(stream)
  const to = (input.to ?? stream.admin).toLowerCase()
  if (isZeroAddress(to)) throw invalidArgument('to must not be the zero address')
  await assertFree(ctx, stream)
  const maximum = await readMaximum(ctx, stream)
  const asked = input.amount == null ? maximum : (parseRaw(input.amount) ?? 0n)
  if (maximum === 0n)
    throw invalidArgument('nothing can be withdrawn from the stream now', { reason: 'NOTHING_WITHDRAWABLE' })
  if (asked === 0n) throw invalidArgument('amount must be more than 0', { context: { maximum: String(maximum) } })
  if (asked > maximum)
    throw invalidArgument(`amount is more than can be withdrawn now: ${maximum}`, {
      context: { maximum: String(maximum) },
    })
  const expirationSeconds = input.signatureExpirationSeconds ?? expirationDefault
  const operation = { type: 'withdrawal', amount: asked, feeAmount: 0n, receiver: to, expirationSeconds } as const
  return openOperation(ctx, stream, operation, ctx.withdrawalsSigner)
}

/** The most that can be withdrawn: at a confirmed block, and not above what the head says. */
async function readMaximum(ctx: StreamContext, stream: PaidStream): Promise<bigint> {
  const chain = ctx.chains.get(stream.chainId)
  if (!chain) throw unavailable(`this installation has no access to chain ${stream.chainId}`)
  const [isProcessed, holdings] = await Promise.all([
    isFullyProcessed(ctx, stream),
    readHoldings(chain, stream.contract, stream.rewardToken),
  ])
  const amounts = holdings.map((each) => computeWithdrawable(each, isProcessed))
  return amounts.toSorted(ascending)[0] ?? 0n
}

const ascending = (a: bigint, b: bigint) => (a < b ? -1 : 1)

/**
 * The snapshot at the end exists, and either its root is what the contract holds for good or it allocates nothing to
 * anybody. One that changes nothing is not committed again: then the root before it is the same.
 */
async function isFullyProcessed(ctx: StreamContext, { id, endsAt }: PaidStream): Promise<boolean> {
  if (endsAt === null) return false
  const [snapshots, roots] = await Promise.all([listSnapshots(ctx.db, [{ streamId: id }]), listRoots(ctx.db, [id])])
  const last = snapshots.get(id)?.find(({ at }) => at.getTime() === endsAt.getTime())
  if (!last) return false
  if (last.amountDistributed === 0n) return true
  const held = roots.find(({ isConfirmed }) => isConfirmed)
  const { root, amountDistributed: total } = last
  return held !== undefined && root !== null && isSameRoot(held, { root, total })
}
