import type { Caller } from '../../kernel/operation.js'
import type { Written } from '../../postgres/context.js'
import type { ActionContext, Interaction } from '../plans/index.js'
import { buildRequestAction } from './buildRequestAction.js'
import type { RequestInput } from './schema.js'

/** Builds the cancellation of a pending deposit, or the claim of a cancellation the vault granted; sends nothing. */
export async function createCancelDepositInteraction(
  ctx: ActionContext,
  input: RequestInput,
  caller: Caller,
): Promise<Written<Interaction>> {
  return buildRequestAction(ctx, input, caller, 'cancelDeposit')
}
