import T, { type Static } from 'typebox'
import { Address, AddressInput, ChainId, Hex, Nullable, Raw, Ts, TxHash, Uuid } from '../../kernel/wire.js'
import { DistributorId, PreparedSchema, positiveRaw, slippageBounds, tokenInput } from '../plans/index.js'
import { attemptOutcomes } from './storeAttempts.js'

export const orderStatuses = ['built', 'open', 'partially-filled', 'filled', 'cancelled', 'expired', 'failed'] as const

/** Seconds for which an order may be filled. */
export const validity = { minimum: 60, maximum: 86_400, default: 1_800 }

export const BuildBody = T.Object({
  userAddress: AddressInput,
  chainId: ChainId,
  tokenIn: tokenInput(),
  tokenOut: tokenInput(),
  amountIn: positiveRaw('Smallest units, above 0'),
  slippageBps: T.Integer({ ...slippageBounds, description: 'Hundredths of a percent' }),
  distributorId: DistributorId,
  receiver: T.Optional(T.String({ ...AddressInput, description: 'The same as userAddress, which gets all of it' })),
  validForSeconds: T.Optional(T.Integer({ ...validity, description: 'Until then it may be filled' })),
  partiallyFillable: T.Optional(T.Boolean({ default: false, description: 'It may be filled in parts' })),
  opportunityId: T.Optional(
    T.String({ ...Uuid, description: 'The opportunity tokenOut is for; it must accept that token' }),
  ),
})

export type BuildInput = Static<typeof BuildBody>

const OrderUid = T.String({ pattern: '^0x[0-9a-f]{112}$', description: 'Digest, owner and expiry: 56 bytes' })

const Cancellation = T.Object(
  { to: Address, data: Hex, value: T.String({ description: 'Always 0' }), chainId: ChainId },
  {
    title: 'OrderCancellation',
    description: 'The wallet sends it to end the order, even when others hold the signature',
  },
)

const Field = T.Array(
  T.Object({ name: T.String({ examples: ['sellAmount'] }), type: T.String({ examples: ['uint256'] }) }),
)

const TypedDataSchema = T.Object(
  {
    domain: T.Object({
      name: T.String({ examples: ['Gnosis Protocol'] }),
      version: T.String({ examples: ['v2'] }),
      chainId: ChainId,
      verifyingContract: Address,
    }),
    types: T.Object({ EIP712Domain: Field, Order: Field }),
    primaryType: T.String({ examples: ['Order'] }),
    message: T.Object({
      sellToken: Address,
      buyToken: Address,
      receiver: Address,
      sellAmount: Raw,
      buyAmount: Raw,
      validTo: T.Integer(),
      appData: T.String({ pattern: '^0x[0-9a-f]{64}$' }),
      feeAmount: T.String({ ...Raw, examples: ['0'] }),
      kind: T.String({ examples: ['sell'] }),
      partiallyFillable: T.Boolean(),
      sellTokenBalance: T.String({ examples: ['erc20'] }),
      buyTokenBalance: T.String({ examples: ['erc20'] }),
    }),
  },
  { title: 'OrderTypedData', description: 'The typed data to sign, in the form of eth_signTypedData_v4' },
)

export const BuiltOrderSchema = T.Object(
  {
    orderId: Uuid,
    typedData: TypedDataSchema,
    approvals: T.Array(PreparedSchema, { description: 'To send before the order is submitted' }),
    quote: T.Object({ amountOut: Raw, minAmountOut: Raw, provider: T.String(), expiresAt: Ts }),
    expiresAt: Ts,
    orderUid: OrderUid,
    settlement: Address,
    cancellation: Cancellation,
  },
  { title: 'BuiltSwapOrder' },
)

export type BuiltOrder = Static<typeof BuiltOrderSchema>

export const SubmitBody = T.Object({
  orderId: Uuid,
  signature: T.String({
    pattern: '^0[xX]([0-9a-fA-F]{2}){0,16384}$',
    says: 'must be bytes in hex: 0x and two digits a byte',
    description: 'Of the typed data: r, s and v (65 bytes) of a key; of any length for a contract wallet (ERC-1271)',
  }),
})

const AttemptSchema = T.Object(
  {
    at: Ts,
    outcome: T.Enum([...attemptOutcomes]),
    detail: T.String({ description: 'In a sentence' }),
  },
  { title: 'OrderAttempt' },
)

export const SwapOrderSchema = T.Object(
  {
    orderId: Uuid,
    status: T.Enum([...orderStatuses]),
    userAddress: Address,
    chainId: ChainId,
    tokenIn: Address,
    tokenOut: Address,
    amountIn: Raw,
    minAmountOut: Raw,
    filledIn: Raw,
    filledOut: Raw,
    txHashes: T.Array(TxHash),
    distributorId: T.String(),
    error: Nullable(T.String()),
    createdAt: Ts,
    updatedAt: Ts,
    expiresAt: Ts,
    orderUid: OrderUid,
    settlement: Address,
    cancellation: Cancellation,
    attempts: T.Array(AttemptSchema, {
      description:
        'Outcomes of our solver, newest first, at most 20: one each time the outcome changed, at the chain’s time',
    }),
  },
  { title: 'SwapOrder' },
)

export type SwapOrder = Static<typeof SwapOrderSchema>
