import T, { type Static } from 'typebox'
import { AddressInput, digitsForm, OpenEnum, Uuid } from '../../kernel/wire.js'
import { DistributorId, positiveRaw, slippageBounds, tokenInput, validSecondsDefault } from '../plans/index.js'

const SlippageBps = T.Integer({ ...slippageBounds, default: 50 })
const Simulate = T.Boolean({ default: true, description: 'false: do not simulate; the status is skipped' })

export const opportunityParams = T.Object({ opportunityId: Uuid })

export const DepositBody = T.Object({
  userAddress: AddressInput,
  tokenIn: tokenInput(),
  amount: positiveRaw('Smallest units, above 0'),
  distributorId: DistributorId,
  mode: T.Optional(
    OpenEnum(['direct', 'swap'], {
      default: 'direct',
      description: 'swap: any token, swapped first; a token that the vault takes itself is deposited as it is',
    }),
  ),
  slippageBps: T.Optional(SlippageBps),
  referralCode: T.Optional(
    T.String({
      pattern: '^[A-Za-z0-9_-]{0,64}$',
      says: 'must be at most 64 letters, digits, _ or -',
      description: 'Empty: none',
    }),
  ),
  simulate: T.Optional(Simulate),
  deadlineSeconds: T.Optional(
    T.Integer({
      minimum: 60,
      maximum: 86_400,
      default: validSecondsDefault,
      description: 'Seconds for which the plan may be signed: from now to its validUntil and to the deadline of a swap',
    }),
  ),
  protect: T.Optional(
    T.Boolean({
      default: false,
      description: 'Through the deposit router: reverts below the quoted shares less slippageBps. ERC-4626 vaults only',
    }),
  ),
})

export const WithdrawBody = T.Object({
  userAddress: AddressInput,
  amount: positiveRaw('Receipt-token units, above 0'),
  distributorId: DistributorId,
  tokenOut: T.Optional(tokenInput()),
  slippageBps: T.Optional(SlippageBps),
  simulate: T.Optional(Simulate),
})

/** A claim or cancellation of a pending deposit: it needs the wallet only. */
export const RequestBody = T.Object({
  userAddress: AddressInput,
  distributorId: T.Optional(DistributorId),
  requestId: T.Optional(T.String({ ...digitsForm, description: 'One request; absent: all of them' })),
  simulate: T.Optional(Simulate),
})

type Input<B extends T.TObject> = Static<typeof opportunityParams> & Static<B>

export type DepositInput = Input<typeof DepositBody>
export type WithdrawInput = Input<typeof WithdrawBody>
export type RequestInput = Input<typeof RequestBody>
