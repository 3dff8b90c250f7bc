import { isOnChain } from '../wallet/ask.js'
import type { World } from '../wallet/world.js'
import { type Base, change } from './state.js'

export const wrongChain = (chainId: number) => ({
  code: 'WRONG_CHAIN',
  text: `the wallet is on another chain than ${chainId}, and shows nothing of it`,
})

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
