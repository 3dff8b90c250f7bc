import T from 'typebox'
import { defineOperation, type Operation } from '../../kernel/operation.js'
import { ChainId, TxHash, Uuid } from '../../kernel/wire.js'
import { ActivitySchema } from '../ledger/index.js'
import { getAction } from './getAction.js'
import { getAttribution } from './getAttribution.js'
import { getAttributionProof } from './getAttributionProof.js'
import {
  AttributionProofSchema,
  actionDetailSchema,
  attributionSchema,
  OptionalChainId,
  TrackingSchema,
} from './schema.js'
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
      'Records of the ledger and the watcher about a transaction; with a chain, its calldata is also inspected for ERC-8021 suffixes and the legacy tracker. Needs no key.',
    access: 'public',
    cost: 0,
    params: T.Object({ txHash: TxHash }),
    query: T.Object({ chainId: OptionalChainId }),
    responses: { 200: attributionSchema(ActivitySchema), 400: 'Malformed hash, or a chain that is not supported' },
    run: getAttribution,
  }),
  defineOperation({
    operationId: 'GetAttributionProof',
    method: 'GET',
    path: '/v2/attribution/{txHash}/proof',
    tag: 'Attribution',
    summary: 'Prove who brought a transaction',
    description:
      'The header of its block, and the transaction and its receipt with the nodes of their tries, so that its ledger entries are checked from the block hash alone (`verifyProof` of the sdk). ' +
      'Entries that the block does not decide by itself are left out: of earlier requests, of the legacy tracker, and of shares that were split.',
    access: 'publishable',
    cost: 10,
    params: T.Object({ txHash: TxHash }),
    query: T.Object({ chainId: ChainId }),
    responses: {
      200: AttributionProofSchema,
      400: 'Malformed hash, or a chain that is not supported',
      404: 'Unknown transaction, one without an entry that its block proves, or a block of an unknown form (`PROTOCOL_UNSUPPORTED`)',
      503: 'The block cannot be read, or is too large',
    },
    run: getAttributionProof,
  }),
  defineOperation({
    operationId: 'VerifyTracking',
    method: 'GET',
    path: '/v2/actions/verify',
    tag: 'Actions',
    summary: 'Verify the attribution of a transaction',
    description:
      'The attribution of a mined transaction, its content, whether a key of ours signed it for this very call, and the proof.',
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
  defineOperation({
    operationId: 'GetAction',
    method: 'GET',
    path: '/v2/actions/{actionId}',
    tag: 'Actions',
    summary: 'Follow an action',
    description:
      'The status of a plan, the transactions that carry it, and their ledger entries. Actions of other organizations are not found. ' +
      'A transaction is found by its vault event, by ReportSwapExecution, GetAttribution or VerifyTracking with its chain, and, on chains set to scan inputs, in every new block. ' +
      'Before an action is `expired` the service looks for it itself, once its time is over; where nobody can be asked it stays `built`. ' +
      'A transaction that reverts leaves no event: where inputs are not scanned and nobody told of it, its action may end as `expired`.',
    access: 'publishable',
    cost: 1,
    tellsRetryable: true,
    params: T.Object({ actionId: Uuid }),
    responses: {
      200: actionDetailSchema(ActivitySchema),
      400: 'Malformed id',
      404: 'No such action, or one of another organization',
    },
    run: getAction,
  }),
]
