import T from 'typebox'
import { type Caller, defineOperation, type Operation } from '../../kernel/operation.js'
import { ChainId, Nullable, TxHash, Uuid } from '../../kernel/wire.js'
import type { SignatureContext } from '../../wallets/signatures.js'
import type { AttributionContext, JudgeContext } from '../attribution/index.js'
import { type ActionContext, getOwnDistributor } from '../plans/index.js'
import { buildSwapOrder } from './buildSwapOrder.js'
import { getSwapOrderStatus } from './getSwapOrderStatus.js'
import { executionStates, reportSwapExecution } from './reportSwapExecution.js'
import { BuildBody, BuiltOrderSchema, SubmitBody, SwapOrderSchema } from './schema.js'
import { submitSwapOrder } from './submitSwapOrder.js'

const ReportBody = T.Object({
  actionId: T.Optional(Uuid),
  orderId: T.Optional(Uuid),
  chainId: ChainId,
  txHash: TxHash,
})

const ReportSchema = T.Object(
  {
    accepted: T.Boolean(),
    status: T.Enum([...executionStates]),
    actionId: Nullable(Uuid),
    orderId: Nullable(Uuid),
  },
  { title: 'SwapExecution' },
)

const common = { tag: 'Swap', access: 'publishable', tellsRetryable: true } as const

export const operations: readonly Operation<ActionContext & SignatureContext & AttributionContext & JudgeContext>[] = [
  defineOperation({
    ...common,
    operationId: 'BuildSwapOrder',
    isHeavy: true,
    method: 'POST',
    path: '/v2/swap/orders/build',
    summary: 'Build a swap order',
    description:
      'Returns an order to sign (EIP-712) that may be filled while the user is away, the exact approval it needs, and the transaction that ends it. Its minimum output is the present quote less the slippage; the whole output goes to the wallet that signs. Nothing is sent.',
    cost: 5,
    body: BuildBody,
    bodyName: 'BuildSwapOrderInput',
    responses: {
      200: BuiltOrderSchema,
      400: 'The request does not fit, or the chain, the tokens or the opportunity do not allow it: see reason',
      403: 'The distributor belongs to another organization, or the key to another distributor',
      404: 'Unknown distributor or opportunity',
      503: 'The chain cannot be read',
    },
    assertMayRepeat: (ctx: ActionContext, { distributorId }: { distributorId: string }, caller: Caller) => {
      getOwnDistributor(ctx.catalogue.current(), distributorId, caller)
    },
    run: buildSwapOrder,
  }),
  defineOperation({
    ...common,
    operationId: 'SubmitSwapOrder',
    method: 'POST',
    path: '/v2/swap/orders',
    summary: 'Submit a signed swap order',
    description:
      'Takes the signature of an order that was built: of the key of its wallet, or one that its contract wallet confirms (ERC-1271). The balance and the allowance are checked. The same signature sent again returns the present state of the order.',
    cost: 5,
    body: SubmitBody,
    bodyName: 'SubmitSwapOrderInput',
    responses: {
      200: SwapOrderSchema,
      400: 'The signature is not the one of the wallet, or the order cannot be filled: see reason',
      403: 'The key acts for another distributor',
      404: 'No such order, or one of another organization',
      409: 'The order was submitted with another signature',
      503: 'The chain cannot be read, or too many signatures of the organization are being checked',
    },
    run: submitSwapOrder,
  }),
  defineOperation({
    ...common,
    operationId: 'GetSwapOrderStatus',
    method: 'GET',
    path: '/v2/swap/orders/{orderId}',
    summary: 'Follow a swap order',
    description:
      'The state of an order, by the events of its settlement contract at the head of the chain. A fill or a cancellation is final once it is confirmed. Orders of other organizations are not found.',
    cost: 1,
    params: T.Object({ orderId: Uuid }),
    responses: {
      200: SwapOrderSchema,
      400: 'The id is no uuid',
      404: 'No such order, or one of another organization',
    },
    run: getSwapOrderStatus,
  }),
  defineOperation({
    ...common,
    operationId: 'ReportSwapExecution',
    method: 'POST',
    path: '/v2/swap/executions',
    summary: 'Report a transaction of a swap',
    description:
      'Reads the state of a transaction from the chain: confirmed where it succeeded, is deep enough and carries the action or fills the order, failed where it is deep enough and does not, else pending. Exactly one id. The chain decides the state of an order, never a report.',
    cost: 1,
    body: ReportBody,
    bodyName: 'ReportSwapExecutionInput',
    responses: {
      200: ReportSchema,
      400: 'Not exactly one id, a chain that is not supported, or another than the action’s or the order’s',
      404: 'No such action or order, or one of another organization',
      503: 'The chain cannot be read',
    },
    run: reportSwapExecution,
  }),
]
