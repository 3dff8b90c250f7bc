import { EarnError, mayRetry } from '../client/error.js'
import { getOpportunity } from '../client/generated/operations.js'
import { askBatch, askTransaction, NeedsConfirm, NotReady, Refused, reachChain } from '../wallet/ask.js'
import { checkPlan } from '../wallet/checkPlan.js'
import { readFailure, sentNothing } from '../wallet/provider.js'
import type { Confirm } from '../wallet/reads.js'
import { NotTrusted, nowOf, type World } from '../wallet/world.js'
import { canBatch, readBatch, readReceipt, takePlace } from './chain.js'
import { readConfirm, tellConfirm } from './confirming.js'
import { followMined } from './credit.js'
import { findOther, lookAfterBatch, lookElsewhere } from './lookElsewhere.js'
import { lookOnChain, reach, tellNotReady } from './onChain.js'
import { requestPlan, toAsked } from './planKinds.js'
import {
  change,
  isHex,
  isOwn,
  make,
  newId,
  type PlanFlow,
  type PlanStatus,
  type Problem,
  refusal,
  type Word,
} from './state.js'

/** A plan is built again when so much of its life is left that it could not be signed in peace. */
const marginMs = 60_000

/** Asking states whose wallet has not been asked yet: each is good for one request. A stored one is never among them. */
const unasked = new WeakSet<object>()

/** Plans whose least amount the user confirmed in this program, with what was known of it then. */
const agreed = new WeakMap<object, Confirm>()

/** The user said yes to what was told of the least amount, where something was. */
function agree(plan: object, problem: Problem | undefined): void {
  const confirm = readConfirm(problem)
  if (confirm) agreed.set(plan, confirm)
}

/** Brings a flow one step further. It returns the same state where nothing is to be done without a word of the user. */
export async function advancePlan(flow: PlanFlow, world: World, word: Word | undefined): Promise<PlanFlow> {
  try {
    return await steps[flow.status](flow, world, word)
  } catch (error) {
    if (error instanceof EarnError && !mayRetry(error) && flow.status === 'building')
      return refuse(flow, error.reason ?? error.status, error.message)
    if (error instanceof NotReady) return change(flow, { needs: flow.needs ?? 'go', problem: tellNotReady(error) })
    if (error instanceof NotTrusted) return refuse(flow, 'NOT_TRUSTED', error.message)
    // A node or a service that is not well: the same look again, later.
    const { message } = readFailure(error)
    return change(flow, { looks: (flow.looks ?? 0) + 1, problem: { code: 'UNREACHABLE', text: message } })
  }
}

const stay = async (flow: PlanFlow) => flow

const steps: Record<PlanStatus, (flow: PlanFlow, world: World, word: Word | undefined) => Promise<PlanFlow>> = {
  building: build,
  ready: prepare,
  asking: askWallet,
  unknown: (flow, world, word) => lookOnChain(flow, world, () => findOut(flow, world, word)),
  sent: (flow, world) => lookOnChain(flow, world, () => follow(flow, world)),
  mined: (flow, world) => lookOnChain(flow, world, () => followMined(flow, world)),
  ...{ credited: stay, requested: stay, done: stay, 'mined, not credited': stay },
  ...{ reverted: stay, replaced: stay, refused: stay },
}

const refuse = (flow: PlanFlow, code: string, text: string): PlanFlow =>
  change(flow, { status: 'refused', needs: undefined, problem: { code, text } })

/** Asks for the plan, and compares it with what was wanted. */
async function build(flow: PlanFlow, world: World, said: Word | undefined): Promise<PlanFlow> {
  const chainId = flow.chainId || (await findChain(flow, world))
  const found = chainId === flow.chainId ? flow : change(flow, { chainId })
  const waiting = await reach(found, world, said)
  if (waiting) return waiting
  const { actionId, transactions, batch, validUntil } = await requestPlan(world.earn, found)
  const plan = { actionId, transactions, batch, validUntil, builtAt: nowOf(world) }
  const { ok, problems, sentences, trusts, confirm } = await checkPlan(world, toAsked(found), plan, 0)
  const actionIds = [...flow.actionIds, actionId]
  if (!ok) return refuse({ ...found, actionIds, trusts }, 'NOT_AS_ASKED', problems.join('\n'))
  // The user of a stored flow has read none of these sentences, whatever it says was shown before.
  const before = isOwn(flow) ? flow.before : undefined
  const isOther = before !== undefined && JSON.stringify(before) !== JSON.stringify(sentences)
  const word = confirm || isOther ? 'confirm' : isOwn(flow) ? undefined : 'go'
  const needs = !isOwn(flow) && flow.needs === 'again' ? 'again' : word
  return make<PlanFlow>({
    ...found,
    ...{ status: 'ready', plan, actionIds, position: 0, sentences, trusts, needs, looks: 0 },
    ...{ problem: tellConfirm(confirm), before: isOther ? before : undefined },
  })
}

/** The chain of an opportunity: by the file of trust, or the service's word, whose plans are compared with its facts. */
async function findChain({ params }: PlanFlow, { earn }: World): Promise<number> {
  const id = String(params['opportunityId'])
  const listed = earn.trust?.chains.find(({ vaults }) => vaults.some(({ opportunityId }) => opportunityId === id))
  if (listed) return listed.chainId
  if (earn.trust) throw new NotTrusted(`the opportunity ${id} is not in the file of trust`)
  return (await getOpportunity(earn, { id })).chainId
}

/** Writes down the request to the wallet that comes next. */
async function prepare(flow: PlanFlow, world: World, word: Word | undefined): Promise<PlanFlow> {
  const { plan } = flow
  if (!plan) return refuse(flow, 'NO_PLAN', 'the flow has no plan')
  // The word was said about sentences that were stored.
  if (!isOwn(flow)) return recheck(flow, world, word)
  const { needs, sentences, problem } = flow
  if (needs && word !== needs && !(needs === 'go' && word === 'confirm')) return flow
  if (isStale(flow, world))
    return change(flow, { status: 'building', plan: undefined, key: newId(), before: sentences, needs: undefined })
  if (word && word !== 'go') agree(plan, problem)
  const { provider } = world
  const { wallet, chainId, position, earlier } = flow
  await reachChain(provider, chainId)
  const isWhole = position === 0 && plan.transactions.length > 1
  const batchId = isWhole && (await canBatch(provider, wallet, chainId)) ? `0x${newId()}` : undefined
  const place = batchId ? undefined : await takePlace(provider, wallet, earlier)
  return asking(flow, { position, at: nowOf(world), place, batchId })
}

function asking(flow: PlanFlow, asked: NonNullable<PlanFlow['asked']>): PlanFlow {
  const next = change(flow, {
    ...{ status: 'asking', asked, hash: undefined, batchId: undefined, takenAt: undefined },
    ...{ needs: undefined, problem: undefined, looks: 0 },
  })
  unasked.add(next)
  return next
}

/**
 * A stored flow is compared anew: its sentences are made again, and the wallet is asked only after a word about those. One
 * whose plan is old is built anew, and shown then.
 */
async function recheck(flow: PlanFlow, world: World, word: Word | undefined): Promise<PlanFlow> {
  const { plan, position, needs, problem } = flow
  if (!plan) return refuse(flow, 'NO_PLAN', 'the flow has no plan')
  // It is here again by now.
  const isElsewhere = problem?.code === 'WRONG_CHAIN'
  if (isStale(flow, world))
    return change(flow, { status: 'building', plan: undefined, key: newId(), before: undefined })
  const waiting = await reach(flow, world, word)
  if (waiting) return waiting
  const { ok, problems, sentences, trusts, confirm } = await checkPlan(world, toAsked(flow), plan, position)
  if (!ok) return refuse({ ...flow, trusts }, 'NOT_AS_ASKED', problems.join('\n'))
  return make<PlanFlow>({
    ...flow,
    ...{ sentences, trusts, before: undefined, problem: tellConfirm(confirm) ?? (isElsewhere ? undefined : problem) },
    needs: needs === 'again' ? needs : confirm ? 'confirm' : 'go',
  })
}

/** The sentences of a stored request that may have been made: a second word is about these. */
async function tellAgain(flow: PlanFlow, world: World): Promise<PlanFlow> {
  const { plan, position } = flow
  if (!plan) return refuse(flow, 'NO_PLAN', 'the flow has no plan')
  const { sentences, trusts } = await checkPlan(world, toAsked(flow), plan, position)
  return make<PlanFlow>({ ...flow, sentences, trusts })
}

/** Measured on one clock, which may be wrong by any time. */
function isStale({ plan, params }: PlanFlow, world: World): boolean {
  if (!plan) return true
  const age = nowOf(world) - plan.builtAt
  const seconds = Number(params['deadlineSeconds'] ?? 600)
  return !(age >= 0 && age < seconds * 1_000 - Math.min(marginMs, seconds * 500))
}

/** Asks the wallet, once for each time it was written down. */
async function askWallet(flow: PlanFlow, world: World): Promise<PlanFlow> {
  const { plan, asked } = flow
  // After a reload nobody knows whether the wallet was asked.
  if (!plan || !asked || !unasked.delete(flow)) return change(flow, { status: 'unknown', looks: 0 })
  const common = { asked: toAsked(flow), plan, confirmed: agreed.get(plan) }
  try {
    if (asked.batchId) {
      const batchId = await askBatch(world, { ...common, batchId: asked.batchId })
      return change(flow, { status: 'sent', batchId })
    }
    const hash = await askTransaction(world, { ...common, position: asked.position, place: asked.place })
    return isHex(hash, 32)
      ? change(flow, { status: 'sent', hash })
      : change(flow, { status: 'unknown', problem: { code: 'NO_HASH', text: 'the wallet gave no hash' } })
  } catch (error) {
    if (error instanceof Refused && !asked.isAgain) return refuse(flow, 'NOT_AS_ASKED', error.message)
    if (error instanceof Refused) return back(flow, { code: 'NOT_AS_ASKED', text: error.message })
    // The quote went away, or came, since the sentences were shown.
    if (error instanceof NeedsConfirm) return back(flow, tellConfirm(error.confirm), 'confirm')
    if (error instanceof NotReady) return back(flow, tellNotReady(error))
    const failure = readFailure(error)
    if (sentNothing(failure)) return back(flow, refusal(failure))
    return change(flow, { status: 'unknown', problem: { code: 'NO_ANSWER', text: failure.message } })
  }
}

/**
 * Nothing was sent: the user decides whether the wallet is asked again. A refusal of the second request says nothing about
 * the first, which is looked for as before.
 */
const back = (flow: PlanFlow, problem: Problem | undefined, needs: Word = 'go'): PlanFlow =>
  change(flow, {
    ...(flow.asked?.isAgain ? { status: 'unknown', needs: 'again' } : { status: 'ready', needs }),
    problem,
  })

/** The wallet was asked, and what it did is not known. Only the chain and the service can tell. */
async function findOut(flow: PlanFlow, world: World, word: Word | undefined): Promise<PlanFlow> {
  const found = await lookElsewhere(flow, world)
  if (found.status !== 'unknown') return found
  // The word is about sentences that were made here.
  if (!isOwn(flow)) return tellAgain(found, world)
  const { asked, plan, problem } = flow
  if (word !== 'again' || !asked || !plan) return found
  agree(plan, problem)
  return asking(found, { ...asked, isAgain: true })
}

/** Follows what was sent until it is mined. */
async function follow(flow: PlanFlow, world: World): Promise<PlanFlow> {
  const { hash, batchId, plan, position } = flow
  if (!plan) return refuse(flow, 'NO_PLAN', 'the flow has no plan')
  if (batchId !== undefined) return followBatch(flow, batchId, world)
  const receipt = hash === undefined ? undefined : await readReceipt(world.provider, hash)
  if (!receipt) return lookElsewhere(flow, world)
  if (!receipt.success) return revert(flow, world, receipt.hash, 'the transaction was mined and reverted')
  const isMain = position + 1 >= plan.transactions.length
  return isMain
    ? change(flow, { status: 'mined', txHash: receipt.hash, minedAt: nowOf(world), looks: 0, problem: undefined })
    : change(flow, { status: 'ready', position: position + 1, needs: undefined, looks: 0, problem: undefined })
}

async function followBatch(flow: PlanFlow, batchId: string, world: World): Promise<PlanFlow> {
  const found = await readBatch(world.provider, batchId)
  if (found.state === 'pending') return lookAfterBatch(flow, world)
  if (found.state === 'failed') return back(flow, { code: 'BATCH_FAILED', text: 'the wallet did not send the batch' })
  if (found.state === 'unknown' || (found.success && !isHex(found.hash, 32))) return lookElsewhere(flow, world)
  if (found.success)
    return change(flow, { status: 'mined', txHash: found.hash, minedAt: nowOf(world), looks: 0, problem: undefined })
  const text = 'the batch was mined and reverted'
  // A wallet that broke its word: what is left to do is planned anew, and asked for after a word of the user.
  const problem = { code: 'REVERTED', text }
  if (found.partly)
    return change(flow, { status: 'building', plan: undefined, key: newId(), before: flow.sentences ?? [], problem })
  return revert(flow, world, found.hash, text)
}

/** Ends a flow whose transaction was mined and reverted, unless another one of the intent was mined or waits. */
async function revert(flow: PlanFlow, world: World, hash: string | undefined, text: string): Promise<PlanFlow> {
  const other = await findOther(flow, world, hash ?? '')
  return other ?? change(flow, { status: 'reverted', txHash: hash, problem: { code: 'REVERTED', text } })
}
