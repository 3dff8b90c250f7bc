import { type Caller, defineOperation, type Operation } from '../../kernel/operation.js'
import { type ActionContext, getOwnDistributor, InteractionSchema } from '../plans/index.js'
import { getSwap } from './getSwap.js'
import { getSwapDetails } from './getSwapDetails.js'
import { getSwapTokens } from './getSwapTokens.js'
import { SwapDetailsQuery, SwapDetailsSchema, SwapQuery, SwapTokensQuery, SwapTokensSchema } from './schema.js'

const common = { method: 'GET', tag: 'Swap', access: 'publishable' } as const

export const operations: readonly Operation<ActionContext>[] = [
  defineOperation({
    ...common,
    operationId: 'GetSwap',
    isHeavy: true,
    path: '/v2/swap/',
    summary: 'Build a swap',
    description:
      'Returns the transactions of a swap in signing order: exact approvals where they are needed, then the swap by the best route once gas is paid for, with its minimum output and the attribution suffix. Checked and simulated before it is returned; nothing is sent.',
    cost: 10,
    tellsRetryable: true,
    query: SwapQuery,
    responses: {
      200: InteractionSchema,
      400: 'The request does not fit, or the chain, the tokens or the wallet do not allow it: see reason',
      403: 'The distributor belongs to another organization, or the key to another distributor',
      404: 'Unknown distributor',
      503: 'The chain cannot be read',
    },
    assertMayRepeat: (ctx: ActionContext, { distributorId }: { distributorId: string }, caller: Caller) => {
      getOwnDistributor(ctx.catalogue.current(), distributorId, caller)
    },
    run: getSwap,
  }),
  defineOperation({
    ...common,
    operationId: 'GetSwapDetails',
    path: '/v2/swap/details',
    summary: 'List chains with swaps',
    description: 'The chains that support swaps, and with a chainId the popular tokens there.',
    cost: 1,
    query: SwapDetailsQuery,
    responses: { 200: SwapDetailsSchema, 400: 'The request does not fit' },
    run: getSwapDetails,
  }),
  defineOperation({
    ...common,
    operationId: 'GetSwapTokens',
    path: '/v2/swap/tokens',
    summary: 'List tokens to swap',
    description:
      'Tokens of the chains that support swaps. A search for an unlisted address with a chainId reads the token from the chain.',
    cost: 1,
    query: SwapTokensQuery,
    responses: { 200: SwapTokensSchema, 400: 'The request does not fit', 503: 'The chain cannot be read' },
    run: getSwapTokens,
  }),
]
