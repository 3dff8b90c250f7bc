/**
 * Contracts that keep a vault's shares for accounts and are looked through: the kinds of these, and what their events say. A kind
 * is one file of this folder.
 */
import { toEventSelector } from 'viem'
import { combineAll, mapRead, type Read } from '../../rpc/multicall.js'
import type { RawLog } from '../../rpc/raw.js'
import { readView } from '../../rpc/views.js'
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

/** Reads how many shares a holder says that it keeps for an account; undefined where it does not say it. */
export function readKept(
  holder: Pick<DeclaredHolder, 'address' | 'kind' | 'markets'>,
  account: string,
): Read<bigint | undefined> {
  const views = findHolderKind(holder.kind)?.views(holder, account) ?? []
  return mapRead(combineAll(views.map(readView)), (told) =>
    told.length === 0 || told.includes(undefined)
      ? undefined
      : told.reduce<bigint>((sum, each) => sum + (each ?? 0n), 0n),
  )
}
