import T, { type Static } from 'typebox'
import { AddressInput, digitsForm, OpenEnum, type TextForm, Uuid } from '../../kernel/wire.js'

const positiveForm: TextForm = {
  pattern: '^0*[1-9][0-9]*$',
  says: "must be a text of decimal digits, an integer above 0 in the token's smallest unit",
}

/** A raw amount above 0; below 2^256 is checked when it is parsed. */
const PositiveRaw = T.String({
  ...positiveForm,
  maxLength: 78,
  format: 'uint256',
  description: 'Smallest units, above 0',
})
const DistributorId = T.String({ minLength: 1, maxLength: 64, description: 'Builder code' })
const SlippageBps = T.Integer({ minimum: 1, maximum: 5000, default: 50 })
const Simulate = T.Boolean({ default: true, description: 'false: do not simulate, answer skipped' })
/** An address, or `native` for the chain's own token. */
const TokenInput = T.String({
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
  mode: T.Optional(OpenEnum(['direct', 'swap'], { default: 'direct' })),
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

type Input<B extends T.TObject> = Static<typeof opportunityParams> & Static<B>

export type DepositInput = Input<typeof DepositBody>
export type WithdrawInput = Input<typeof WithdrawBody>
export type RequestInput = Input<typeof RequestBody>
