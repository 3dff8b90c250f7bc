import type { DeriveVault } from './config.js'
import { type Transfer, type VaultEvent, zeroAddress } from './events.js'
import { smaller } from './lots.js'

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
 * vault or its escrow, and leave a redeemer the same way; where there is none of these, by way of an escrow nobody
 * declared. Amounts come from these, never from the event's own `shares`, which may not know of fees.
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
      if (own > 0n) return own
      const minted = around(event, ({ from }) => from === zeroAddress)
      return minted > 0n ? minted : around(event, ({ to }) => to === owner)
    },
    sent: (event, owner) => {
      const own = around(event, ({ from, to }) => from === owner && sources.has(to))
      return own > 0n ? own : around(event, ({ from }) => from === owner)
    },
  }
}

/** What a deposit minted, and how much of it its owner still has at the end of the transaction. */
export type Delivery = { minted: bigint; kept: bigint }

/** Shares of one vault that move in one transaction. */
export type Flows = {
  net: ReadonlyMap<string, bigint>
  deliveries: ReadonlyMap<VaultEvent, Delivery>
  sent: ReturnType<typeof createTransferFinder>['sent']
}

/** Net changes of a vault in a transaction, and what each deposit minted. */
export function readFlows(part: VaultTransaction): Flows {
  const net = netChanges(part)
  const { received, sent } = createTransferFinder(part)
  const left = new Map(net)
  const deliveries = new Map<VaultEvent, Delivery>()
  for (const event of part.events) {
    if (event.kind !== 'deposit') continue
    const minted = received(event, event.owner)
    const gain = left.get(event.owner) ?? 0n
    const kept = gain <= 0n ? 0n : smaller(gain, minted)
    left.set(event.owner, gain - kept)
    deliveries.set(event, { minted, kept })
  }
  return { net, deliveries, sent }
}

/** Who ends the transaction with shares a deposit minted: its owner, and where that has not kept them all, who else gained. */
export function findGainers({ net, deliveries }: Flows, event: VaultEvent): Set<string> {
  const { minted, kept } = deliveries.get(event) ?? { minted: 0n, kept: 0n }
  const gainers = new Set<string>()
  if (event.kind !== 'deposit') return gainers
  if (kept > 0n) gainers.add(event.owner)
  if (minted > 0n && minted === kept) return gainers
  // What an owner keeps of deposits of its own did not come from this one.
  const own = new Map<string, bigint>()
  for (const [each, delivery] of deliveries)
    if (each.kind === 'deposit') own.set(each.owner, (own.get(each.owner) ?? 0n) + delivery.kept)
  for (const [wallet, change] of net) if (change > (own.get(wallet) ?? 0n)) gainers.add(wallet)
  return gainers
}
