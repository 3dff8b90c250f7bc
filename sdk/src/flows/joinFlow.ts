import { EarnError, mayRetry } from '../client/error.js'
import { createMembership, createMembershipAgreement, getMembership } from '../client/generated/operations.js'
import { askAgreement, NotReady, Refused } from '../wallet/ask.js'
import { readFailure } from '../wallet/provider.js'
import type { World } from '../wallet/world.js'
import { type Base, change, isLast, isOwn, make, type Problem, type Word } from './state.js'

export type JoinStatus = 'looking' | 'ready' | 'signing' | 'member' | 'refused'

/** Links a wallet to an account. A signature costs nothing and can be given again: nothing of it is stored. */
export type JoinFlow = Base & {
  kind: 'join'
  status: JoinStatus
  distributorId?: string | undefined
}

/** Brings the flow one step further. */
export async function advanceJoin(flow: JoinFlow, world: World, word: Word | undefined): Promise<JoinFlow> {
  try {
    if (isLast(flow)) return flow
    // A stored flow begins anew, and waits for a word about what is said of it then.
    if (flow.status === 'looking' || !isOwn(flow)) return await look(flow, world)
    if (flow.status === 'ready') return flow.needs && word !== 'go' ? flow : change(flow, { status: 'signing' })
    return await sign(flow, world)
  } catch (error) {
    if (error instanceof EarnError && error.code === 409 && !error.context['retryable'])
      return change(flow, { status: 'member', needs: undefined, problem: undefined })
    if (error instanceof Refused) return end(flow, { code: 'NOT_AS_ASKED', text: error.message })
    if (error instanceof EarnError && !mayRetry(error)) return end(flow, { code: error.status, text: error.message })
    if (error instanceof EarnError) return later(flow, { code: error.status, text: error.message })
    if (error instanceof NotReady) return stop(flow, { code: 'WRONG_ACCOUNT', text: error.message })
    const { code, message } = readFailure(error)
    return stop(flow, { code: code === 4001 ? 'REJECTED' : 'NOT_TAKEN', text: message })
  }
}

const end = (flow: JoinFlow, problem: Problem) => change(flow, { status: 'refused', needs: undefined, problem })
const stop = (flow: JoinFlow, problem: Problem) => change(flow, { status: 'ready', needs: 'go', problem })
const later = (flow: JoinFlow, problem: Problem) => change(flow, { looks: (flow.looks ?? 0) + 1, problem })

async function look(flow: JoinFlow, world: World): Promise<JoinFlow> {
  const { wallet, distributorId } = flow
  const { isMember } = await getMembership(world.earn, { address: wallet, walletEcosystem: 'evm' })
  if (isMember) return change(flow, { status: 'member', needs: undefined, problem: undefined, looks: 0 })
  const by = distributorId === undefined ? '' : `, and tell that the distributor ${distributorId} brought it`
  const sentences = [`Link the wallet ${wallet} to your account at ${pageOf(world) ?? 'this page'}${by}.`]
  const told = { sentences, problem: undefined, looks: 0, needs: isOwn(flow) ? undefined : 'go' } as const
  return make<JoinFlow>({ ...flow, ...told, status: 'ready' })
}

/** Where the wallet is asked. */
const pageOf = ({ url }: World) => url ?? (globalThis as { location?: { href: string } }).location?.href

/** The text is asked for, compared and signed in one go: it is good for minutes. */
async function sign(flow: JoinFlow, world: World): Promise<JoinFlow> {
  const { earn } = world
  const url = pageOf(world)
  if (!url) return end(flow, { code: 'NO_URL', text: 'say in `url` where the wallet is asked' })
  const { wallet: address, chainId, distributorId } = flow
  const who = { address, walletEcosystem: 'evm' as const }
  const answer = await createMembershipAgreement(earn, { ...who, url, chainId })
  const signature = await askAgreement(world, { asked: { address, chainId, url }, answer })
  await createMembership(earn, { ...who, signature, nonce: answer.nonce, ...(distributorId ? { distributorId } : {}) })
  return change(flow, { status: 'member', needs: undefined, problem: undefined, looks: 0 })
}
