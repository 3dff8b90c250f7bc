import { derivedId } from '../kernel/ids.js'
import type { Credit } from './credits.js'
import type { VaultEvent } from './events.js'
import { smaller } from './lots.js'
import { keepRequest } from './openRequests.js'
import {
  type DerivedRows,
  type DeriveState,
  type RequestLot,
  type RequestState,
  requestKey,
  type TxPosition,
} from './rows.js'
import { isSettled, type Settled } from './settled.js'
import type { VaultTransaction } from './transfers.js'

/** A part of a deposit or claim with its distributor; amounts in assets for deposits, in shares for redemptions. */
export type CreditedPart = {
  distributorId: string | null
  attribution: Credit['attribution'] | null
  amount: bigint
  isSwap: boolean
}

/** A part of a claim; `counted` is the amount for the ledger, `owner` the owner of the assets or shares that the requests took. */
export type ClaimedPart = CreditedPart & { counted: bigint; owner: string }

/** The shares that a redemption takes: their owner, the amount that the ledger counts, and the lots. */
export type TakenShares = { owner: string; counted: bigint; lots: readonly (readonly [string, bigint])[] }

export type RequestWork = {
  place: TxPosition
  part: VaultTransaction
  state: DeriveState
  rows: DerivedRows
  chainId: number
  settled: Settled
}

type Request = Extract<VaultEvent, { kind: 'depositRequest' | 'redeemRequest' }>
type Cancel = Extract<
  VaultEvent,
  { kind: 'cancelDepositRequest' | 'cancelRedeemRequest' | 'cancelDepositClaim' | 'cancelRedeemClaim' }
>

/** Opens a request lot with the distributor of its own transaction. No ledger entry. */
export function openRequest(work: RequestWork, event: Request, credit: Credit | null, taken?: TakenShares): void {
  const lot: Opened = {
    kind: event.kind === 'depositRequest' ? 'deposit' : 'redeem',
    controller: event.controller,
    owner: taken?.owner ?? event.owner,
    requestId: event.requestId,
    ...toCredited(credit),
    amount: event.amount,
    counted: taken?.counted ?? event.amount,
    lots: (taken?.lots ?? []).map(([id, amount]) => `${id}=${amount}`).join(' '),
    promised: event.promised ?? null,
    openUntil: null,
  }
  const replaced = event.replaces === undefined ? undefined : closeReplaced(work, event, event.replaces)
  if (!replaced) {
    open(work, event, lot)
    return
  }
  // The shares stay where they are: they are of the lots that they were taken from, and of their request's distributor.
  const { owner, counted, lots, distributorId, attribution, isSwap } = replaced
  const own = distributorId === null ? {} : { distributorId, attribution, isSwap }
  open(work, event, { ...lot, owner, counted, lots, ...own })
}

type Opened = Pick<RequestLot, 'kind' | 'controller' | 'owner' | 'requestId' | 'amount' | 'counted' | 'lots'> &
  Pick<RequestLot, 'distributorId' | 'attribution' | 'isSwap' | 'promised' | 'openUntil'>

function toCredited(credit: Credit | null): Pick<RequestLot, 'distributorId' | 'attribution' | 'isSwap'> {
  const { distributorId = null, attribution = null, isSwap = false } = credit ?? {}
  return { distributorId, attribution, isSwap }
}

function open({ place, part, state, rows, chainId }: RequestWork, event: VaultEvent, opened: Opened): void {
  const lot: RequestLot = {
    id: derivedId(`${chainId}:${place.hash}:${place.transactionHash}:${event.logIndex}`),
    vaultId: part.vault.id,
    ...opened,
    remaining: opened.amount,
    cancelled: 0n,
    cancelling: false,
    blockNumber: place.number,
    timestamp: place.timestamp,
    transactionIndex: place.transactionIndex,
    logIndex: event.logIndex,
    transactionHash: place.transactionHash,
  }
  rows.requests.push(lot)
  keepRequest(state, lot)
}

/** Ends a request whose shares go on with another one. */
function closeReplaced(work: RequestWork, event: Request, requestId: bigint): RequestLot | undefined {
  const lot = openLots(work, 'redeem', event.controller).find((each) => each.requestId === requestId)
  if (!lot || lot.remaining !== lot.amount || lot.amount !== event.amount) return undefined
  changeLot(work, lot, event, { remaining: 0n, cancelled: lot.amount, cancelling: false })
  forgetClosed(work, 'redeem', event.controller)
  return lot
}

type Refundable = Extract<VaultEvent, { kind: 'deposit' }>

/** Keeps whose a deposit is that may be given back: `counted` of its assets are in an entry. */
export function openRefundable(
  work: RequestWork,
  event: Refundable & { refundable: NonNullable<Refundable['refundable']> },
  credit: Credit | null,
  counted: bigint,
): void {
  open(work, event, {
    ...{
      kind: 'refund',
      controller: event.owner,
      owner: event.owner,
      requestId: event.refundable.nonce,
      ...toCredited(credit),
    },
    ...{ amount: event.assets, counted, lots: '', promised: null, openUntil: event.refundable.until },
  })
}

/** The deposit that an event gives back; undefined where it was not seen, or is given back already. */
export function findRefundable(work: RequestWork, event: VaultEvent): RequestLot | undefined {
  if (event.kind !== 'withdraw' || event.refunds === undefined) return undefined
  return openLots(work, 'refund', event.owner).find(({ requestId }) => requestId === event.refunds)
}

/** Ends a deposit that is given back. */
export function closeRefundable(work: RequestWork, event: VaultEvent): RequestLot | undefined {
  const lot = findRefundable(work, event)
  if (!lot) return undefined
  changeLot(work, lot, event, { ...stateOf(lot), remaining: 0n })
  forgetClosed(work, 'refund', lot.controller)
  return lot
}

/** Ends the request that an event pays in whole. Undefined where it was not seen. */
export function payRequest(
  work: RequestWork,
  event: Extract<VaultEvent, { kind: 'withdraw' }>,
): { part: ClaimedPart; promised: bigint | null } | undefined {
  const lot = openLots(work, 'redeem', event.owner).find(({ requestId }) => requestId === event.pays)
  if (!lot) return undefined
  const parts = new Map<string, ClaimedPart>()
  addPart(parts, lot, lot.remaining, null)
  changeLot(work, lot, event, { ...stateOf(lot), remaining: 0n })
  forgetClosed(work, 'redeem', event.owner)
  const [part] = parts.values()
  return part && { part, promised: lot.promised }
}

type ClaimedFrom = {
  kind: 'deposit' | 'redeem'
  controller: string
  event: VaultEvent & { assets: bigint; shares: bigint }
  amount: bigint
  credit: Credit | null
}

/**
 * Consumes a controller's requests. Returns one part per distributor and owner of redeemed shares, in order of first
 * appearance. If the vault's own figures are known, each id loses the amount that they show, the lowest id first; otherwise
 * the oldest request is consumed first. `beyond` is the amount that no request covers. A request without a distributor
 * belongs to the claim's own credit.
 */
export function claimRequests(work: RequestWork, claim: ClaimedFrom): { parts: ClaimedPart[]; beyond: bigint } {
  const { kind, controller, event, credit } = claim
  const parts = new Map<string, ClaimedPart>()
  const open = openLots(work, kind, controller)
  const known = work.settled.get(requestKey(work.part.vault.id, kind, controller))
  const { amounts: lost, emptied } =
    known && isSettled(open, known) ? known : { amounts: undefined, emptied: undefined }
  if (lost) open.sort((a, b) => (a.requestId < b.requestId ? -1 : a.requestId > b.requestId ? 1 : 0))
  let beyond = claim.amount
  for (const lot of open) {
    // Vaults round their figures: an id that is empty lost everything.
    const isEmptied = emptied?.has(lot.requestId) === true
    const most = lost && !isEmptied ? smaller(lost.get(lot.requestId) ?? 0n, beyond) : beyond
    const taken = smaller(lot.remaining, most)
    if (taken === 0n) continue
    lost?.set(lot.requestId, (lost.get(lot.requestId) ?? 0n) - taken)
    beyond -= taken
    addPart(parts, lot, taken, credit)
    const left = lot.remaining - taken
    // A rest worth less than one share cannot be claimed. A claim without shares does not show the worth of a share.
    const isDust = kind === 'deposit' && event.shares > 0n && left * event.shares < event.assets
    changeLot(work, lot, event, { ...stateOf(lot), remaining: isDust ? 0n : left })
  }
  forgetClosed(work, kind, controller)
  return { parts: [...parts.values()], beyond }
}

function addPart(parts: Map<string, ClaimedPart>, lot: RequestLot, amount: bigint, credit: Credit | null): void {
  const by = lot.distributorId === null ? credit : lot
  const distributorId = by?.distributorId ?? null
  const attribution = by?.attribution ?? null
  const isSwap = lot.distributorId !== null && lot.isSwap
  const owner = lot.kind === 'redeem' ? lot.owner : ''
  const counted = lot.amount === 0n ? 0n : (amount * lot.counted) / lot.amount
  const key = `${distributorId ?? ''} ${owner}`
  const known = parts.get(key)
  if (!known) {
    parts.set(key, { distributorId, attribution, amount, counted, owner, isSwap })
    return
  }
  known.counted += counted
  joinParts(known, { attribution, amount, isSwap })
}

/** Adds another part of the same distributor: an entry has the weakest attribution of its parts. */
export function joinParts(known: CreditedPart, more: Omit<CreditedPart, 'distributorId'>): void {
  known.amount += more.amount
  known.attribution = weakest(known.attribution, more.attribution)
  known.isSwap ||= more.isSwap
}

/**
 * Adds the amount beyond all requests to the part of its distributor, if one distributor brought it to all its keepers and
 * has a part. Returns the rest.
 */
export function joinBeyond(
  parts: readonly CreditedPart[],
  beyond: bigint,
  [first, ...others]: readonly (Credit | null)[],
): bigint {
  if (beyond === 0n || !first) return beyond
  if (others.some((other) => other?.distributorId !== first.distributorId)) return beyond
  const known = parts.find(({ distributorId }) => distributorId === first.distributorId)
  if (!known) return beyond
  joinParts(known, { attribution: first.attribution, amount: beyond, isSwap: first.isSwap })
  return 0n
}

/**
 * A cancellation marks the requests it names. Its claim returns the pending amounts of these, the newest first, because the
 * oldest may already be claimable, and only then those of later requests. Returns the lots that come back.
 */
export function cancelRequests(work: RequestWork, event: VaultEvent): Returned[] {
  if (!isCancel(event)) return []
  const kind = event.kind === 'cancelDepositRequest' || event.kind === 'cancelDepositClaim' ? 'deposit' : 'redeem'
  const lots = openLots(work, kind, event.controller).filter((lot) => lot.requestId === event.requestId)
  if (!('amount' in event)) {
    for (const lot of lots) if (!lot.cancelling) changeLot(work, lot, event, { ...stateOf(lot), cancelling: true })
    return []
  }
  const returned: Returned[] = []
  let left = event.amount
  const marked = lots.filter((lot) => lot.cancelling)
  const others = lots.filter((lot) => !lot.cancelling)
  for (const lot of [...marked.reverse(), ...others.reverse()]) {
    const taken = smaller(lot.remaining, left)
    const after = { remaining: lot.remaining - taken, cancelled: lot.cancelled + taken, cancelling: false }
    if (lot.owner === event.receiver && taken > 0n) returned.push(listReturned(lot, taken))
    if (taken > 0n || lot.cancelling) changeLot(work, lot, event, after)
    left -= taken
  }
  forgetClosed(work, kind, event.controller)
  return returned
}

/** Shares that a cancellation returns to the wallet whose lots gave them, and the part of each lot. */
export type Returned = { wallet: string; amount: bigint; lots: readonly { distributorId: string; amount: bigint }[] }

function listReturned({ owner, lots, amount, counted, cancelled }: RequestLot, taken: bigint): Returned {
  const partOf = (had: bigint) => (had * (cancelled + taken)) / amount - (had * cancelled) / amount
  const parts = lots === '' ? [] : lots.split(' ')
  return {
    ...{ wallet: owner, amount: partOf(counted) },
    lots: parts.map((part) => {
      const [distributorId = '', text = '0'] = part.split('=')
      return { distributorId, amount: partOf(BigInt(text)) }
    }),
  }
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
  // An empty list stays: it says that the controller has no open requests.
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
    kind: lot.kind,
    owner: lot.owner,
    promised: lot.promised,
    vaultId: part.vault.id,
    blockNumber: place.number,
    logIndex: event.logIndex,
    before: stateOf(lot),
    after,
  })
  Object.assign(lot, after)
}
