import { groupBy } from '../../kernel/groups.js'
import type { AuditLimits } from './auditLimits.js'
import { isAlike, type Move } from './auditLoops.js'
import { usdToUnits } from './auditPieces.js'

/**
 * Deposits that one sender paid for within a few blocks, for many wallets, nearly all of the same worth. Customers of an exchange
 * are paid for by one sender too, but each with an amount of its own. Pure.
 */
export function listPaidAlike(deposits: readonly Move[], limits: AuditLimits): Move[] {
  const found: Move[] = []
  const paid = deposits.filter(({ change }) => change.sender !== null && change.sender !== change.wallet)
  for (const [, own] of groupBy(paid, ({ chainId, change }) => `${chainId} ${change.sender}`))
    for (const batch of splitBatches(own, limits.senderBlocks)) {
      const sorted = [...batch].sort((a, b) => (a.worth < b.worth ? -1 : a.worth > b.worth ? 1 : 0))
      const median = sorted[sorted.length >> 1]?.worth ?? 0n
      const alike = batch.filter(({ worth }) => isAlike(worth, median, limits.senderAlikeBps))
      const wallets = new Set(alike.map(({ change }) => change.wallet)).size
      const all = new Set(batch.map(({ change }) => change.wallet)).size
      if (wallets >= limits.senderWallets && wallets * 100 >= all * limits.senderAlikePercent) found.push(...alike)
    }
  return found
}

/** Deposits that follow one another within a few blocks. */
function splitBatches(deposits: readonly Move[], blocks: number): Move[][] {
  const batches: Move[][] = []
  for (const move of [...deposits].sort((a, b) => a.change.blockNumber - b.change.blockNumber)) {
    const [batch] = batches.slice(-1)
    const last = batch?.at(-1)
    if (batch && last && move.change.blockNumber - last.change.blockNumber <= blocks) batch.push(move)
    else batches.push([move])
  }
  return batches
}

/** A wallet's shares of a vault at an instant, with what they were worth; 0 where no price was known. */
export type Holding = { shares: bigint; worth: bigint; floor: bigint }

/** Whether a holding is dust: below the floor of its vault, or worth less than a setting says. Pure. */
export const isDust = ({ shares, worth, floor }: Holding, { floorUsd }: AuditLimits): boolean =>
  shares < floor || (worth > 0n && worth < usdToUnits(floorUsd))
