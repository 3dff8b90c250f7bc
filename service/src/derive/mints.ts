import { zeroAddress } from 'viem'
import { findVaultKind } from '../vaults/index.js'
import { hasAsyncDeposit } from './config.js'
import type { Transfer, VaultEvent } from './events.js'
import type { ShareMint, TxPosition } from './rows.js'
import type { VaultTransaction } from './transfers.js'

/** The sender of a Transfer that mints, as a topic. */
export const zeroTopic = `0x${'0'.repeat(64)}`

/**
 * Records the shares that a vault minted in a transaction. Each deposit that completes at once, in the asset of the vault, is a
 * sale of its own, credited or not. The shares minted beyond the sales (for another token, by a claim, as a fee, without an
 * event) are one row without a price. Of a plain token nothing is recorded: it has no price of its own.
 */
export function recordShareMints(place: TxPosition, part: VaultTransaction, rows: ShareMint[]): void {
  if (!isPriced(part.vault)) return
  let rest = 0n
  let last: Transfer | undefined
  for (const transfer of part.transfers)
    if (isMint(transfer)) {
      rest += transfer.amount
      last = transfer
    }
  for (const event of part.events)
    if (isSale(event, part)) {
      rest -= event.shares
      rows.push(rowOf(place, part, event))
    }
  if (last && rest > 0n) rows.push(rowOf(place, part, { logIndex: last.logIndex, shares: rest, assets: null }))
}

const rowOf = (
  { number: blockNumber, hash: blockHash, timestamp, transactionHash }: TxPosition,
  { vault }: VaultTransaction,
  { logIndex, shares, assets }: Pick<ShareMint, 'logIndex' | 'shares' | 'assets'>,
): ShareMint => ({ vaultId: vault.id, blockNumber, blockHash, timestamp, transactionHash, logIndex, shares, assets })

const isMint = ({ from, to, amount }: Transfer) => from === zeroAddress && to !== zeroAddress && amount > 0n

type Sale = Extract<VaultEvent, { kind: 'deposit' }>

/** Whether an event sells shares at a price: a claim gives shares that were priced when they were requested. */
function isSale(event: VaultEvent, { vault }: VaultTransaction): event is Sale {
  if (event.kind !== 'deposit' || event.isOtherToken) return false
  if (hasAsyncDeposit(vault) && event.atOnce !== true) return false
  return event.assets > 0n && event.shares > 1n
}

function isPriced({ kind }: { kind: string }): boolean {
  const known = findVaultKind(kind)
  return known?.readFigures !== undefined && known.name !== 'erc20'
}
