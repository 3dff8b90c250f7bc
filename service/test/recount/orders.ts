import { least } from './bytes.js'
import type { Credit } from './credit.js'
import type { EntryPart } from './entries.js'
import type { Holding } from './lots.js'
import type { Refundable, Request } from './requests.js'
import type { Told } from './types.js'

type Deposit = Extract<Told, { kind: 'deposit' }>
type Withdraw = Extract<Told, { kind: 'withdraw' }>
export type Refundables = Map<string, Refundable>

const nameOf = (vaultId: number, nonce: bigint): string => `${vaultId}:${nonce}`

/** A deposit that may be given back: whose it is, and how much of its assets its owner's entry has. */
export function noteRefundable(
  event: Deposit,
  { decisions }: Credit,
  parts: readonly { wallet: string; assets: bigint }[],
  refundables: Refundables,
): void {
  if (event.refundable === undefined) return
  const { vaultId, owner, assets, refundable } = event
  const counted = parts.filter(({ wallet }) => wallet === owner).reduce((sum, part) => sum + part.assets, 0n)
  const decision = counted > 0n ? decisions.get(owner) : undefined
  const { distributorId = null, attribution = null, isSwap = false } = decision ?? {}
  const of = { owner, assets, counted, until: refundable.until, distributorId, attribution, isSwap }
  refundables.set(nameOf(vaultId, refundable.nonce), of)
}

/** What an event gives back: nothing where that was not seen, is given back, or was later than could be. */
function findRefunded(event: Told, refundables: Refundables, timestamp: number): Refundable | undefined {
  if (event.kind !== 'withdraw' || event.refunds === undefined) return undefined
  const found = refundables.get(nameOf(event.vaultId, event.refunds))
  return found?.owner === event.owner && BigInt(timestamp) <= found.until ? found : undefined
}

/** SEMANTICS §3a: the lots of deposits that are given back go first; as much as is in them. Returns what they gave. */
export function takeRefunded(
  wallet: string,
  holding: Holding,
  lost: bigint,
  events: readonly Told[],
  refundables: Refundables,
  timestamp: number,
): bigint {
  let left = lost
  for (const event of events) {
    const found = findRefunded(event, refundables, timestamp)
    if (!found || found.owner !== wallet || event.kind !== 'withdraw') continue
    const { distributorId: name } = found
    const attributed = [...holding.lots.values()].reduce((sum, lot) => sum + lot, 0n)
    const lot = name === null ? holding.shares - attributed : (holding.lots.get(name) ?? 0n)
    const part = least(least(event.shares, left), lot)
    if (name !== null) holding.lots.set(name, lot - part)
    holding.shares -= part
    left -= part
  }
  return lost - left
}

/** A deposit that is given back is a withdrawal of its distributor over the same assets, once. */
export function giveDepositBack(event: Withdraw, refundables: Refundables, timestamp: number): EntryPart[] {
  const found = findRefunded(event, refundables, timestamp)
  if (!found) return []
  refundables.delete(nameOf(event.vaultId, event.refunds!))
  const { owner: wallet, counted: assets, distributorId, attribution, isSwap } = found
  if (distributorId === null || attribution === null) return []
  const shares = (event.shares * assets) / found.assets
  return [{ distributorId, attribution, isSwap, ofRequest: true, wallet, assets, shares }]
}

const findOpen = (requests: readonly Request[], vaultId: number, controller: string, id: bigint): Request | undefined =>
  requests.find(
    (each) =>
      each.vaultId === vaultId &&
      each.kind === 'redeem' &&
      each.controller === controller &&
      each.requestId === id &&
      each.remaining > 0n,
  )

/** A solved order is the claim of its request, of all of it, for what was promised. */
export function payOrder(event: Withdraw, requests: readonly Request[]): EntryPart[] {
  const request = findOpen(requests, event.vaultId, event.owner, event.pays!)
  if (!request) return []
  request.remaining = 0n
  const { distributorId, attribution, isSwap, owner: wallet, counted: shares, amount, promised } = request
  if (distributorId === null || promised === undefined) return []
  const assets = (promised * shares) / amount
  return [{ distributorId, attribution: attribution!, isSwap, ofRequest: true, wallet, assets, shares }]
}

/** An order that replaces another goes on with what that took, and is of its distributor. The other one ends. */
export function replaceOrder(event: Told, request: Request, requests: readonly Request[]): void {
  if (event.kind !== 'redeemRequest' || event.replaces === undefined) return
  const old = findOpen(requests, event.vaultId, event.controller, event.replaces)
  if (!old) return
  old.cancelled = old.remaining
  old.remaining = 0n
  const { owner, counted, taken, distributorId, attribution, isSwap } = old
  Object.assign(request, { owner, counted, taken })
  if (distributorId !== null) Object.assign(request, { distributorId, attribution, isSwap })
}
