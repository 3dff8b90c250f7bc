import { EarnError, mayRetry } from '../client/error.js'
import { createMembership, createMembershipAgreement, getMembership } from '../client/generated/operations.js'
import { askAgreement, NotReady, Refused } from '../wallet/ask.js'
import { readFailure } from '../wallet/provider.js'
import type { World } from '../wallet/world.js'
import { type Base, change, type Problem, type Word } from './state.js'

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
    if (flow.status === 'looking') return await look(flow, world)
    if (flow.status === 'ready') return flow.needs && word !== 'go' ? flow : change(flow, { status: 'signing' })
    return flow.status === 'signing' ? await sign(flow, world) : flow
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

async function look(flow: JoinFlow, { earn }: World): Promise<JoinFlow> {
  const { isMember } = await getMembership(earn, { address: flow.wallet, walletEcosystem: 'evm' })
  return change(flow, { status: isMember ? 'member' : 'ready', problem: undefined, looks: 0 })
}

/** The text is asked for, compared and signed in one go: it is good for minutes. */
async function sign(flow: JoinFlow, world: World): Promise<JoinFlow> {
  const { earn, url = (globalThis as { location?: { href: string } }).location?.href } = world
  if (!url) return end(flow, { code: 'NO_URL', text: 'say in `url` where the wallet is asked' })
  const { wallet: address, chainId, distributorId } = flow
  const who = { address, walletEcosystem: 'evm' as const }
  const answer = await createMembershipAgreement(earn, { ...who, url, chainId })
  const signature = await askAgreement(world, { asked: { address, chainId, url }, answer })
  await createMembership(earn, { ...who, signature, nonce: answer.nonce, ...(distributorId ? { distributorId } : {}) })
  return change(flow, { status: 'member', needs: undefined, problem: undefined, looks: 0 })
}
