import { type Address, type Hex, maxUint256, size } from 'viem'
import { fromUnixSeconds } from '../../kernel/clock.js'
import {
  conflict,
  type EarnError,
  internal,
  invalidArgument,
  permissionDenied,
  unavailable,
} from '../../kernel/errors.js'
import { type Caller, written } from '../../kernel/operation.js'
import type { Written } from '../../postgres/context.js'
import type { Chain } from '../../rpc/chains.js'
import { signatureGas } from '../../rpc/gasCaps.js'
import { combine, multicall } from '../../rpc/multicall.js'
import { formatAddress } from '../../wallets/format.js'
import { judgeDigest, type SignatureContext } from '../../wallets/signatures.js'
import type { CatalogueContext } from '../catalogue/index.js'
import { insufficientBalance, refuse } from '../plans/index.js'
import { readFunds } from '../swap/index.js'
import type { Order, OrderSubmission, OrderVenue } from './orderState.js'
import type { SwapOrder } from './schema.js'
import { parseOrderUid } from './sellOrder.js'
import { findSettlement, readFilled } from './settlement.js'
import { isSameSignature, normaliseSignature } from './signature.js'
import { submitOrder } from './storeOrders.js'
import { getOwnOrder, showOrder } from './swapOrder.js'

type SubmitInput = { orderId: string; signature: string }

/** Takes the signature of an order that was built: from here on it may be filled. Refuses an order that the chain would refuse. */
export async function submitSwapOrder(
  ctx: SignatureContext & CatalogueContext,
  { orderId, signature }: SubmitInput,
  caller: Caller,
): Promise<SwapOrder | Written<SwapOrder>> {
  const order = await getOwnOrder(ctx.db, orderId, caller)
  if (caller.distributorId !== null && caller.distributorId !== order.distributorId)
    throw permissionDenied('this API key acts for another distributor')
  const kept = order.submission?.signature
  if (kept !== undefined) {
    if (!isSameSignature(signature, kept)) throw takenAlready()
    return showOrder(ctx.db, order)
  }
  const { chain, venue } = getVenue(ctx, order)
  assertInTime(order, ctx.clock.now())
  const submission: OrderSubmission = {
    ...(await getSigned(ctx, { chain, order, signature, organizationId: caller.organizationId })),
    venue,
    submittedAt: ctx.clock.now(),
  }
  await assertFillable(chain, order)
  return written(await showOrder(ctx.db, { ...order, submission }), async (tx) => {
    if ((await submitOrder(tx, order.id, submission)) === 'other') throw takenAlready()
  })
}

function takenAlready(): EarnError {
  return conflict('the order was submitted with another signature; GetSwapOrderStatus shows what became of it')
}

/** Who settles orders of the chain now; an order of another settlement contract is nobody's any more. */
function getVenue(
  ctx: SignatureContext & CatalogueContext,
  { chainId, settlement }: Order,
): { chain: Chain; venue: OrderVenue } {
  const chain = ctx.chains.get(chainId)
  if (!chain) throw unavailable('this installation has no access to the chain of this order')
  const settings = ctx.catalogue.current().chains.get(chainId)
  const present = settings?.active ? findSettlement(settings) : undefined
  if (!present || present.address !== settlement)
    throw invalidArgument(
      'orders for this settlement contract are no longer settled; build another with BuildSwapOrder',
    )
  return { chain, venue: present.venue }
}

function assertInTime({ expiresAt }: Order, now: Date): void {
  if (now > expiresAt) throw refuse('QUOTE_EXPIRED', 'the order has expired; build another with BuildSwapOrder')
}

/** The signature as the settlement contract takes it; refused in a sentence where it is not the owner's. */
async function getSigned(
  ctx: SignatureContext,
  of: { chain: Chain; order: Order; signature: string; organizationId: string },
): Promise<Pick<OrderSubmission, 'signature' | 'scheme'>> {
  const { chain, order, signature, organizationId } = of
  const digest = parseOrderUid(order.uid)?.digest
  if (!digest) throw internal('an order has no digest')
  const claim = { address: order.owner, hash: digest, signature, organizationId }
  const verdict = await judgeDigest(ctx, chain, claim)
  if (verdict === 'key') return { signature: normaliseSignature(signature, 'key'), scheme: 'eip712' }
  if (verdict === 'contract') return { signature: normaliseSignature(signature, 'contract'), scheme: 'eip1271' }
  throw invalidArgument(explain(verdict, order, signature as Hex))
}

function explain(verdict: 'mirrored' | 'not-signed' | 'contract-failed', order: Order, signature: Hex): string {
  if (verdict === 'mirrored')
    return 'the signature has the larger of its two values of s, which is not taken; sign the typedData again with a wallet that makes the lower one'
  if (verdict === 'contract-failed')
    return `the contract of the wallet did not confirm the signature: it reverted, or needs more than ${signatureGas.toLocaleString('en')} gas to judge one`
  const length = size(signature)
  if (length === 64)
    return 'the compact form of signatures (64 bytes) is not taken: send r, s and v, which are 65 bytes'
  const { chainId, owner, settlement } = order
  return `the signature is not one of ${formatAddress(owner)} over this order, for the settlement contract ${formatAddress(settlement)} on chain ${chainId}; sign the typedData of BuildSwapOrder as it stands, with that wallet`
}

/** Refuses an order that the settlement contract would refuse, or could not fill, now. */
async function assertFillable(chain: Chain, order: Order): Promise<void> {
  const relayer = order.relayer as Address
  const { answer, timestamp } = await multicall(
    chain,
    combine({
      funds: readFunds(order.owner as Address, order.tokenIn, [relayer]),
      filled: readFilled(order.settlement as Address, order.uid as Hex),
    }),
  )
  assertInTime(order, fromUnixSeconds(timestamp))
  if (answer.filled === maxUint256)
    throw invalidArgument('the order was cancelled on the chain; build another with BuildSwapOrder')
  if (answer.filled >= order.amountIn)
    throw invalidArgument('the whole order is filled already; GetSwapOrderStatus shows by which transactions')
  const rest = order.amountIn - answer.filled
  const { balance } = answer.funds
  if (balance < rest) throw insufficientBalance(balance, rest)
  const allowance = answer.funds.allowanceOf(relayer)
  if (allowance >= rest) return
  const [token, spender] = [formatAddress(order.tokenIn), formatAddress(relayer)]
  throw refuse(
    'INSUFFICIENT_ALLOWANCE',
    `${spender} may take ${allowance} of ${token} and needs ${rest}: send the approvals of BuildSwapOrder, or approve(${spender}, ${rest}) at ${token}, and submit again`,
    { token, spender, allowance: String(allowance), amount: String(rest) },
  )
}
