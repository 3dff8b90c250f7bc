import type { BalanceChange, DerivedRows, LotChange } from '../../derive/rows.js'

/** Scopes that stand where a distributor may: every holder, and all distributors of a wallet together. */
export const everyHolder = ''
export const anyDistributor = '*'

/** Of a vault: its floors in ascending order, and who holds for others or for nobody. */
export type MetricsVault = { levels: readonly bigint[]; isExcluded(wallet: string): boolean }

/** By how much a block moved the lots of a distributor in a vault. */
export type ShareMove = { vaultId: number; distributorId: string; delta: bigint }

/** A wallet that a block found below a floor and left at it, or the other way round, or that was there in between. */
export type Crossing = { vaultId: number; distributorId: string; wallet: string; level: number; change: -1 | 0 | 1 }

/** The counted changes of a block. */
export type MetricsRows = { blockNumber: number; timestamp: number; moves: ShareMove[]; crossings: Crossing[] }

type Held = { vaultId: number; distributorId: string; wallet: string; before: bigint; after: bigint; most: bigint }

/** Finds the effect of a block on counts and sums. Changes of one holding come in the order they happened. */
export function findChanges(
  block: { number: number; timestamp: number },
  rows: Pick<DerivedRows, 'balanceChanges' | 'lotChanges'> | undefined,
  vaults: ReadonlyMap<number, MetricsVault>,
): MetricsRows {
  const found: MetricsRows = { blockNumber: block.number, timestamp: block.timestamp, moves: [], crossings: [] }
  if (!rows) return found
  found.moves = sumMoves(rows.lotChanges)
  const held = new Map<string, Held>()
  for (const change of rows.lotChanges) follow(held, change.distributorId, change, change.before, change.after)
  for (const change of rows.balanceChanges) {
    follow(held, everyHolder, change, change.before, change.after)
    follow(held, anyDistributor, change, change.attributedBefore, change.attributedAfter)
  }
  for (const each of held.values()) found.crossings.push(...listCrossings(each, vaults.get(each.vaultId)))
  return found
}

function sumMoves(changes: readonly LotChange[]): ShareMove[] {
  const moves = new Map<string, ShareMove>()
  for (const { vaultId, distributorId, before, after } of changes) {
    const key = `${vaultId}:${distributorId}`
    const delta = (moves.get(key)?.delta ?? 0n) + after - before
    moves.set(key, { vaultId, distributorId, delta })
  }
  return [...moves.values()]
}

/** Joins the changes of one holding in a block: its shares before the first, after the last, and the maximum after any. */
function follow(
  all: Map<string, Held>,
  distributorId: string,
  { vaultId, wallet }: Pick<BalanceChange, 'vaultId' | 'wallet'>,
  before: bigint,
  after: bigint,
): void {
  if (before === after) return
  const key = `${vaultId}:${distributorId}:${wallet}`
  const known = all.get(key)
  if (!known) all.set(key, { vaultId, distributorId, wallet, before, after, most: after })
  else {
    known.after = after
    if (after > known.most) known.most = after
  }
}

function listCrossings({ before, after, most, ...holding }: Held, vault: MetricsVault | undefined): Crossing[] {
  if (!vault || vault.isExcluded(holding.wallet)) return []
  return vault.levels.flatMap((floor, level): Crossing[] => {
    const [was, is] = [before >= floor, after >= floor]
    if (was === is) return !was && most >= floor ? [{ ...holding, level, change: 0 }] : []
    return [{ ...holding, level, change: is ? 1 : -1 }]
  })
}
