import { emptyHolder, type Holder } from './lots.js'
import { type DerivedRows, type DeriveState, holderKey, type TxPosition } from './rows.js'

/** A holder, with its state before the transaction; `lots` is undefined if it had no lots. */
export type HolderBefore = {
  holder: Holder
  shares: bigint
  attributed: bigint
  lots: readonly [string, bigint][] | undefined
}

/** A holder that changes from now on, with its present state as that before. */
export function snapshotOf(holder: Holder): HolderBefore {
  const { shares, attributed, lots } = holder
  return { holder, shares, attributed, lots: lots.size > 0 ? [...lots] : undefined }
}

export function openHolder(state: DeriveState, vaultId: number, wallet: string): HolderBefore {
  const key = holderKey(vaultId, wallet)
  let holder = state.holders.get(key)
  if (holder === undefined) {
    holder = emptyHolder()
    state.holders.set(key, holder)
  }
  return snapshotOf(holder)
}

/** Records what changed of a wallet's balance and lots. */
export function recordChange(
  wallet: string,
  before: HolderBefore,
  to: { place: TxPosition; vaultId: number; rows: DerivedRows },
): void {
  const { holder } = before
  const { shares, attributed, lots } = holder
  const { place, vaultId, rows } = to
  const { number: blockNumber, transactionIndex, timestamp } = place
  if (shares !== before.shares || attributed !== before.attributed)
    rows.balanceChanges.push({
      vaultId,
      wallet,
      blockNumber,
      transactionIndex,
      timestamp,
      before: before.shares,
      after: shares,
      attributedBefore: before.attributed,
      attributedAfter: attributed,
    })
  if (lots.size === 0) return
  for (const [distributorId, after] of lots) {
    const had = before.lots?.find(([id]) => id === distributorId)?.[1] ?? 0n
    if (had === after) continue
    rows.lotChanges.push({
      vaultId,
      wallet,
      distributorId,
      blockNumber,
      transactionIndex,
      timestamp,
      before: had,
      after,
    })
  }
}
