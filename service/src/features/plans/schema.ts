import T, { type Static } from 'typebox'
import {
  Address,
  AddressInput,
  ChainId,
  digitsForm,
  Hex,
  Nullable,
  Raw,
  SignedRaw,
  type TextForm,
  Ts,
  Uuid,
} from '../../kernel/wire.js'
import { TokenSchema } from '../catalogue/index.js'

const positiveForm: TextForm = {
  pattern: '^0*[1-9][0-9]*$',
  says: "must be a text of decimal digits, an integer above 0 in the token's smallest unit",
}
/** A raw amount above 0; below 2^256 is checked when it is parsed. */
export const PositiveRaw = T.String({
  ...positiveForm,
  maxLength: 78,
  format: 'uint256',
  description: 'Smallest units, above 0',
})
export const DistributorId = T.String({ minLength: 1, maxLength: 64, description: 'Builder code' })
export const SlippageBps = T.Integer({ minimum: 1, maximum: 5000, default: 50 })
export const Simulate = T.Boolean({ default: true, description: 'false: do not simulate, answer skipped' })
/** An address, or `native` for the chain's own token. */
export const TokenInput = T.String({
  pattern: '^(0[xX][0-9a-fA-F]{40}|native)$',
  says: 'must be a token address (0x and 40 hex digits) or native',
  description: 'Token, or native',
})

export const opportunityParams = T.Object({ opportunityId: Uuid })

export const DepositBody = T.Object({
  userAddress: AddressInput,
  tokenIn: TokenInput,
  amount: PositiveRaw,
  distributorId: DistributorId,
  mode: T.Optional(T.Enum(['direct', 'swap'], { default: 'direct' })),
  slippageBps: T.Optional(SlippageBps),
  referralCode: T.Optional(
    T.String({
      pattern: '^[A-Za-z0-9_-]{0,64}$',
      says: 'must be at most 64 letters, digits, _ or -',
      description: 'Empty: none',
    }),
  ),
  simulate: T.Optional(Simulate),
})

export const WithdrawBody = T.Object({
  userAddress: AddressInput,
  amount: T.String({
    ...positiveForm,
    maxLength: 78,
    format: 'uint256',
    description: 'Receipt-token units, above 0',
  }),
  distributorId: DistributorId,
  tokenOut: T.Optional(TokenInput),
  slippageBps: T.Optional(SlippageBps),
  simulate: T.Optional(Simulate),
})

/** A claim or cancellation of a pending deposit: it needs the wallet only. */
export const RequestBody = T.Object({
  userAddress: AddressInput,
  distributorId: T.Optional(DistributorId),
  requestId: T.Optional(T.String({ ...digitsForm, description: 'One request; absent: whatever is there' })),
  simulate: T.Optional(Simulate),
})

const TokenDetails = T.Object({ address: T.String(), decimals: T.Integer(), logoUrl: T.String(), symbol: T.String() })

export const preparedTypes = ['approve', 'swap', 'deposit', 'withdraw', 'claimDeposit', 'cancelDeposit'] as const

export const PreparedSchema = T.Object(
  {
    type: T.Enum([...preparedTypes]),
    description: T.String({ description: 'Amount, token, spender and receiver in words' }),
    transaction: T.Object({ to: Address, data: Hex, value: Raw, gasLimit: Raw, chainId: ChainId }),
    metadata: T.Optional(
      T.Object({
        provider: T.String(),
        providerImg: T.String(),
        amountOut: Raw,
        gas: Raw,
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
