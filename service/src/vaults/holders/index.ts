/**
 * Contracts that keep a vault's shares for accounts and are looked through: the kinds of these, and what their events say. A kind
 * is one file of this folder.
 */
import { toEventSelector } from 'viem'
import type { RawLog } from '../../rpc/raw.js'
import { collateral } from './collateral.js'
import { gauge } from './gauge.js'
import type { DeclaredHolder, HolderEvent, HolderKind } from './holder.js'
import { staking } from './staking.js'

export type { DeclaredHolder, HolderEvent } from './holder.js'

/** Every kind of holder that can be looked through. */
export const holderKinds: readonly HolderKind[] = [staking, gauge, collateral]

const byName: ReadonlyMap<string, HolderKind> = new Map(holderKinds.map((kind) => [kind.name, kind]))

/** ERC-1967: the code behind a proxy was replaced. */
const upgradedTopic = toEventSelector('Upgraded(address)')

export function findHolderKind(name: string): HolderKind | undefined {
  return byName.get(name)
}

/** First topics of the events of a kind of holder, and of an upgrade. */
export function holderTopics(kind: string): readonly string[] {
  return [...(findHolderKind(kind)?.events.keys() ?? []), upgradedTopic]
}

/** Decodes a log of a holder; undefined for one that says nothing of shares. Never throws. */
export function decodeHolderEvent(log: RawLog, holder: DeclaredHolder): HolderEvent | undefined {
  const [topic = ''] = log.topics
  const saying =
    topic === upgradedTopic
      ? ({ kind: 'upgrade' } as const)
      : findHolderKind(holder.kind)?.events.get(topic)?.(log, holder)
  return saying && { ...saying, holder: holder.address, logIndex: log.logIndex }
}
