import { parseRaw } from '../../kernel/amount.js'
import { invalidArgument } from '../../kernel/errors.js'
import type { Caller } from '../../kernel/operation.js'
import { assertFree, assertPaid, getOwnStream, openOperation } from './adminOperations.js'
import type { StreamContext } from './context.js'
import { expirationDefault } from './createStreamWithdrawal.js'
import { computeFee, readAmount } from './terms.js'

type IncreaseInput = { id: string; amount: string; signatureExpirationSeconds?: number | null }

/** Signs an increase of the budget of a stream, and the fee on it. */
export async function increaseStreamBudget(ctx: StreamContext, input: IncreaseInput, caller: Caller) {
  const stream = await getOwnStream(ctx, input.id, caller)
  assertPaid(stream)
  if (stream.type === 3) throw invalidArgument('the budget of a stream with a daily budget cannot be increased')
  if (stream.endsAt && stream.endsAt.getTime() <= ctx.clock.now().getTime())
    throw invalidArgument('the stream has ended: its budget cannot be increased', { reason: 'STREAM_ENDED' })
  const amount = readAmount(parseRaw(input.amount), 'amount')
  readAmount(stream.totalAmount + stream.addedAmount + amount, 'the budget with amount')
  await assertFree(ctx, stream)
  const isPremium = ctx.catalogue.current().organizations.get(caller.organizationId)?.premium === true
  const expirationSeconds = input.signatureExpirationSeconds ?? expirationDefault
  const feeAmount = computeFee(amount, isPremium)
  const operation = { type: 'budget-increase', amount, feeAmount, receiver: null, expirationSeconds } as const
  return openOperation(ctx, stream, operation, ctx.streamsSigner)
}
