import { EarnError } from '../client/error.js'
import { getAction, getWalletRequests, verifyTracking } from '../client/generated/operations.js'
import { nowOf, type World } from '../wallet/world.js'
import { readReceipt } from './chain.js'
import { isDue, isDueSoon } from './due.js'
import { change, type PlanFlow } from './state.js'

/** A transaction that is confirmed has this time to be credited. */
const creditMs = 120_000

/** Follows a mined plan until the service says what came of it. */
export async function followMined(flow: PlanFlow, world: World): Promise<PlanFlow> {
  const { earn, provider } = world
  const { kind, plan, txHash, wallet, chainId, minedAt } = flow
  if (!plan || txHash === undefined) return change(flow, { status: 'sent' })
  // A block may be taken back.
  if (!(await readReceipt(provider, txHash))) return change(flow, { status: 'sent', hash: txHash, minedAt: undefined })
  const { looks = 0 } = flow
  if (!isDueSoon(looks)) return wait(flow)
  const action = await readAction(flow, earn, { planned: plan.actionId, txHash })
  const isVerified = action.status === 'verified'
  const end = (status: PlanFlow['status']) => change(flow, { status, needs: undefined, problem: undefined })
  if (isVerified && (kind === 'cancel' || kind === 'swap')) return end('done')
  if (action.interactions.length > 0) return end('credited')
  if (isVerified && kind !== 'claim') {
    const { requests } = await getWalletRequests(earn, { address: wallet as `0x${string}` })
    if (requests.some((each) => each.txHash.toLowerCase() === txHash.toLowerCase())) return end('requested')
  }
  const age = nowOf(world) - (minedAt ?? 0)
  if (action.status === 'submitted' || (minedAt !== undefined && age >= 0 && age < creditMs)) return wait(flow)
  // A wallet may have sent the call without what the service put behind it: then the service finds no such transaction.
  if (!isVerified && !isDue(looks)) return wait(flow)
  const text = await readReasons(earn, { chainId, txHash: txHash as `0x${string}` }, isVerified)
  return text === undefined
    ? wait(flow)
    : change(flow, { status: 'mined, not credited', problem: { code: 'NOT_CREDITED', text } })
}

/** The action of a transaction: of the plan, or of an earlier one that was sent as well. */
async function readAction(
  { actionIds }: PlanFlow,
  earn: World['earn'],
  { planned, txHash }: { planned: string; txHash: string },
): Promise<Action> {
  const own = await getAction(earn, { actionId: planned })
  if (carries(own, txHash)) return own
  for (const actionId of actionIds.filter((each) => each !== planned).reverse()) {
    const earlier = await getAction(earn, { actionId })
    if (carries(earlier, txHash)) return earlier
  }
  return own
}

type Action = Awaited<ReturnType<typeof getAction>>

const carries = ({ transactions }: Action, hash: string) =>
  transactions.some(({ txHash }) => txHash.toLowerCase() === hash.toLowerCase())

/** Why a transaction has no credit; undefined where that cannot be told yet. */
async function readReasons(
  earn: World['earn'],
  of: { chainId: number; txHash: `0x${string}` },
  isVerified: boolean,
): Promise<string | undefined> {
  try {
    const { error, proof } = await verifyTracking(earn, of)
    const reasons = [error, ...proof.inspection.problems].filter(Boolean)
    if (reasons.length > 0) return reasons.join('; ')
    return isVerified ? 'the service does not say why' : undefined
  } catch (error) {
    // It may be known to the wallet's node before the service's.
    if (!(error instanceof EarnError) || error.code !== 404) throw error
    return error.context['retryable'] === true ? undefined : 'the transaction carries no attribution'
  }
}

const wait = (flow: PlanFlow): PlanFlow => change(flow, { looks: (flow.looks ?? 0) + 1, problem: undefined })
