import T from 'typebox'
import { defineOperation, type Operation } from '../../kernel/operation.js'
import { ChainId, TxHash } from '../../kernel/wire.js'
import { ActivitySchema } from '../ledger/index.js'
import { getAttribution } from './getAttribution.js'
import { attributionSchema, OptionalChainId, TrackingSchema } from './schema.js'
import type { AttributionContext, JudgeContext } from './transaction.js'
import { verifyTracking } from './verifyTracking.js'

export const attributionOperations: readonly Operation<AttributionContext & JudgeContext>[] = [
  defineOperation({
    operationId: 'GetAttribution',
    method: 'GET',
    path: '/v2/attribution/{txHash}',
    tag: 'Attribution',
    summary: 'Show who brought a transaction',
    description:
      'What the ledger and the watcher know about a transaction; with a chain, its calldata is inspected as well for ERC-8021 suffixes and the legacy tracker. Needs no key.',
    access: 'public',
    cost: 0,
    params: T.Object({ txHash: TxHash }),
    query: T.Object({ chainId: OptionalChainId }),
    responses: { 200: attributionSchema(ActivitySchema), 400: 'Malformed hash, or a chain that is not supported' },
    run: getAttribution,
  }),
  defineOperation({
    operationId: 'VerifyTracking',
    method: 'GET',
    path: '/v2/actions/verify',
    tag: 'Actions',
    summary: 'Verify the attribution of a transaction',
    description:
      'The tag a mined transaction carries, what it says, whether a key of ours signed it for this very call, and the proof.',
    access: 'publishable',
    cost: 3,
    tellsRetryable: true,
    query: T.Object({ chainId: ChainId, txHash: TxHash }),
    responses: {
      200: TrackingSchema,
      400: 'Malformed hash, or a chain that is not supported',
      404: 'Unknown transaction, or one that carries no attribution',
      503: 'The chain cannot be read',
    },
    run: verifyTracking,
  }),
]
