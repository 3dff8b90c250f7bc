import type { BuiltSwapOrder } from '../client/generated/types.js'
import { compareOrder } from '../flows/compareOrder.js'
import { type OrderFlow, toAsked } from '../flows/orderState.js'
import {
  type AgreementAsked,
  askAgreement,
  askBatch,
  askClaim,
  askOrder,
  askOrderApproval,
  askOrderCancellation,
  askTransaction,
  type OrderAsked,
  type Place,
  Refused,
} from './ask.js'
import { type ClaimAsked, checkClaim } from './checkClaim.js'
import { type Asked, checkPlan, type Plan } from './checkPlan.js'
import { ask, type Handed } from './provider.js'
import type { Confirm } from './reads.js'
import { nowOf, type World } from './world.js'

/** The limits that a page with a wallet sets to another page, beyond what the check of each request holds. */
export type Limits = {
  /** The builder code of this page: each plan and order names it. */
  distributorId: string
  /** The address of this page: the only one that a membership is asked for. */
  url: string
  /** Ids of the only vaults; all of the file of trust unless given. */
  vaults?: readonly string[] | undefined
  /** The most slippage, in hundredths of a percent. */
  slippageBpsMax: number
  /**
   * Shows the sentences to the user, before the wallet does. A least amount that no own quote supports (`confirm`) is refused
   * without it.
   */
  review?: ((told: { kind: string; sentences: string[]; confirm: Confirm | undefined }) => Promise<boolean>) | undefined
  /** Places (nonces) of requests that this page handed to the wallet; kept here for as long as it lives. */
  places: Set<string>
}

type Given = {
  asked: unknown
  plan: Plan
  built: BuiltSwapOrder
  answer: { message: string; nonce: string }
  position: number
  batchId: string
  place: Place | undefined
}

/**
 * Asks the wallet for what another page wants, if it is what that page says it is, and within the limits. `world.earn.trust` has
 * to be there: nothing is compared with a word of the service.
 * @returns the hash, the id of the batch, or the signature.
 * @throws Refused, NotReady or NotTrusted where the wallet was asked for nothing, or the error of the wallet.
 */
export async function askFor(world: World, limits: Limits, handed: Handed): Promise<string> {
  if (!world.earn.trust) throw new Refused(['this page brought no file of trust'])
  const { kind, given } = JSON.parse(JSON.stringify(handed)) as { kind: Handed['kind']; given: Given }
  if (typeof given?.asked !== 'object' || given.asked === null) throw new Refused(['nothing was asked for'])
  switch (kind) {
    case 'transaction':
    case 'batch':
      return forPlan(world, limits, kind, given)
    case 'claim':
      return forClaim(world, limits, given)
    case 'order':
    case 'orderApproval':
    case 'orderCancellation':
      return forOrder(world, limits, kind, given)
    case 'agreement':
      return forAgreement(world, limits, given)
    default:
      throw new Refused([`${String(kind).slice(0, 40)} is nothing that is asked for another page`])
  }
}

async function assertReviewed(
  { review }: Limits,
  told: { kind: string; sentences: string[]; confirm: Confirm | undefined },
): Promise<void> {
  if (told.confirm && !review)
    throw new Refused(['no quote of its own supports the least amount, and this page shows nobody the sentences'])
  if (review && !(await review(told))) throw Object.assign(new Error('the user said no'), { code: 4001 })
}

/**
 * A claim or cancellation that names no distributor would be compared with no code: a service could put that of somebody else
 * on it, and be credited for what was requested without one.
 */
function assertOurs({ distributorId, vaults }: Limits, asked: { distributorId?: unknown; opportunityId?: unknown }) {
  const { distributorId: named, opportunityId } = asked
  if (named !== distributorId) throw new Refused(['it does not name the distributor of this page'])
  if (vaults && opportunityId !== undefined && !vaults.some((each) => each === opportunityId))
    throw new Refused(['it is about a vault that this page does not offer'])
}

/**
 * The next place of the account, or that of a request which was handed on before. Another one would put the transaction in the
 * place of one that the user sent elsewhere, or behind a gap.
 */
async function assertPlace({ provider }: World, { places }: Limits, from: string, place: Place | undefined) {
  if (place === undefined) return
  const key = `${from.toLowerCase()} ${Number(place?.nonce)}`
  const next = Number(await ask(provider, 'eth_getTransactionCount', [from, 'pending']))
  if (Number(place?.nonce) !== next && !places.has(key))
    throw new Refused(['the place of the transaction is not the next one of its account'])
  places.add(key)
}

async function forPlan(world: World, limits: Limits, kind: 'transaction' | 'batch', given: Given): Promise<string> {
  const { plan, batchId, place } = given
  const asked = given.asked as Asked
  const position = kind === 'batch' ? 0 : given.position
  assertOurs(limits, asked as { distributorId?: unknown; opportunityId?: unknown })
  if (!Array.isArray(plan?.transactions) || !Number.isInteger(position) || !plan.transactions[position])
    throw new Refused(['there is no such transaction'])
  if (asked.type === 'deposit' && limits.vaults && asked.opportunityId === undefined)
    throw new Refused(['the vault is not named'])
  if ((asked.slippageBps ?? 0) > limits.slippageBpsMax)
    throw new Refused(['the slippage is more than this page allows'])
  const from = asked.type === 'swap' ? asked.user : asked.userAddress
  const { ok, problems, sentences, confirm } = await checkPlan(world, asked, plan, position)
  if (!ok) throw new Refused(problems)
  await assertReviewed(limits, { kind: asked.type, sentences, confirm })
  if (kind === 'batch') return askBatch(world, { asked, plan, batchId, confirmed: confirm })
  await assertPlace(world, limits, from, place)
  return askTransaction(world, { asked, plan, position, place, confirmed: confirm })
}

async function forClaim(world: World, limits: Limits, { asked, place }: Given): Promise<string> {
  const claim = asked as ClaimAsked
  const { ok, problems, sentences } = await checkClaim(world, claim)
  if (!ok) throw new Refused(problems)
  await assertReviewed(limits, { kind: 'claim', sentences, confirm: undefined })
  await assertPlace(world, limits, claim.userAddress, place)
  return askClaim(world, { asked: claim, place })
}

const daySeconds = 86_400

type OrderKind = 'order' | 'orderApproval' | 'orderCancellation'

/** The least amount of an order is that of a quote of this page; that of the other page counts for nothing. */
async function forOrder(world: World, limits: Limits, kind: OrderKind, given: Given): Promise<string> {
  const { built, position, place } = given
  const wanted = given.asked as OrderAsked
  assertOurs(limits, wanted)
  const { userAddress, chainId, tokenIn, tokenOut, amountIn, distributorId, opportunityId, partiallyFillable } = wanted
  if (typeof amountIn !== 'string' || !/^[0-9]{1,78}$/.test(amountIn)) throw new Refused(['the order has no amount'])
  const params = {
    ...{ userAddress, chainId, tokenIn, tokenOut, amountIn, distributorId, slippageBps: limits.slippageBpsMax },
    ...(opportunityId === undefined ? {} : { opportunityId }),
    ...(partiallyFillable === undefined ? {} : { partiallyFillable }),
    validForSeconds: daySeconds,
  }
  const flow = {
    ...{ version: 1, id: '', kind: 'order', status: 'building', chainId, wallet: userAddress, key: '', position: 0 },
    ...{ params, built, builtAt: nowOf(world) },
  } as unknown as OrderFlow
  if (kind === 'orderCancellation') {
    const asked = toAsked({ ...flow, least: '1' })
    await assertPlace(world, limits, userAddress, place)
    return askOrderCancellation(world, { asked, built, place })
  }
  const made = await compareOrder(flow, world, true)
  if (made.status !== 'ready') throw new Refused([made.problem?.text ?? 'the order is not what was asked for'])
  const confirm = made.needs === 'confirm' ? 'below-quote' : undefined
  await assertReviewed(limits, { kind, sentences: [...(made.sentences ?? [])], confirm })
  const asked = toAsked(made)
  if (kind === 'order') return askOrder(world, { asked, built })
  await assertPlace(world, limits, userAddress, place)
  return askOrderApproval(world, { asked, built, position, place })
}

async function forAgreement(world: World, limits: Limits, { asked, answer }: Given): Promise<string> {
  const { address, chainId } = asked as AgreementAsked
  const own: AgreementAsked = { address, chainId, url: limits.url }
  const known = world.earn.trust?.chains.some((chain) => chain.chainId === chainId)
  if (chainId !== 1 && !known)
    throw new Refused([`the chain ${String(chainId).slice(0, 20)} is not in the file of trust`])
  const sentences = [`Link the wallet ${address} to your account at ${limits.url}.`]
  await assertReviewed(limits, { kind: 'agreement', sentences, confirm: undefined })
  return askAgreement(world, { asked: own, answer })
}
