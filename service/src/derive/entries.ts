import { derivedId } from '../kernel/ids.js'
import type { DeriveVault } from './config.js'
import type { VaultEvent } from './events.js'
import { type CreditedPart, joinParts } from './requests.js'
import type { DerivedRows, InteractionRow, TxPosition } from './rows.js'

/** The context of an entry. */
type EntryWork = { place: TxPosition; part: { vault: DeriveVault }; rows: DerivedRows; chainId: number }

/**
 * Adds an entry to the ledger: one for an event, a distributor and a wallet; further parts are added to it. `id` is the part
 * of the entry's id after its event.
 */
export function recordEntry(
  { place, part: { vault }, rows, chainId }: EntryWork,
  event: VaultEvent,
  entry: { part: CreditedPart; wallet: string; assets: bigint; shares: bigint; id: string | undefined },
): void {
  const { distributorId, attribution, isSwap } = entry.part
  if (distributorId === null || attribution === null || 'isOtherToken' in event) return
  const of = { vaultId: vault.id, transactionIndex: place.transactionIndex, logIndex: event.logIndex }
  const known = findEntry(rows.interactions, { ...of, wallet: entry.wallet, distributorId })
  if (known) {
    const joined = { attribution: known.attribution, amount: known.assets, isSwap: known.isSwap, distributorId }
    joinParts(joined, { attribution, amount: entry.assets, isSwap })
    Object.assign(known, { attribution: joined.attribution, assets: joined.amount, isSwap: joined.isSwap })
    known.shares += entry.shares
    return
  }
  const name = `${chainId}:${place.hash}:${place.transactionHash}:${event.logIndex}`
  rows.interactions.push({
    ...of,
    id: derivedId(entry.id === undefined ? name : `${name}:${entry.id}`),
    kind: event.kind === 'deposit' ? 'deposit' : 'withdraw',
    blockNumber: place.number,
    blockHash: place.hash,
    timestamp: place.timestamp,
    transactionHash: place.transactionHash,
    wallet: entry.wallet,
    distributorId,
    attribution,
    assets: entry.assets,
    shares: entry.shares,
    isSwap,
  })
}

type Named = Pick<InteractionRow, 'vaultId' | 'transactionIndex' | 'logIndex' | 'wallet' | 'distributorId'>

/** The entry of the same event, distributor and wallet: entries of an event are the last in the list. */
function findEntry(entries: readonly InteractionRow[], of: Named): InteractionRow | undefined {
  for (let at = entries.length - 1; at >= 0; at--) {
    const each = entries[at]
    if (!each || each.transactionIndex !== of.transactionIndex || each.logIndex !== of.logIndex) return undefined
    if (each.vaultId === of.vaultId && each.wallet === of.wallet && each.distributorId === of.distributorId) return each
  }
  return undefined
}

/** The part of an entry's id after its event; it names the wallet only if that is not the event's owner. */
export function nameOf(event: { owner: string }, part: CreditedPart, wallet: string): string | undefined {
  if (part.distributorId === null) return undefined
  return wallet === event.owner ? part.distributorId : `${part.distributorId}:${wallet}`
}
