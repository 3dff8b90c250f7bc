import { isOnChain, type NotReady, reachChain } from '../wallet/ask.js'
import type { World } from '../wallet/world.js'
import { type Base, change, isOwn, type Problem, type Word } from './state.js'

const wrongChain = (chainId: number): Problem => ({
  code: 'WRONG_CHAIN',
  text: `the wallet is on another chain than ${chainId}, and shows nothing of it`,
})

/** Why nothing is asked of a wallet that is elsewhere, as the user is told. */
export const tellNotReady = ({ reason, message }: NotReady): Problem => ({
  code: reason === 'chain' ? 'WRONG_CHAIN' : 'WRONG_ACCOUNT',
  text: message,
})

/**
 * Brings the wallet to the chain of a flow. Returns the flow where it waits for a word first: a stored flow asks for nothing
 * without one, and no flow asks twice.
 * @throws NotReady if the wallet stays where it is.
 */
export async function reach<F extends Base>(
  flow: F,
  { provider }: World,
  word: Word | undefined,
): Promise<F | undefined> {
  const { chainId, needs } = flow
  if (await isOnChain(provider, chainId)) return undefined
  if (!word && needs) return flow
  if (!word && !isOwn(flow)) return change<Base>(flow, { needs: 'go', problem: wrongChain(chainId) }) as F
  await reachChain(provider, chainId)
  return undefined
}

/**
 * Takes a step that decides by what the wallet's provider reads. On another chain nothing is decided: its receipts, numbers and
 * allowances are others. A wallet that leaves in the middle of the step has decided nothing either.
 */
export async function lookOnChain<F extends Base>(flow: F, { provider }: World, look: () => Promise<F>): Promise<F> {
  const { chainId } = flow
  if (await isOnChain(provider, chainId)) {
    const next = await look()
    if (await isOnChain(provider, chainId)) return next
  }
  return change<Base>(flow, { looks: (flow.looks ?? 0) + 1, problem: wrongChain(chainId) }) as F
}
