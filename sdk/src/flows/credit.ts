import { getAction, getWalletRequests, verifyTracking } from '../client/generated/operations.js'
import { nowOf, type World } from '../wallet/world.js'
import { readReceipt } from './chain.js'
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
  const action = await getAction(earn, { actionId: plan.actionId })
  const isVerified = action.status === 'verified'
  const end = (status: PlanFlow['status']) => change(flow, { status, needs: undefined, problem: undefined })
  if (kind === 'cancel' || kind === 'swap') return isVerified ? end('done') : wait(flow)
  if (action.interactions.length > 0) return end('credited')
  if (!isVerified) return wait(flow)
  if (kind !== 'claim') {
    const { requests } = await getWalletRequests(earn, { address: wallet as `0x${string}` })
    if (requests.some((each) => each.txHash.toLowerCase() === txHash.toLowerCase())) return end('requested')
  }
  const age = nowOf(world) - (minedAt ?? 0)
  if (minedAt !== undefined && age >= 0 && age < creditMs) return wait(flow)
  const tracked = await verifyTracking(earn, { chainId, txHash: txHash as `0x${string}` })
  const reasons = [tracked.error, ...tracked.proof.inspection.problems].filter(Boolean)
  const text = reasons.join('; ') || 'the service does not say why'
  return change(flow, { status: 'mined, not credited', problem: { code: 'NOT_CREDITED', text } })
}

const wait = (flow: PlanFlow): PlanFlow => change(flow, { looks: (flow.looks ?? 0) + 1, problem: undefined })
