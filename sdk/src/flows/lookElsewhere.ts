import { getAction } from '../client/generated/operations.js'
import { ask, type Provider } from '../wallet/provider.js'
import { nowOf, type World } from '../wallet/world.js'
import { isAllowed, readBatch, readNonce, readReceipt } from './chain.js'
import { isDue, readMark } from './due.js'
import { change, isHex, type PlanFlow } from './state.js'

/** Another transaction in the place of ours is believed to be the last word after this time: the service reads blocks late. */
const takenMs = 120_000
/** A transaction that nobody has seen is waited for until this time after the end of the plan. */
const forgottenMs = 3_600_000

/**
 * Looks for a transaction whose hash is not known, or that its node does not know: by the id of its batch, by the suffix that it
 * carries, by the allowance that it gives, by the number of the account that it took. Where nobody knows, nothing is decided.
 */
export async function lookElsewhere(given: PlanFlow, world: World): Promise<PlanFlow> {
  const found = (await findByBatch(given, world)) ?? (await findPending(given, world))
  if (found) return found
  const flow = await watch(given, world)
  return (
    (await findByAction(flow, world)) ??
    (await findByAllowance(flow, world)) ??
    (await findByNonce(flow, world)) ??
    (await forget(flow, world)) ??
    keepLooking(flow)
  )
}

/** The flow with what the wallet has now. Where that moved, the looks begin anew: the transaction may be there. */
async function watch(flow: PlanFlow, { provider }: World): Promise<PlanFlow> {
  const { plan, params, wallet } = flow
  const targets = plan?.transactions.map(({ transaction }) => transaction.to) ?? []
  const token = params['tokenIn']
  const mark = await readMark(provider, wallet, typeof token === 'string' ? [...targets, token] : targets)
  return mark === flow.mark ? flow : change(flow, { mark, looks: 0 })
}

const keepLooking = (flow: PlanFlow): PlanFlow =>
  change(flow, { looks: (flow.looks ?? 0) + 1, needs: flow.status === 'unknown' ? 'again' : undefined })

/** Goes on with a transaction that was found. One that carries a batch carries the whole plan. */
function adopt(flow: PlanFlow, hash: string): PlanFlow {
  const { asked, plan } = flow
  const position = asked?.batchId !== undefined && plan ? plan.transactions.length - 1 : flow.position
  const found = { hash, position, batchId: undefined, needs: undefined, problem: undefined, looks: 0 }
  return change(flow, { ...found, status: 'sent' })
}

/** A batch that waits long may have been sped up or cancelled in the wallet, which need not say so. */
export async function lookAfterBatch(given: PlanFlow, world: World): Promise<PlanFlow> {
  const looks = (given.looks ?? 0) + 1
  const flow = change(given, { looks })
  const found = looks > 5 ? ((await findByAction(flow, world)) ?? (await forget(flow, world))) : undefined
  return found ?? flow
}

/** A wallet knows a batch by the id that came with the request, also where its answer was lost. */
async function findByBatch(flow: PlanFlow, { provider }: World): Promise<PlanFlow | undefined> {
  const id = flow.asked?.batchId
  if (flow.status !== 'unknown' || id === undefined) return undefined
  const { state } = await readBatch(provider, id)
  return state === 'unknown' ? undefined : change(flow, { status: 'sent', batchId: id, needs: undefined, looks: 0 })
}

/** A node that knows the transaction is waited for. */
async function findPending(flow: PlanFlow, { provider }: World): Promise<PlanFlow | undefined> {
  if (flow.hash === undefined || flow.status !== 'sent') return undefined
  const known = (await ask(provider, 'eth_getTransactionByHash', [flow.hash])) as Sent | null
  if (!known) return undefined
  const { asked } = flow
  // A wallet may have chosen another number, and a batch has one as well.
  const isPlain = known.from?.toLowerCase() === flow.wallet.toLowerCase() && typeof known.nonce === 'string'
  const place = isPlain ? { ...asked?.place, nonce: String(known.nonce) } : asked?.place
  return change(flow, { asked: asked && { ...asked, place }, looks: (flow.looks ?? 0) + 1 })
}

/** The action's suffix tells the transaction from all others, by any sender and under any hash. Asked more and more seldom. */
const findByAction = async (flow: PlanFlow, world: World) =>
  isDue(flow.looks ?? 0) ? askByAction(flow, world) : undefined

async function askByAction(flow: PlanFlow, { earn, provider }: World): Promise<PlanFlow | undefined> {
  const planned = flow.plan?.transactions[flow.position]?.transaction
  for (const actionId of [...flow.actionIds].reverse()) {
    const { transactions } = await getAction(earn, { actionId })
    for (const { txHash } of transactions) {
      if (txHash === flow.hash || !isHex(txHash, 32)) continue
      const known = (await ask(provider, 'eth_getTransactionByHash', [txHash])) as Sent | null
      // Two transactions of a plan that swaps carry the action; one inside a wallet's own call cannot be told by its data.
      const isDirect = known?.to?.toLowerCase() === planned?.to.toLowerCase()
      if (!isDirect || known?.input?.toLowerCase() === planned?.data.toLowerCase()) return adopt(flow, txHash)
      const isEarlier = flow.plan?.transactions.some(
        ({ transaction }) => transaction.data.toLowerCase() === known?.input?.toLowerCase(),
      )
      if (!isEarlier) return adopt(flow, txHash)
    }
  }
  return undefined
}

/**
 * The transaction that the intent came to, where one of it was mined and reverted: a wallet that was asked again may have sent
 * two, and the other is mined or waits. Undefined: there is no other.
 */
export async function findOther(
  flow: PlanFlow,
  { earn, provider }: World,
  reverted: string,
): Promise<PlanFlow | undefined> {
  const { plan, actionIds } = flow
  if (!plan) return undefined
  const last = plan.transactions.length - 1
  // An approval carries no suffix, so it is none of those that an action names; of two others the first is a swap.
  const swaps = plan.transactions.filter(({ type }) => type !== 'approve').length > 1
  const data = plan.transactions.map(({ transaction }) => transaction.data)
  for (const actionId of [...actionIds].reverse()) {
    const { interactions, transactions } = await getAction(earn, { actionId })
    // The data of an earlier plan is not kept: whether one of its transactions swapped cannot be seen.
    if (swaps && actionId !== plan.actionId && interactions.length === 0) continue
    for (const { txHash, state } of transactions) {
      if (state === 'reverted' || txHash.toLowerCase() === reverted.toLowerCase() || !isHex(txHash, 32)) continue
      const input = ((await ask(provider, 'eth_getTransactionByHash', [txHash])) as Sent | null)?.input?.toLowerCase()
      const has = (data: string) => input?.includes(data.slice(2).toLowerCase()) === true
      if (swaps && data.slice(0, last).some(has) && !data.slice(last).some(has)) continue
      return change(adopt(flow, txHash), { position: last })
    }
  }
  return undefined
}

type Sent = { from?: string; to?: string; input?: string; nonce?: unknown }

/** An approval carries no suffix; the allowance is what it was for. */
async function findByAllowance(flow: PlanFlow, world: World): Promise<PlanFlow | undefined> {
  const planned = flow.plan?.transactions[flow.position]
  if (planned?.type !== 'approve' || flow.asked?.batchId !== undefined) return undefined
  if (!(await isAllowed(world.provider, flow.wallet, planned.transaction))) return undefined
  const position = flow.position + 1
  return change(flow, { status: 'ready', position, needs: undefined, problem: undefined, looks: 0 })
}

/** Of a plain account one transaction of each number is mined: a mined one that is not ours ends ours. */
async function findByNonce(flow: PlanFlow, world: World): Promise<PlanFlow | undefined> {
  const { asked, plan, position, takenAt } = flow
  const nonce = asked?.place && Number(asked.place.nonce)
  if (nonce === undefined || !plan) return undefined
  const { provider } = world
  const [mined, pending] = await Promise.all([
    readNonce(provider, flow.wallet),
    readNonce(provider, flow.wallet, 'pending'),
  ])
  if (mined <= nonce) return takenAt === undefined ? undefined : change(flow, { takenAt: undefined })
  // One that waits may be ours, of another number than was asked for.
  if (pending > mined || (await isMined(provider, flow.hash))) return undefined
  const now = nowOf(world)
  if (takenAt === undefined || now < takenAt) return change(flow, { takenAt: now, looks: (flow.looks ?? 0) + 1 })
  if (now - takenAt < takenMs) return change(flow, { looks: (flow.looks ?? 0) + 1 })
  const found = await askByAction(flow, world)
  if (found) return found
  const problem = { code: 'REPLACED', text: 'another transaction of the wallet took its place' }
  if (plan.transactions[position]?.type === 'approve') return change(flow, { status: 'ready', needs: 'go', problem })
  return change(flow, { status: 'replaced', needs: undefined, problem })
}

const isMined = async (provider: Provider, hash: string | undefined) =>
  hash !== undefined && (await readReceipt(provider, hash)) !== undefined

/** An hour after the plan ended nothing of it is waited for: the user may begin again. */
async function forget(flow: PlanFlow, world: World): Promise<PlanFlow | undefined> {
  const { plan, params, asked, earlier } = flow
  if (!plan) return undefined
  const age = nowOf(world) - plan.builtAt
  if (age < Number(params['deadlineSeconds'] ?? 600) * 1_000 + forgottenMs) return undefined
  // A program that slept looks once more before it says so.
  const found = await askByAction(flow, world)
  if (found) return found
  const problem = { code: 'NEVER_SEEN', text: 'no transaction was seen within an hour after the plan ended' }
  const kept = asked?.place ?? earlier
  return change(flow, { status: 'ready', hash: undefined, batchId: undefined, earlier: kept, needs: 'again', problem })
}
