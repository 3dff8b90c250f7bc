import { toEventSelector } from 'viem'
import type { RawLog } from '../../rpc/raw.js'
import type { View } from '../../rpc/views.js'

/** A contract that keeps shares for accounts, as the catalogue declares it. Addresses and ids lower-case. */
export type DeclaredHolder = {
  address: string
  kind: string
  /** Unix seconds of chain time: from when what it keeps counts for the accounts. */
  from: number
  /** The markets in which the share is the collateral; only of the kind `collateral`. */
  markets?: readonly string[]
}

/** The meaning of an event of a holder the shares it keeps for an account. */
export type HolderSaying =
  | { kind: 'in' | 'out'; account: string; shares: bigint; isBeforeTransfer?: true }
  | { kind: 'move'; account: string; to: string; shares: bigint }
  /** The code of the holder was replaced. */
  | { kind: 'upgrade' }

export type HolderEvent = HolderSaying & { holder: string; logIndex: number }

/** One kind of holder: its events that name an account and shares. */
export type HolderKind = {
  readonly name: string
  /** It keeps shares by market, and its events name the market. */
  readonly byMarket?: true
  /** By first topic; undefined for a log of another shape or about another share. Never throws. */
  readonly events: ReadonlyMap<string, (log: RawLog, holder: DeclaredHolder) => HolderSaying | undefined>
  /** The views in which a holder says how much it keeps for an account: their sum. */
  readonly views: (holder: Pick<DeclaredHolder, 'address' | 'markets'>, account: string) => readonly View[]
}

const wordDigits = 64

/** `balanceOf(account)` of the holder itself. */
export const ownBalance: HolderKind['views'] = ({ address }, account) => [
  { target: address, data: `0x70a08231${wordOf(account)}` },
]

/** An address as an argument of a call. */
export const wordOf = (address: string): string => address.slice(2).toLowerCase().padStart(wordDigits, '0')

/** Declares an event by its signature, with the number of its topics and data words. */
export function told(
  signature: string,
  { topics, words }: { topics: number; words: number },
  mean: (log: RawLog, holder: DeclaredHolder) => HolderSaying | undefined,
): readonly [string, (log: RawLog, holder: DeclaredHolder) => HolderSaying | undefined] {
  const read = (log: RawLog, holder: DeclaredHolder) =>
    log.topics.length === topics && log.data.length === 2 + words * wordDigits ? mean(log, holder) : undefined
  return [toEventSelector(signature), read]
}

/** The address in an indexed argument. */
export function addressIn(log: RawLog, topic: number): string {
  return `0x${(log.topics[topic] ?? '').slice(26)}`
}

/** A number in the data, by its word. */
export function numberIn(log: RawLog, word: number): bigint {
  return BigInt(`0x${log.data.slice(2 + word * wordDigits, 2 + (word + 1) * wordDigits)}`)
}
