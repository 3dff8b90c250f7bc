import type { Caller } from '../../kernel/operation.js'
import type { Written } from '../../postgres/context.js'
import type { ActionContext, Interaction } from '../plans/index.js'
import { buildRequestAction } from './buildRequestAction.js'
import type { RequestInput } from './schema.js'

/** Builds the claim of a pending deposit the vault has settled; sends nothing. */
export async function createClaimDepositInteraction(
  ctx: ActionContext,
  input: RequestInput,
  caller: Caller,
): Promise<Written<Interaction>> {
  return buildRequestAction(ctx, input, caller, 'claimDeposit')
}
