import T from 'typebox'
import { defineOperation, type Operation } from '../../kernel/operation.js'
import { AddressInput, Nullable, Raw, Ts, TxHash, Uuid } from '../../kernel/wire.js'
import type { ChainContext } from '../../rpc/chains.js'
import { getWalletRequests } from './getWalletRequests.js'

const malformed = 'A parameter is malformed'

const WalletRequestsSchema = T.Object({
  requests: T.Array(
    T.Object({
      opportunityId: Uuid,
      kind: T.Enum(['deposit', 'redeem']),
      requestId: T.String(),
      state: T.Enum(['pending', 'claimable', 'claimed', 'cancelling', 'cancelled']),
      assets: Nullable(
        T.String({
          ...Raw,
          description: 'Requested by a deposit, or paid by a redemption: null until all is claimed',
        }),
      ),
      shares: Nullable(
        T.String({
          ...Raw,
          description: 'Requested by a redemption, or received by a deposit: null until all is claimed',
        }),
      ),
      claimable: Raw,
      distributorId: Nullable(T.String()),
      requestedAt: Ts,
      txHash: TxHash,
    }),
  ),
})

/** The operations of positions. */
export const positionsOperations: readonly Operation<ChainContext>[] = [
  defineOperation({
    operationId: 'GetWalletRequests',
    method: 'GET',
    path: '/v2/wallets/{address}/requests',
    access: 'publishable',
    cost: 2,
    tag: 'Wallets',
    summary: "List a wallet's requests",
    description:
      'Asynchronous deposits and redemptions of a wallet, oldest first, and the amounts that can be claimed.',
    params: T.Object({ address: AddressInput }),
    responses: { 200: WalletRequestsSchema, 400: malformed, 503: 'A chain with an open request cannot be read' },
    run: getWalletRequests,
  }),
]
