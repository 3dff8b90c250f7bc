import type { EarnClient } from '../client/client.js'
import { getVerificationContext } from '../client/generated/operations.js'
import type { VerificationContext } from '../client/generated/types.js'
import { ask, type Provider } from './provider.js'

/** The service, the wallet and the clock of a flow. */
export type World = {
  earn: EarnClient
  /** The wallet. */
  provider: Provider
  /** The address of the page that asks for a membership: `location.href` unless given. */
  url?: string | undefined
  /** Unix milliseconds; the clock of the machine unless given. It is never compared with times of the service. */
  now?: (() => number) | undefined
}

export const nowOf = ({ now = Date.now }: World): number => now()

/** The clock of the chain, which is the same for everybody; that of the machine where the wallet does not tell it. */
export async function readTime(world: World): Promise<number> {
  const block = await ask(world.provider, 'eth_getBlockByNumber', ['latest', false]).catch(() => undefined)
  const seconds = Number((block as { timestamp?: unknown } | null | undefined)?.timestamp)
  return Number.isSafeInteger(seconds) && seconds > 0 ? seconds * 1_000 : nowOf(world)
}

/** Facts that are needed stand neither in the file nor in an answer for their chain. */
export class NotTrusted extends TypeError {
  override readonly name = 'NotTrusted'
}

/** Where the facts come from that a plan was compared with. */
export type Trusts = 'file' | 'service'

/** Facts of the service are asked for again after this time. */
const keepMs = 600_000

type Kept = { at: number; facts: Promise<VerificationContext> }
const kept = new WeakMap<EarnClient, Map<number, Kept>>()

/**
 * The facts of a chain: those of the file that the program ships, or, without one, those of the service.
 * @throws NotTrusted if there is a file and the chain is not in it: the service is not asked instead; and if the service gives
 * the facts of another chain.
 */
export async function findFacts(
  world: World,
  chainId: number,
): Promise<{ facts: VerificationContext; trusts: Trusts }> {
  const { earn } = world
  if (earn.trust) {
    if (earn.trust.version !== 1) throw new NotTrusted('the file of trust is of another version than 1')
    const facts = earn.trust.chains.find((chain) => chain.chainId === chainId)
    if (!facts) throw new NotTrusted(`the chain ${chainId} is not in the file of trust`)
    return { facts: facts as VerificationContext, trusts: 'file' }
  }
  const chains = kept.get(earn) ?? new Map<number, Kept>()
  kept.set(earn, chains)
  let found = chains.get(chainId)
  const now = nowOf(world)
  if (!found || Math.abs(now - found.at) > keepMs) {
    found = { at: now, facts: getVerificationContext(earn, { chainId }) }
    chains.set(chainId, found)
    found.facts.catch(() => chains.delete(chainId))
  }
  const facts = await found.facts
  if (facts.chainId !== chainId) throw new NotTrusted(`the facts of the service are not of the chain ${chainId}`)
  return { facts, trusts: 'service' }
}
