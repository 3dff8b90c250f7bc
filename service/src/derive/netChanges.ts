import type { DeriveVault } from './config.js'
import { type Transfer, type VaultEvent, zeroAddress } from './events.js'

/** What one transaction did to one vault, in the order of the logs. */
export type VaultTransaction = { vault: DeriveVault; transfers: Transfer[]; events: VaultEvent[] }

/** Net share change of each wallet; what comes back to where it was is no change. The zero address holds nothing. */
export function netChanges({ transfers }: Pick<VaultTransaction, 'transfers'>): Map<string, bigint> {
  const net = new Map<string, bigint>()
  for (const { from, to, amount } of transfers) {
    if (from === to) continue
    if (from !== zeroAddress) net.set(from, (net.get(from) ?? 0n) - amount)
    if (to !== zeroAddress) net.set(to, (net.get(to) ?? 0n) + amount)
  }
  for (const [wallet, change] of net) if (change === 0n) net.delete(wallet)
  return net
}

/**
 * Finds the Transfers that belong to an event; each is found once. Shares reach a depositor from the zero address, the
 * vault or its escrow, and leave a redeemer the same way; amounts come from these, never from the event's own `shares`,
 * which may not know of fees.
 */
export function createTransferFinder({ vault, transfers, events }: VaultTransaction): {
  received(event: VaultEvent, owner: string): bigint
  sent(event: VaultEvent, owner: string): bigint
} {
  const sources = new Set([zeroAddress, vault.address, ...(vault.escrow === null ? [] : [vault.escrow])])
  const used = new Set<Transfer>()
  const claim = (matches: (transfer: Transfer) => boolean): bigint => {
    let sum = 0n
    for (const transfer of transfers)
      if (!used.has(transfer) && matches(transfer)) {
        used.add(transfer)
        sum += transfer.amount
      }
    return sum
  }
  /** Before the event, or where there is nothing, after it and before the next event. */
  const around = (event: VaultEvent, belongs: (transfer: Transfer) => boolean): bigint => {
    const before = claim((transfer) => transfer.logIndex < event.logIndex && belongs(transfer))
    if (before > 0n) return before
    const next = events.find(({ logIndex }) => logIndex > event.logIndex)?.logIndex ?? Number.POSITIVE_INFINITY
    return claim(
      ({ logIndex, ...rest }) => logIndex > event.logIndex && logIndex < next && belongs({ logIndex, ...rest }),
    )
  }
  return {
    received: (event, owner) => {
      const own = around(event, ({ from, to }) => to === owner && sources.has(from))
      return own > 0n ? own : around(event, ({ from }) => from === zeroAddress)
    },
    sent: (event, owner) => around(event, ({ from, to }) => from === owner && sources.has(to)),
  }
}
