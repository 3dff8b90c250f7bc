import type { Outcome } from './playedChain.js'
import type { Entry, Expected } from './recount.js'
import type { Rules } from './recountCredits.js'

/** What a whole token was worth at an instant, in millionths of a dollar. */
export function priceOf({ prices }: Rules, time: number): bigint | undefined {
  return prices.findLast(({ from }) => from <= time)?.micros
}

/** A chain as it was played, and what was counted from what happened on it. */
export type Counted = { outcome: Outcome; expected: Expected }

/** Entries deep enough to be shown. */
export function listVerified({ outcome, expected }: Counted): Entry[] {
  const top = outcome.blocks.at(-1)?.number ?? 0
  return expected.entries.filter(({ block }) => block.number <= top - outcome.confirmations + 1)
}

/** Sums over chains, by name. */
export type Totals = Map<string, bigint>

/** What distributors and wallets have on all chains together: the sum of what was counted of each. */
export function addTotals(totals: Totals, counted: readonly Counted[]): Totals {
  const sums = new Map(totals)
  const add = (name: string, amount: bigint) => {
    if (amount !== 0n) sums.set(name, (sums.get(name) ?? 0n) + amount)
  }
  for (const { expected } of counted) {
    for (const [key, shares] of expected.lots) add(`lots of ${key.split(' ')[2]}`, shares)
    for (const [key, shares] of expected.balances) add(`shares of ${key.split(' ')[1]}`, shares)
    for (const { distributor, kind, assets } of expected.entries) {
      add(`${kind} assets of ${distributor}`, assets)
      add(`${kind} entries of ${distributor}`, 1n)
      add(`${kind} counted of ${distributor}`, 1n)
    }
    for (const { remaining, kind, controller } of expected.requests) add(`${kind} requests of ${controller}`, remaining)
    for (const place of expected.used) add(`used signatures in ${place.split(' ')[0]}`, 1n)
    add('transactions watched', BigInt(expected.watched.length))
  }
  return sums
}
