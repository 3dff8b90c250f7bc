import { hasAsyncRedeem } from './config.js'
import type { VaultEvent } from './events.js'
import type { Flows } from './flows.js'
import { compareCodes, smaller, splitProportionally } from './lots.js'
import type { DerivedRows, EventPart, RequestChange, RequestLot, TxPosition } from './rows.js'
import type { VaultTransaction } from './transfers.js'

type Withdraw = Extract<VaultEvent, { kind: 'withdraw' }>

/** The change of a request by an event, as far as it concerns the owners of the shares that the request took. */
export type ChangedRequest = Pick<RequestChange, 'kind' | 'owner' | 'promised' | 'logIndex'> & {
  before: Left
  after: Left
}
type Left = Pick<RequestLot, 'remaining'>
/** A request a transaction opened. */
export type OpenedRequest = Pick<RequestLot, 'kind' | 'owner' | 'amount'>

/**
 * Divides the shares and assets of each event of a vault in one transaction among wallets, credited or not. A deposit belongs
 * to the wallets that keep its shares, a withdrawal to those whose shares it burned or whose requests it completed. The part
 * that nobody keeps belongs to the owner of the event, so that everything is assigned. Also records, per wallet, the change
 * of the shares that wait for a redemption. Amounts in a token other than the vault's asset are left out.
 */
export function recordEventParts(
  input: { place: TxPosition; part: VaultTransaction; flows: Flows },
  requests: { opened: readonly OpenedRequest[]; changed: readonly ChangedRequest[] },
  rows: Pick<DerivedRows, 'eventParts' | 'pendingChanges'>,
): void {
  const { place, part, flows } = input
  const { number: blockNumber, transactionIndex } = place
  const of = { vaultId: part.vault.id, blockNumber, transactionIndex }
  const redemptions = requests.changed.filter(({ kind }) => kind === 'redeem')
  for (const event of part.events) {
    if ((event.kind !== 'deposit' && event.kind !== 'withdraw') || event.isOtherToken) continue
    if (event.kind === 'withdraw' && event.pays !== undefined) {
      addPayment(event, of, redemptions, rows)
      continue
    }
    const { moved, parts: kept } = flows.deliveries.get(event) ?? { moved: 0n, parts: new Map<string, bigint>() }
    const isClaim = event.kind === 'withdraw' && hasAsyncRedeem(part.vault) && event.atOnce !== true
    const told = isClaim || moved === 0n ? event.shares : moved
    const divided = isClaim ? divideClaim(event, kept, redemptions) : divide(told, kept, event.owner)
    // In a fixed order: it decides who gets the remaining unit.
    const parts = [...divided].sort(([a], [b]) => compareCodes(a, b))
    const assets = splitAssets(
      event.assets,
      parts.map(([, shares]) => shares),
    )
    const { kind, owner } = event
    parts.forEach(([wallet, shares], index) => {
      addPart(rows.eventParts, { ...of, wallet, kind, shares, untold: 0n, assets: assets[index] ?? 0n })
    })
    const untold = event.shares - told
    addPart(rows.eventParts, { ...of, wallet: owner, kind, shares: 0n, untold, assets: 0n })
  }
  const moved = new Map<string, bigint>()
  const move = (wallet: string, delta: bigint) => moved.set(wallet, (moved.get(wallet) ?? 0n) + delta)
  for (const { kind, owner, amount } of requests.opened) if (kind === 'redeem') move(owner, amount)
  for (const { owner, before, after } of redemptions) move(owner, after.remaining - before.remaining)
  for (const [wallet, delta] of moved) if (delta !== 0n) rows.pendingChanges.push({ ...of, wallet, delta })
}

/** A payment of a whole request: its shares for what it was promised. */
function addPayment(
  { logIndex }: Withdraw,
  of: { vaultId: number; blockNumber: number; transactionIndex: number },
  redemptions: readonly ChangedRequest[],
  rows: Pick<DerivedRows, 'eventParts'>,
): void {
  const paid = redemptions.find((each) => each.logIndex === logIndex)
  if (!paid || paid.promised === null) return
  const shares = paid.before.remaining - paid.after.remaining
  addPart(rows.eventParts, { ...of, wallet: paid.owner, kind: 'withdraw', shares, untold: 0n, assets: paid.promised })
}

/** Parts of at most an amount; the rest is the owner's. */
function divide(amount: bigint, parts: ReadonlyMap<string, bigint>, owner: string): Map<string, bigint> {
  let sum = 0n
  for (const part of parts.values()) sum += part
  const divided = new Map<string, bigint>()
  const within = splitProportionally(smaller(sum, amount), [...parts.values()])
  ;[...parts.keys()].forEach((wallet, index) => {
    divided.set(wallet, within[index] ?? 0n)
  })
  if (sum < amount || parts.size === 0) divided.set(owner, (divided.get(owner) ?? 0n) + amount - smaller(sum, amount))
  return divided
}

/** Divides a claim among the wallets whose requests it consumes; shares beyond the requests were burned from a wallet. */
function divideClaim(
  event: Withdraw,
  burned: ReadonlyMap<string, bigint>,
  redemptions: readonly ChangedRequest[],
): Map<string, bigint> {
  const parts = new Map<string, bigint>()
  let beyond = event.shares
  for (const { owner, logIndex, before, after } of redemptions) {
    if (logIndex !== event.logIndex) continue
    const taken = before.remaining - after.remaining
    parts.set(owner, (parts.get(owner) ?? 0n) + taken)
    beyond -= taken
  }
  if (beyond > 0n || parts.size === 0)
    for (const [wallet, amount] of divide(beyond, burned, event.owner))
      parts.set(wallet, (parts.get(wallet) ?? 0n) + amount)
  return parts
}

/** Splits assets in proportion to shares; if all shares are zero, the first part takes all. */
function splitAssets(assets: bigint, weights: readonly bigint[]): bigint[] {
  if (weights.some((weight) => weight > 0n)) return splitProportionally(assets, weights)
  return weights.map((_, index) => (index === 0 ? assets : 0n))
}

/** Joins the parts of one wallet in several events of one transaction. */
function addPart(parts: EventPart[], part: EventPart): void {
  if (part.shares === 0n && part.untold === 0n && part.assets === 0n) return
  for (let at = parts.length - 1; at >= 0; at--) {
    const known = parts[at]
    if (!known || known.transactionIndex !== part.transactionIndex || known.vaultId !== part.vaultId) break
    if (known.wallet !== part.wallet || known.kind !== part.kind) continue
    known.shares += part.shares
    known.untold += part.untold
    known.assets += part.assets
    return
  }
  parts.push(part)
}
