import { type Caller, defineOperation, type Operation } from '../../kernel/operation.js'
import { type ActionContext, getOwnDistributor, InteractionSchema } from '../plans/index.js'
import { createCancelDepositInteraction } from './createCancelDepositInteraction.js'
import { createClaimDepositInteraction } from './createClaimDepositInteraction.js'
import { createDepositInteraction } from './createDepositInteraction.js'
import { createWithdrawInteraction } from './createWithdrawInteraction.js'
import { DepositBody, opportunityParams, RequestBody, WithdrawBody } from './schema.js'

const common = {
  method: 'POST',
  tag: 'Actions',
  access: 'publishable',
  cost: 10,
  tellsRetryable: true,
  params: opportunityParams,
  assertMayRepeat: (ctx: ActionContext, { distributorId }: { distributorId?: string }, caller: Caller) => {
    if (distributorId !== undefined) getOwnDistributor(ctx.catalogue.current(), distributorId, caller)
  },
} as const

const responses = {
  200: InteractionSchema,
  400: 'The request does not fit, or the vault, the token or the wallet does not allow it: see reason',
  403: 'The distributor belongs to another organization, or the key to another distributor',
  404: 'Unknown opportunity or distributor, or the wallet is not a member',
  503: 'The chain cannot be read',
} as const

export const operations: readonly Operation<ActionContext>[] = [
  defineOperation({
    ...common,
    operationId: 'CreateDepositInteraction',
    path: '/v2/actions/deposit/{opportunityId}',
    summary: 'Build a deposit',
    description:
      'Returns the transactions of a deposit in signing order: exact approvals where they are needed, then the deposit with the attribution suffix. Checked and simulated before it is returned; nothing is sent.',
    body: DepositBody,
    bodyName: 'CreateDepositInteractionInput',
    responses,
    run: createDepositInteraction,
  }),
  defineOperation({
    ...common,
    operationId: 'CreateWithdrawInteraction',
    path: '/v2/actions/withdraw/{opportunityId}',
    summary: 'Build a withdrawal',
    description:
      'Returns the transactions that redeem an amount of receipt tokens, with the attribution suffix. Checked and simulated before it is returned; nothing is sent.',
    body: WithdrawBody,
    bodyName: 'CreateWithdrawInteractionInput',
    responses,
    run: createWithdrawInteraction,
  }),
  defineOperation({
    ...common,
    operationId: 'CreateClaimDepositInteraction',
    path: '/v2/actions/claim-deposit/{opportunityId}',
    summary: 'Build the claim of a settled deposit',
    description:
      'Returns the transaction that claims the shares of a pending deposit the vault has settled. Works on opportunities no longer offered.',
    body: RequestBody,
    bodyName: 'CreateClaimDepositInteractionInput',
    responses,
    run: createClaimDepositInteraction,
  }),
  defineOperation({
    ...common,
    operationId: 'CreateCancelDepositInteraction',
    path: '/v2/actions/cancel-deposit/{opportunityId}',
    summary: 'Build the cancellation of a pending deposit',
    description:
      'Returns the transaction that cancels a pending deposit; where a vault cancels in two steps, the same call returns the second once it is due. Of a vault of the kind maple it takes back the redemption that waits in the queue. Works on opportunities no longer offered.',
    body: RequestBody,
    bodyName: 'CreateCancelDepositInteractionInput',
    responses,
    run: createCancelDepositInteraction,
  }),
]
