import { nameOf, recordEntry } from './entries.js'
import type { VaultEvent } from './events.js'
import { type Holder, smaller, takeFrom } from './lots.js'
import { closeRefundable, findRefundable, payRequest, type RequestWork } from './requests.js'

type WithdrawEvent = Extract<VaultEvent, { kind: 'withdraw' }>

/** Takes the shares of deposits that are given back from the lots of these deposits. Returns how many there were. */
export function takeRefunded(work: RequestWork, wallet: string, lost: bigint, holder: Holder): bigint {
  let taken = 0n
  for (const event of work.part.events) {
    const refunded = findRefundable(work, event)
    if (!refunded || refunded.owner !== wallet || event.kind !== 'withdraw') continue
    const { distributorId, counted } = refunded
    const of = counted > 0n ? distributorId : null
    taken += takeFrom(holder, smaller(event.shares, lost - taken), of)
  }
  return taken
}

/** A deposit that is given back is a withdrawal of its own distributor, over the assets of its entry. */
export function applyRefund(event: WithdrawEvent, work: RequestWork): void {
  const refunded = closeRefundable(work, event)
  if (!refunded || refunded.distributorId === null || refunded.counted === 0n) return
  const { distributorId, attribution, isSwap, counted: assets } = refunded
  const part = { distributorId, attribution, isSwap, amount: assets }
  const shares = (event.shares * assets) / refunded.amount
  recordEntry(work, event, { part, wallet: event.owner, assets, shares, id: nameOf(event, part, event.owner) })
}

/** Ends a redemption by paying all of one request, with what it was promised. */
export function applyPayment(event: WithdrawEvent, work: RequestWork): void {
  const paid = payRequest(work, event)
  if (!paid || paid.promised === null || paid.part.counted === 0n) return
  const { part, promised } = paid
  const assets = (promised * part.counted) / part.amount
  const id = nameOf(event, part, part.owner)
  recordEntry(work, event, { part, wallet: part.owner, assets, shares: part.counted, id })
}
