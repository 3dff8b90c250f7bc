import type { DerivedRows } from '../../src/derive/rows.js'
import { computeSnapshot } from '../../src/features/streams/amounts.js'
import type { AccrualFacts, BalanceStep, LotStep, StreamTerms } from '../../src/features/streams/types.js'
import { listNonHolders, listOwnAddresses } from '../../src/vaults/configured/index.js'
import { recountStream } from '../recount/naiveStream.js'
import type { History } from './histories.js'

/** What a stream pays over a history: from what was derived, by the code under test, and from a recount, in fractions. */

type Weights = { balances: BalanceStep[]; lots: LotStep[] }
/** By wallet the shares of each lot; `~` is nobody's. */
type Holdings = Readonly<Record<string, Readonly<Record<string, string>>>>

export function createStreams({ config, rules, blocks }: History, toldStart: number) {
  const end = (blocks.at(-1)?.block.timestamp ?? 0) + 10
  const terms: StreamTerms = {
    ...{ streamId: '00000000-0000-4000-8000-000000000001', strategy: { type: 3, tokensPerDay: 10n ** 18n } },
    ...{
      adapters: [{ type: 'boost', multiplierBps: 25_000, distributorIds: ['alpha'] }],
      startAt: toldStart,
      endAt: end,
    },
    ...{ budget: 10n ** 30n, increases: [], rewardDecimals: 18 },
  }
  const [derived, recounted]: [Weights, Weights] = [
    { balances: [], lots: [] },
    { balances: [], lots: [] },
  ]
  const [vault] = config.vaults
  const excluded = listNonHolders(vault ? listOwnAddresses(vault) : [])
  const places = new Set([rules.vault, rules.zero, ...rules.declared.keys()])
  let before: Holdings = {}
  const factsOf = (weights: Weights): AccrualFacts => ({ ...weights, sharePrices: [], rewardPrices: [] })
  return {
    /** The rows of a block, and what the recount has after it. */
    tell: (at: number, rows: Pick<DerivedRows, 'balanceChanges' | 'lotChanges'>, now: Holdings): void => {
      for (const { wallet, after } of rows.balanceChanges)
        if (!excluded.has(wallet)) derived.balances.push({ at, wallet, shares: after })
      for (const { wallet, distributorId, after } of rows.lotChanges)
        if (!excluded.has(wallet)) derived.lots.push({ at, wallet, distributorId, shares: after })
      for (const wallet of new Set([...Object.keys(before), ...Object.keys(now)])) {
        if (places.has(wallet)) continue
        const parts = Object.entries(now[wallet] ?? {})
        const shares = parts.reduce((sum, [, n]) => sum + BigInt(n), 0n)
        recounted.balances.push({ at, wallet, shares })
        const alpha = BigInt(parts.find(([name]) => name === 'alpha')?.[1] ?? 0)
        recounted.lots.push({ at, wallet, distributorId: 'alpha', shares: alpha })
      }
      before = now
    },
    /** The rewards of each wallet, in whole units: `[derived, recounted]`. */
    count: (): [Record<string, string>, Record<string, string>] => {
      const paid = computeSnapshot(terms, factsOf(derived), end).amounts.wallets
      const told = [...recountStream(terms, factsOf(recounted), end)].map(
        ([wallet, { n, d }]) => [wallet, n / d] as const,
      )
      const show = (rows: readonly (readonly [string, bigint])[]) =>
        Object.fromEntries(rows.flatMap(([wallet, n]) => (n > 0n ? [[wallet, String(n)]] : [])).sort())
      return [show(paid.map(({ wallet, rewards }) => [wallet, rewards])), show(told)]
    },
  }
}
