import { derivedId } from '../kernel/ids.js'
import type { Credit } from './credits.js'
import type { VaultEvent } from './events.js'
import { smaller } from './lots.js'
import {
  type DerivedRows,
  type DeriveState,
  type RequestLot,
  type RequestState,
  requestKey,
  type TxPosition,
} from './rows.js'
import type { VaultTransaction } from './transfers.js'

/** A part of a deposit or claim and who brought it; amounts in assets for deposits, in shares for redemptions. */
export type CreditedPart = {
  distributorId: string | null
  attribution: Credit['attribution'] | null
  amount: bigint
  isSwap: boolean
}

export type RequestWork = {
  place: TxPosition
  part: VaultTransaction
  state: DeriveState
  rows: DerivedRows
  chainId: number
}

type Request = Extract<VaultEvent, { kind: 'depositRequest' | 'redeemRequest' }>
type Cancel = Extract<
  VaultEvent,
  { kind: 'cancelDepositRequest' | 'cancelRedeemRequest' | 'cancelDepositClaim' | 'cancelRedeemClaim' }
>

/** Opens a request lot with the distributor of its own transaction. No ledger entry. */
export function openRequest(work: RequestWork, event: Request, credit: Credit | null): void {
  const { place, part, state, rows, chainId } = work
  const kind = event.kind === 'depositRequest' ? 'deposit' : 'redeem'
  const lot: RequestLot = {
    id: derivedId(`${chainId}:${place.hash}:${place.transactionHash}:${event.logIndex}`),
    vaultId: part.vault.id,
    kind,
    controller: event.controller,
    owner: event.owner,
    requestId: event.requestId,
    distributorId: credit?.distributorId ?? null,
    attribution: credit?.attribution ?? null,
    isSwap: credit?.isSwap ?? false,
    amount: event.amount,
    remaining: event.amount,
    cancelled: 0n,
    cancelling: false,
    blockNumber: place.number,
    timestamp: place.timestamp,
    transactionIndex: place.transactionIndex,
    logIndex: event.logIndex,
    transactionHash: place.transactionHash,
  }
  rows.requests.push(lot)
  const key = requestKey(part.vault.id, kind, event.controller)
  const lots = state.requests.get(key)
  if (lots) lots.push(lot)
  else state.requests.set(key, [lot])
}

/**
 * Consumes a controller's oldest requests first and says whose they were, one part per distributor in order of first
 * appearance. What no request covers, or whose request had no distributor, falls to the claim's own credit.
 */
export function claimRequests(
  work: RequestWork,
  claim: { kind: RequestLot['kind']; controller: string; event: VaultEvent; amount: bigint; credit: Credit | null },
): CreditedPart[] {
  const { kind, controller, event, credit } = claim
  const parts = new Map<string | null, CreditedPart>()
  let left = claim.amount
  const own = { distributorId: credit?.distributorId ?? null, attribution: credit?.attribution ?? null, isSwap: false }
  const add = (request: Pick<CreditedPart, 'distributorId' | 'attribution' | 'isSwap'>, amount: bigint) => {
    const { distributorId: id, attribution: how, isSwap } = request.distributorId === null ? own : request
    const known = parts.get(id)
    if (known) {
      known.amount += amount
      // An entry is only as good as its weakest part.
      known.attribution = weakest(known.attribution, how)
      known.isSwap ||= isSwap
    } else parts.set(id, { distributorId: id, attribution: how, amount, isSwap })
  }
  for (const lot of openLots(work, kind, controller)) {
    if (left === 0n) break
    const taken = smaller(lot.remaining, left)
    if (taken === 0n) continue
    changeLot(work, lot, event, { ...stateOf(lot), remaining: lot.remaining - taken })
    add(lot, taken)
    left -= taken
  }
  if (left > 0n || parts.size === 0) add(own, left)
  forgetClosed(work, kind, controller)
  return [...parts.values()]
}

/**
 * A cancellation marks the requests it names; its claim gives back what was still pending of these, the newest first,
 * because the oldest may already be claimable, and only then of requests made since.
 */
export function cancelRequests(work: RequestWork, event: VaultEvent): void {
  if (!isCancel(event)) return
  const kind = event.kind === 'cancelDepositRequest' || event.kind === 'cancelDepositClaim' ? 'deposit' : 'redeem'
  const lots = openLots(work, kind, event.controller).filter((lot) => lot.requestId === event.requestId)
  if (!('amount' in event)) {
    for (const lot of lots) if (!lot.cancelling) changeLot(work, lot, event, { ...stateOf(lot), cancelling: true })
    return
  }
  let left = event.amount
  const marked = lots.filter((lot) => lot.cancelling)
  const others = lots.filter((lot) => !lot.cancelling)
  for (const lot of [...marked.reverse(), ...others.reverse()]) {
    const taken = smaller(lot.remaining, left)
    const after = { remaining: lot.remaining - taken, cancelled: lot.cancelled + taken, cancelling: false }
    if (taken > 0n || lot.cancelling) changeLot(work, lot, event, after)
    left -= taken
  }
  forgetClosed(work, kind, event.controller)
}

const strengths: readonly CreditedPart['attribution'][] = [null, 'legacy', 'unsigned', 'signed']

function weakest(a: CreditedPart['attribution'], b: CreditedPart['attribution']): CreditedPart['attribution'] {
  return strengths[Math.min(strengths.indexOf(a), strengths.indexOf(b))] ?? null
}

function isCancel(event: VaultEvent): event is Cancel {
  return event.kind.startsWith('cancel')
}

function openLots({ state, part }: RequestWork, kind: RequestLot['kind'], controller: string): RequestLot[] {
  return [...(state.requests.get(requestKey(part.vault.id, kind, controller)) ?? [])]
}

/** Requests with nothing left are not looked at again. */
function forgetClosed({ state, part }: RequestWork, kind: RequestLot['kind'], controller: string): void {
  const key = requestKey(part.vault.id, kind, controller)
  // Without any left it is known that there are none.
  state.requests.set(
    key,
    (state.requests.get(key) ?? []).filter((lot) => lot.remaining > 0n),
  )
}

function stateOf({ remaining, cancelled, cancelling }: RequestLot): RequestState {
  return { remaining, cancelled, cancelling }
}

function changeLot({ place, part, rows }: RequestWork, lot: RequestLot, event: VaultEvent, after: RequestState): void {
  rows.requestChanges.push({
    requestId: lot.id,
    vaultId: part.vault.id,
    blockNumber: place.number,
    logIndex: event.logIndex,
    before: stateOf(lot),
    after,
  })
  Object.assign(lot, after)
}
