import T from 'typebox'
import { defineOperation, type Operation } from '../../kernel/operation.js'
import { ChainId, Nullable, TxHash, Uuid } from '../../kernel/wire.js'
import type { AttributionContext, JudgeContext } from '../attribution/index.js'
import { executionStates, reportSwapExecution } from './reportSwapExecution.js'

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

export const operations: readonly Operation<AttributionContext & JudgeContext>[] = [
  defineOperation({
    operationId: 'ReportSwapExecution',
    method: 'POST',
    path: '/v2/swap/executions',
    tag: 'Swap',
    summary: 'Report a transaction of a swap',
    description:
      'Asks the chain what became of a transaction: confirmed where it succeeded, is deep enough and carries the action, failed where it is deep enough and does not, else pending. Exactly one id.',
    access: 'publishable',
    cost: 1,
    tellsRetryable: true,
    body: ReportBody,
    bodyName: 'ReportSwapExecutionInput',
    responses: {
      200: ReportSchema,
      400: 'Not exactly one id, a chain that is not supported, or another than the action’s',
      404: 'No such action or order, or one of another organization',
      503: 'The chain cannot be read',
    },
    run: reportSwapExecution,
  }),
]
