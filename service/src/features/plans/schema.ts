import T, { type Static } from 'typebox'
import { Address, ChainId, Hex, Nullable, Raw, SignedRaw, Ts, Uuid } from '../../kernel/wire.js'
import { TokenSchema } from '../catalogue/index.js'

const Gas = { ...Raw, description: 'Units of gas' }
const TokenDetails = T.Object({ address: T.String(), decimals: T.Integer(), logoUrl: T.String(), symbol: T.String() })

export const preparedTypes = ['approve', 'swap', 'deposit', 'withdraw', 'claimDeposit', 'cancelDeposit'] as const

export const PreparedSchema = T.Object(
  {
    type: T.Enum([...preparedTypes]),
    description: T.String({ description: 'Amount, token, spender and receiver in words' }),
    transaction: T.Object({ to: Address, data: Hex, value: Raw, gasLimit: Gas, chainId: ChainId }),
    metadata: T.Optional(
      T.Object({
        provider: T.String(),
        providerImg: T.String(),
        amountOut: Raw,
        gas: Gas,
        route: T.Array(T.Object({ action: T.String(), from: TokenDetails, to: TokenDetails })),
      }),
    ),
  },
  { title: 'PreparedTransaction' },
)

export const SimulationSchema = T.Object(
  {
    status: T.Enum(['ok', 'skipped', 'unavailable']),
    blockNumber: Nullable(T.Integer()),
    blockHash: Nullable(Hex),
    assetChanges: T.Array(T.Object({ token: TokenSchema, amount: SignedRaw })),
  },
  { title: 'Simulation' },
)

export const BatchSchema = T.Object(
  {
    version: T.String(),
    chainId: T.String({ description: 'Hex quantity' }),
    from: Address,
    atomicRequired: T.Boolean(),
    calls: T.Array(T.Object({ to: Address, data: Hex, value: T.String({ description: 'Hex quantity' }) })),
  },
  { title: 'Batch' },
)

export const InteractionSchema = T.Object(
  {
    actionId: Uuid,
    transactions: T.Array(PreparedSchema, { description: 'In the order to sign and send' }),
    simulation: SimulationSchema,
    batch: BatchSchema,
    validUntil: Ts,
  },
  { title: 'Interaction' },
)

export type Prepared = Static<typeof PreparedSchema>
export type PreparedType = Prepared['type']
export type Interaction = Static<typeof InteractionSchema>
