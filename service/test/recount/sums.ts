import type { DeriveConfig } from '../../src/derive/config.js'
import { openFastRecover } from '../../src/derive/fastRecover.js'
import { createDerivation, derive, emptyState } from '../../src/derive/index.js'
import type { DerivedRows } from '../../src/derive/rows.js'
import type { RawBlock } from '../../src/rpc/raw.js'
import { least } from './bytes.js'
import type { Recounted } from './recount.js'
import { readMove } from './told.js'
import { vaults, zero } from './traffic/world.js'

export type Derived = { rows: DerivedRows[]; state: ReturnType<typeof emptyState> }

/** As the watcher and a rebuild recover. */
const recover = openFastRecover()

/** Rows of the product for the blocks, from an empty state. */
export function deriveRows(blocks: readonly RawBlock[], config: DeriveConfig): Derived {
  const state = emptyState()
  const derivation = createDerivation(config, recover)
  return { rows: blocks.map((block) => derive(block, derivation, state)), state }
}

/**
 * Sums of the product's rows that do not come out, as lines: per wallet and vault the lots and what is unattributed are the
 * balance, before and after each transaction; per vault all of it is the supply that its Transfers tell.
 */
export function findWrongSums(blocks: readonly RawBlock[], { rows, state }: Derived): string[] {
  const wrong: string[] = []
  const lots = new Map<string, Map<string, bigint>>()
  const balances = new Map<string, bigint>()
  const sumOf = (key: string) => [...(lots.get(key)?.values() ?? [])].reduce((sum, lot) => sum + lot, 0n)
  for (const { balanceChanges, lotChanges } of rows) {
    const at = new Map<string, typeof lotChanges>()
    const placeOf = (each: { vaultId: number; wallet: string; transactionIndex: number }) =>
      `${each.vaultId}:${each.wallet} ${each.transactionIndex}`
    for (const each of lotChanges) at.set(placeOf(each), [...(at.get(placeOf(each)) ?? []), each])
    for (const change of balanceChanges) {
      const { vaultId, wallet, before, after, attributedBefore, attributedAfter } = change
      const key = `${vaultId}:${wallet}`
      if (before !== (balances.get(key) ?? 0n) || attributedBefore !== sumOf(key)) wrong.push(`${key} begins otherwise`)
      const own = lots.get(key) ?? new Map<string, bigint>()
      for (const { distributorId, after: left } of at.get(placeOf(change)) ?? []) own.set(distributorId, left)
      lots.set(key, own)
      balances.set(key, after)
      const smallest = [after - attributedAfter, ...own.values()].reduce(least)
      if (smallest < 0n) wrong.push(`${key} has a lot of ${smallest}`)
      if (attributedAfter !== sumOf(key)) wrong.push(`${key} has lots of ${sumOf(key)}, not ${attributedAfter}`)
    }
  }
  for (const [key, { shares }] of state.holders)
    if (shares !== (balances.get(key) ?? 0n)) wrong.push(`${key} ends with ${shares}, not ${balances.get(key)}`)
  for (const vault of vaults) {
    const moves = blocks.filter(({ number }) => number >= vault.startBlock).flatMap(({ logs }) => logs)
    const supply = moves
      .flatMap((log) => readMove(log, vault) ?? [])
      .reduce((sum, { from, to, value }) => sum + (from === zero ? value : 0n) - (to === zero ? value : 0n), 0n)
    const keys = [...balances.keys()].filter((key) => key.startsWith(`${vault.id}:`))
    const attributed = keys.reduce((sum, key) => sum + sumOf(key), 0n)
    const unattributed = keys.reduce((sum, key) => sum + (balances.get(key) ?? 0n) - sumOf(key), 0n)
    if (attributed + unattributed !== supply)
      wrong.push(`of vault ${vault.id} ${attributed} and ${unattributed} are told, of ${supply}`)
  }
  return wrong
}

/** Marks that a wallet keeps beyond what it gained, and lots beyond a balance, as the second derivation follows them. */
export function findWrongGains({ gains, lots, balances }: Recounted): string[] {
  const wrong = gains.flatMap(({ wallet, gained, kept }) =>
    kept > gained ? [`${wallet} keeps ${kept} marks of ${gained} gained`] : [],
  )
  for (const [key, of] of lots) {
    const sum = Object.values(of).reduce((all, lot) => all + lot, 0n)
    if (sum > (balances.get(key) ?? 0n)) wrong.push(`${key} has lots of ${sum}, and ${balances.get(key)} shares`)
  }
  return wrong
}
