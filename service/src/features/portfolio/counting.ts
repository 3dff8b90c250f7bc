import type { Amount, Item } from './adapter.js'
import type { ChainHoldings, Idle } from './context.js'
import { computeValue } from './pricing.js'

/** So much of a token, and what it is worth: US dollars times 10^18, undefined without a price. */
export type Valued = Amount & { priceUsd: string | undefined; value: bigint | undefined }

export type CountedItem = Omit<Item, 'supplied' | 'borrowed' | 'rewards'> & {
  supplied: Valued[]
  borrowed: Valued[]
  rewards: Valued[]
}

export type CountedToken = Idle & {
  /** An adapter says what it stands for: it counts there, not here. */
  isProtocolToken: boolean
  priceUsd: string | undefined
  value: bigint | undefined
}

export type Counted = { tokens: CountedToken[]; items: CountedItem[]; total: bigint }

/**
 * Counts everything once. A receipt token that an adapter explains counts in the row of that adapter; where several explain
 * it, the row with a value goes before one without, then the adapter's and the pool's name decide: never the order in which
 * adapters stand. Pure.
 */
export function count({ idle, found, pricing }: Pick<ChainHoldings, 'idle' | 'found' | 'pricing'>): Counted {
  const toValued = (amount: Amount): Valued => {
    const priceUsd = pricing.priceOf(amount.token.address)
    return { ...amount, priceUsd, value: computeValue(amount.raw, amount.token.decimals, priceUsd) }
  }
  const all = found.map(({ adapter, item }) => {
    const [supplied, borrowed, rewards] = [item.supplied, item.borrowed, item.rewards].map((each) => each.map(toValued))
    return { adapter, item: { ...item, supplied, borrowed, rewards } as CountedItem }
  })
  const kept = chooseExplanations(all)
  const items = all.flatMap(({ item }): CountedItem[] => {
    const keep = (amounts: readonly Valued[]) =>
      amounts.filter((each) => each.raw > 0n && (each.explains === undefined || kept.get(each.explains) === each))
    const own = { supplied: keep(item.supplied), borrowed: keep(item.borrowed), rewards: keep(item.rewards) }
    return own.supplied.length + own.borrowed.length + own.rewards.length > 0 ? [{ ...item, ...own }] : []
  })
  const owed = new Set(items.flatMap(({ borrowed }) => borrowed))
  const tokens = idle.map(({ token, raw }): CountedToken => {
    const explained = kept.get(token.address)
    const observed = pricing.priceOf(token.address)
    if (!explained) {
      const value = computeValue(raw, token.decimals, observed)
      return { token, raw, isProtocolToken: false, priceUsd: observed, value }
    }
    return owed.has(explained)
      ? { token, raw, isProtocolToken: true, priceUsd: undefined, value: undefined }
      : { token, raw, isProtocolToken: true, priceUsd: observed, value: explained.value }
  })
  const idleTotal = sum(tokens.filter(({ isProtocolToken }) => !isProtocolToken))
  return { tokens, items, total: idleTotal + items.reduce((total, item) => total + netOf(item), 0n) }
}

type Candidate = { adapter: string; item: CountedItem }

function chooseExplanations(all: readonly Candidate[]): ReadonlyMap<string, Valued> {
  const candidates = all.flatMap(({ adapter, item }) =>
    [...item.supplied, ...item.borrowed, ...item.rewards].flatMap((amount) =>
      amount.explains === undefined
        ? []
        : [
            {
              amount,
              explains: amount.explains,
              rank: `${amount.value === undefined ? 1 : 0} ${adapter} ${item.pool}`,
            },
          ],
    ),
  )
  const sorted = candidates.sort((a, b) => (a.rank < b.rank ? -1 : a.rank > b.rank ? 1 : 0))
  const kept = new Map<string, Valued>()
  for (const { explains, amount } of sorted) if (!kept.has(explains)) kept.set(explains, amount)
  return kept
}

const sum = (rows: readonly { value: bigint | undefined }[]): bigint =>
  rows.reduce((total, { value }) => total + (value ?? 0n), 0n)

export function assetsOf({ supplied, rewards }: CountedItem): bigint {
  return sum(supplied) + sum(rewards)
}

export function debtOf({ borrowed }: CountedItem): bigint {
  return sum(borrowed)
}

export function netOf(item: CountedItem): bigint {
  return assetsOf(item) - debtOf(item)
}
