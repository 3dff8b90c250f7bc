import { zeroAddress } from 'viem'
import type { Credits, Strangers } from './attribution.js'
import { hasAsyncDeposit, hasAsyncRedeem } from './config.js'
import type { Credit } from './credits.js'
import { nameOf, recordEntry } from './entries.js'
import type { Transfer, VaultEvent } from './events.js'
import type { Delivery, Flows } from './flows.js'
import { partsOf } from './heldPots.js'
import { addShares, compareCodes, type Holder, smaller, splitProportionally, takeProportionally } from './lots.js'
import { type HolderBefore, openHolder, recordChange } from './positionRows.js'
import { openPot, recordPots } from './pots.js'
import {
  type CreditedPart,
  cancelRequests,
  claimRequests,
  joinBeyond,
  openRefundable,
  openRequest,
  type Returned,
  type TakenShares,
} from './requests.js'
import type { DerivedRows, DeriveState, TxPosition } from './rows.js'
import type { Settled } from './settled.js'
import type { VaultTransaction } from './transfers.js'
import { applyPayment, applyRefund, takeRefunded } from './wholeRequests.js'

export type VaultInput = {
  chainId: number
  place: TxPosition
  part: VaultTransaction
  flows: Flows
  credits: Credits
  /** Wallets that keep nothing of an event. */
  strangers: Strangers
  state: DeriveState
  rows: DerivedRows
  settled: Settled
}

type VaultContext = VaultInput & {
  /** Shares that each wallet received and no distributor brought. */
  received: Map<string, bigint>
  holders: Map<string, HolderBefore>
  /** The lots of each wallet's lost shares; the unattributed part under null. */
  taken: Map<string, readonly (readonly [string | null, bigint])[]>
  /** The shares of each deposit in each pot that no distributor got yet. */
  marks: Map<VaultEvent, Map<string, bigint>>
}

/**
 * Applies one transaction to one vault. Shares that a wallet lost reduce all its lots in proportion. Shares of credited
 * deposits that it keeps go to the lots of their distributors. All other received shares are unattributed.
 */
export function deriveVaultTransaction(input: VaultInput): void {
  const { part, flows, place, rows } = input
  const [only] = part.transfers
  if (only && !flows.followed && part.events.length === 0 && part.transfers.length === 1) {
    deriveTransfer(only, { ...input, vaultId: part.vault.id })
    return
  }
  const marks = new Map([...flows.marks].map(([event, pots]) => [event, new Map(pots)]))
  const work: VaultContext = { ...input, received: new Map(), holders: new Map(), taken: new Map(), marks }
  const isRequested = part.events.some(({ kind }) => kind === 'redeemRequest')
  const carrying = new Set(flows.carries.map(({ from }) => from))
  const short = new Map<string, bigint>()
  for (const [wallet, { lost, received }] of flows.wallets) {
    if (lost > 0n) {
      const isTold = isRequested || carrying.has(wallet)
      const first = takeRefunded(work, wallet, lost, open(work, wallet))
      const left = lost - first
      const taken = first + (isTold ? take(work, wallet, left) : takeProportionally(open(work, wallet), left))
      if (flows.followed?.broken.has(wallet)) short.set(wallet, lost - taken)
      else recordCut(partsOf(wallet).account, lost - taken, { place, vaultId: part.vault.id, rows })
    }
    if (received > 0n) work.received.set(wallet, received)
  }
  carry(work)
  for (const event of part.events) applyEvent(event, work)
  for (const [wallet, amount] of work.received) addShares(open(work, wallet), amount, null)
  recordChanges(work, short)
}

/** Moves shares between pots of one account, with their part of the lots that they were taken from. */
function carry(work: VaultContext): void {
  for (const { from, to, amount } of work.flows.carries) {
    const taken = work.taken.get(from) ?? []
    const had = taken.reduce((sum, [, each]) => sum + each, 0n)
    const parts = splitProportionally(
      smaller(amount, had),
      taken.map(([, each]) => each),
    )
    work.taken.set(
      from,
      taken.map(([id, each], index) => [id, each - (parts[index] ?? 0n)] as const),
    )
    taken.forEach(([id], index) => {
      addShares(open(work, to), parts[index] ?? 0n, id)
    })
    addShares(open(work, to), amount - smaller(amount, had), null)
  }
}

/** The most common transaction, one Transfer and nothing else, without the bookkeeping of the others. */
export function deriveTransfer(
  { from, to, amount }: Transfer,
  { place, vaultId, state, rows }: { place: TxPosition; vaultId: number; state: DeriveState; rows: DerivedRows },
): void {
  if (from === to || amount === 0n) return
  const record = { place, vaultId, rows }
  if (to !== zeroAddress) {
    const opened = openHolder(state, vaultId, to)
    addShares(opened.holder, amount, null)
    recordChange(to, opened, record)
  }
  if (from === zeroAddress) return
  const opened = openHolder(state, vaultId, from)
  recordCut(from, amount - takeProportionally(opened.holder, amount), record)
  recordChange(from, opened, record)
}

/** Records the part of a move that exceeds the wallet's known balance. */
function recordCut(
  wallet: string,
  amount: bigint,
  { place, vaultId, rows }: { place: TxPosition; vaultId: number; rows: DerivedRows },
): void {
  const { number: blockNumber, transactionIndex } = place
  if (amount > 0n) rows.cutMoves.push({ vaultId, wallet, blockNumber, transactionIndex, amount })
}

function take(work: VaultContext, wallet: string, lost: bigint): bigint {
  const holder = open(work, wallet)
  const before = [...holder.lots].sort(([a], [b]) => compareCodes(a, b))
  const attributed = holder.attributed
  const all = takeProportionally(holder, lost)
  const lots = before.map(([id, had]) => [id, had - (holder.lots.get(id) ?? 0n)] as const)
  work.taken.set(wallet, [...lots, [null, all - (attributed - holder.attributed)] as const])
  return all
}

function applyEvent(event: VaultEvent, work: VaultContext): void {
  const { vault } = work.part
  switch (event.kind) {
    case 'deposit':
      if (hasAsyncDeposit(vault) && !isAtOnce(event)) applyClaim(event, work)
      else applyDeposit(event, work)
      return
    case 'withdraw':
      if (event.refunds !== undefined) applyRefund(event, work)
      else if (event.pays !== undefined) applyPayment(event, work)
      else if (hasAsyncRedeem(vault) && !isAtOnce(event)) applyRedemption(event, work)
      else applyWithdraw(event, work)
      return
    case 'depositRequest':
      openRequest(work, event, creditOf(work, event, event.controller))
      return
    case 'redeemRequest':
      openRequest(work, event, creditOf(work, event, event.controller), takenBy(event, work))
      return
    default:
      for (const returned of cancelRequests(work, event)) giveBack(work, returned)
  }
}

/** Shares that come back are of the lots that they were of; where the wallet has sent some of them on, in proportion. */
function giveBack(work: VaultContext, { wallet, amount, lots }: Returned): void {
  const kept = smaller(receivedBy(work, wallet), amount)
  const weights = lots.map((lot) => lot.amount)
  const rest = amount - sumOf(weights)
  const parts = kept === amount ? weights : splitProportionally(kept, [...weights, rest > 0n ? rest : 0n])
  lots.forEach(({ distributorId }, index) => {
    give(work, wallet, parts[index] ?? 0n, distributorId)
  })
}

/** The shares that a wallet received and no distributor brought yet, in all its pots. */
function receivedBy({ received, flows: { followed } }: VaultContext, wallet: string): bigint {
  if (!followed) return received.get(wallet) ?? 0n
  return sumOf([...received].flatMap(([pot, amount]) => (followed.ownerOf(pot) === wallet ? [amount] : [])))
}

/** Whether an event of an asynchronous vault completes at once, without a request. */
function isAtOnce(event: VaultEvent): boolean {
  return 'atOnce' in event && event.atOnce === true
}

/** The shares, held before, that a redemption request takes, less netted ones. Undefined without a Transfer: it takes all. */
function takenBy(event: RequestEvent, work: VaultContext): TakenShares | undefined {
  const { moved, parts } = deliveryOf(work, event)
  if (moved === 0n) return undefined
  const [largest] = [...parts].sort(([a, x], [b, y]) => (x === y ? compareCodes(a, b) : x < y ? 1 : -1))
  const owner = largest?.[0] ?? event.owner
  const taken = listTaken(work, owner)
  const shares = splitProportionally(
    largest?.[1] ?? 0n,
    taken.map(([, amount]) => amount),
  )
  const lots = taken.flatMap(([id], index) => {
    const amount = shares[index] ?? 0n
    return id === null || amount === 0n ? [] : [[id, amount] as const]
  })
  return { owner, counted: smaller((event.amount * sumOf(parts.values())) / moved, event.amount), lots }
}

/** The lots of the shares that all pots of an account lost. */
function listTaken({ taken, flows }: VaultContext, owner: string): readonly (readonly [string | null, bigint])[] {
  if (!flows.followed) return taken.get(owner) ?? []
  return [...taken].flatMap(([pot, lots]) => (flows.followed?.ownerOf(pot) === owner ? lots : []))
}

function creditOf({ credits }: VaultContext, event: VaultEvent, wallet: string): Credit | null {
  return credits.get(event)?.get(wallet) ?? null
}

function toPart(credit: Credit, amount: bigint): CreditedPart {
  return { ...credit, amount }
}

type DepositEvent = Extract<VaultEvent, { kind: 'deposit' }>
type WithdrawEvent = Extract<VaultEvent, { kind: 'withdraw' }>
type RequestEvent = Extract<VaultEvent, { kind: 'redeemRequest' | 'depositRequest' }>

/** Credits the shares that each wallet keeps of a deposit to the distributor of that wallet. */
function applyDeposit(event: DepositEvent, work: VaultContext): void {
  const { moved, parts } = deliveryOf(work, event)
  if (moved > 0n) creditKeepers(event, work, { moved, parts, assets: event.assets })
  const { refundable } = event
  if (refundable === undefined) return
  const kept = moved > 0n ? (splitAssets(event.assets, moved, parts).get(event.owner) ?? 0n) : 0n
  openRefundable(work, { ...event, refundable }, kept > 0n ? creditOf(work, event, event.owner) : null, kept)
}

function creditKeepers(
  event: DepositEvent,
  work: VaultContext,
  { moved, parts, assets: all }: Delivery & { assets: bigint },
): void {
  const amounts = splitAssets(all, moved, parts)
  for (const [wallet, kept] of parts) {
    const credit = creditOf(work, event, wallet)
    if (!credit) continue
    give(work, wallet, kept, credit.distributorId, event)
    const assets = amounts.get(wallet) ?? 0n
    const id = wallet === event.owner ? undefined : `${credit.distributorId}:${wallet}`
    recordEntry(work, event, { part: toPart(credit, assets), wallet, assets, shares: kept, id })
  }
}

/** Each wallet's part, rounded down; where all is kept the largest part (ties: lower address) takes the remainder. */
function splitAssets(assets: bigint, minted: bigint, parts: ReadonlyMap<string, bigint>): Map<string, bigint> {
  const amounts = new Map([...parts].map(([wallet, kept]) => [wallet, (assets * kept) / minted]))
  if (sumOf(parts.values()) !== minted) return amounts
  const [largest] = [...parts].sort(([a, x], [b, y]) => (x === y ? compareCodes(a, b) : x < y ? 1 : -1))
  if (largest) amounts.set(largest[0], (amounts.get(largest[0]) ?? 0n) + assets - sumOf(amounts.values()))
  return amounts
}

function sumOf(amounts: Iterable<bigint>): bigint {
  let sum = 0n
  for (const amount of amounts) sum += amount
  return sum
}

/**
 * Credits a claim to the distributors of the requests it consumes; its own code counts only for requests without a
 * distributor. The amount beyond all requests is a deposit of its own.
 */
function applyClaim(event: DepositEvent, work: VaultContext): void {
  const { moved, parts: keepers } = deliveryOf(work, event)
  const credit = creditOf(work, event, event.owner)
  const claim = { kind: 'deposit', controller: event.sender, event, amount: event.assets, credit } as const
  const { parts, beyond: more } = claimRequests(work, claim)
  const kept = sumOf(keepers.values())
  if (moved === 0n || kept === 0n) return
  if (parts.length === 0) {
    applyDeposit(event, work)
    return
  }
  const beyond = joinBeyond(
    parts,
    more,
    [...keepers.keys()].map((wallet) => creditOf(work, event, wallet)),
  )
  const weights = [...parts.map(({ amount }) => amount), beyond]
  const shares = splitProportionally(kept, weights)
  const left = [...keepers].sort(([a], [b]) => compareCodes(a, b))
  parts.forEach((part, index) => {
    const own = shares[index] ?? 0n
    const given = splitProportionally(
      own,
      left.map(([, amount]) => amount),
    )
    left.forEach((each, at) => {
      const amount = given[at] ?? 0n
      each[1] -= amount
      if (part.distributorId !== null) give(work, each[0], amount, part.distributorId, event)
    })
    const assets = kept === moved ? part.amount : (part.amount * kept) / moved
    recordEntry(work, event, { part, wallet: event.sender, assets, shares: own, id: nameOf(event, part, event.sender) })
  })
  const own = shares.at(-1) ?? 0n
  if (own === 0n) return
  const minted = splitProportionally(moved, weights).at(-1) ?? own
  creditKeepers(event, work, { moved: minted < own ? own : minted, parts: new Map(left), assets: beyond })
}

/** Credits the shares that each wallet lost in a withdrawal. This has no effect on the lots. */
function applyWithdraw(event: WithdrawEvent, work: VaultContext): void {
  const { moved, parts } = deliveryOf(work, event)
  creditLosers(event, work, { moved, parts, assets: event.assets })
}

function creditLosers(
  event: WithdrawEvent,
  work: VaultContext,
  { moved, parts, assets: all }: Delivery & { assets: bigint },
): void {
  for (const [wallet, lost] of parts) {
    const credit = creditOf(work, event, wallet)
    if (!credit) continue
    const assets = (all * lost) / moved
    const id = wallet === event.owner ? undefined : `${credit.distributorId}:${wallet}`
    recordEntry(work, event, { part: toPart(credit, assets), wallet, assets, shares: lost, id })
  }
}

/**
 * Ends a redemption whose shares left with its request: credits the wallets that the shares came from. Shares that it burns
 * beyond all requests are a withdrawal of their own.
 */
function applyRedemption(event: WithdrawEvent, work: VaultContext): void {
  const claim = { kind: 'redeem', controller: event.owner, event, amount: event.shares, credit: null } as const
  const { parts, beyond } = claimRequests(work, claim)
  const assets = splitProportionally(event.assets, [...parts.map(({ amount }) => amount), beyond])
  parts.forEach((part, index) => {
    if (part.counted === 0n) return
    const own = ((assets[index] ?? 0n) * part.counted) / part.amount
    const id = nameOf(event, part, part.owner)
    recordEntry(work, event, { part, wallet: part.owner, assets: own, shares: part.counted, id })
  })
  const burned = deliveryOf(work, event)
  const most = sumOf(burned.parts.values())
  if (beyond === 0n || most === 0n) return
  const within = (amount: bigint) => (most <= beyond ? amount : (amount * beyond) / most)
  const own = new Map([...burned.parts].map(([wallet, lost]) => [wallet, within(lost)]))
  const moved = within(burned.moved)
  if (moved > 0n) creditLosers(event, work, { moved, parts: own, assets: assets.at(-1) ?? 0n })
}

const nothingMoved: Delivery = { moved: 0n, parts: new Map() }

function deliveryOf({ flows, strangers }: VaultContext, event: VaultEvent): Delivery {
  const delivery = flows.deliveries.get(event) ?? nothingMoved
  const out = strangers.get(event)
  if (!out) return delivery
  return { ...delivery, parts: new Map([...delivery.parts].filter(([wallet]) => !out.has(wallet))) }
}

/** Puts shares a wallet received into the lot of a distributor: those of an event where they lie, in whichever pot. */
function give(work: VaultContext, wallet: string, amount: bigint, distributorId: string, event?: VaultEvent): void {
  const followed = work.flows.followed
  if (!followed) {
    givePot(work, wallet, amount, distributorId)
    return
  }
  const marked = event && work.marks.get(event)
  let left = amount
  for (const pot of marked ? [...marked.keys()] : [...work.received.keys()]) {
    if (followed.ownerOf(pot) !== wallet) continue
    const given = givePot(work, pot, smaller(left, marked?.get(pot) ?? left), distributorId)
    marked?.set(pot, (marked.get(pot) ?? 0n) - given)
    left -= given
  }
}

function givePot(work: VaultContext, pot: string, amount: bigint, distributorId: string): bigint {
  const received = work.received.get(pot) ?? 0n
  const given = smaller(received, amount)
  if (given === 0n) return 0n
  work.received.set(pot, received - given)
  addShares(open(work, pot), given, distributorId)
  return given
}

/** The holder, remembered as it was before the transaction. */
function open(work: VaultContext, wallet: string): Holder {
  const known = work.holders.get(wallet)
  if (known) return known.holder
  const { followed } = work.flows
  const opened = followed ? openPot(work, wallet, followed) : openHolder(work.state, work.part.vault.id, wallet)
  work.holders.set(wallet, opened)
  return opened.holder
}

/** Records what the transaction changed, and who counts for it. */
function recordChanges(work: VaultContext, short: ReadonlyMap<string, bigint>): void {
  const { place, part, holders, rows, flows } = work
  if (flows.followed) recordPots(work, flows.followed, short)
  else for (const [wallet, before] of holders) recordChange(wallet, before, { place, vaultId: part.vault.id, rows })
}
