import { zeroAddress } from 'viem'
import type { Credits, Strangers } from './attribution.js'
import { hasAsyncDeposit, hasAsyncRedeem } from './config.js'
import type { Credit } from './credits.js'
import { recordEntry } from './entries.js'
import type { Transfer, VaultEvent } from './events.js'
import type { Delivery, Flows } from './flows.js'
import {
  addShares,
  compareCodes,
  emptyHolder,
  type Holder,
  smaller,
  splitProportionally,
  takeProportionally,
} from './lots.js'
import {
  type CreditedPart,
  cancelRequests,
  claimRequests,
  joinBeyond,
  openRequest,
  type TakenShares,
} from './requests.js'
import { type DerivedRows, type DeriveState, holderKey, type TxPosition } from './rows.js'
import type { Settled } from './settled.js'
import type { VaultTransaction } from './transfers.js'

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
}

/** A holder, with its state before the transaction; `lots` is undefined if it had no lots. */
type HolderBefore = {
  holder: Holder
  shares: bigint
  attributed: bigint
  lots: readonly [string, bigint][] | undefined
}

/**
 * Applies one transaction to one vault. Shares that a wallet lost reduce all its lots in proportion. Shares of credited
 * deposits that it keeps go to the lots of their distributors. All other received shares are unattributed.
 */
export function deriveVaultTransaction(input: VaultInput): void {
  const { part, flows, place, rows } = input
  const [only] = part.transfers
  if (only && part.events.length === 0 && part.transfers.length === 1) {
    deriveTransfer(only, { ...input, vaultId: part.vault.id })
    return
  }
  const work: VaultContext = { ...input, received: new Map(), holders: new Map(), taken: new Map() }
  const isRequested = part.events.some(({ kind }) => kind === 'redeemRequest')
  for (const [wallet, { lost, received }] of flows.wallets) {
    if (lost > 0n) {
      const taken = isRequested ? take(work, wallet, lost) : takeProportionally(open(work, wallet), lost)
      recordCut(wallet, lost - taken, { place, vaultId: part.vault.id, rows })
    }
    if (received > 0n) work.received.set(wallet, received)
  }
  for (const event of part.events) applyEvent(event, work)
  for (const [wallet, amount] of work.received) addShares(open(work, wallet), amount, null)
  recordChanges(work)
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
  const before = [...holder.lots]
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
      if (hasAsyncRedeem(vault) && !isAtOnce(event)) applyRedemption(event, work)
      else applyWithdraw(event, work)
      return
    case 'depositRequest':
      openRequest(work, event, creditOf(work, event, event.controller))
      return
    case 'redeemRequest':
      openRequest(work, event, creditOf(work, event, event.controller), takenBy(event, work))
      return
    default:
      for (const { wallet, distributorId, amount } of cancelRequests(work, event))
        give(work, wallet, amount, distributorId)
  }
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
  const taken = work.taken.get(owner) ?? []
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
    give(work, wallet, kept, credit.distributorId)
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
      if (part.distributorId !== null) give(work, each[0], amount, part.distributorId)
    })
    const assets = kept === moved ? part.amount : (part.amount * kept) / moved
    recordEntry(work, event, { part, wallet: event.sender, assets, shares: own, id: nameOf(event, part, event.sender) })
  })
  const own = shares.at(-1) ?? 0n
  if (own === 0n) return
  const minted = splitProportionally(moved, weights).at(-1) ?? own
  creditKeepers(event, work, { moved: minted < own ? own : minted, parts: new Map(left), assets: beyond })
}

/** The part of an entry's id after its event; it names the wallet only if that is not the event's owner. */
function nameOf(event: { owner: string }, part: CreditedPart, wallet: string): string | undefined {
  if (part.distributorId === null) return undefined
  return wallet === event.owner ? part.distributorId : `${part.distributorId}:${wallet}`
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

/** Puts shares a wallet received into the lot of a distributor. */
function give(work: VaultContext, wallet: string, amount: bigint, distributorId: string): void {
  const received = work.received.get(wallet) ?? 0n
  const given = smaller(received, amount)
  if (given === 0n) return
  work.received.set(wallet, received - given)
  addShares(open(work, wallet), given, distributorId)
}

/** The holder, remembered as it was before the transaction. */
function open(work: VaultContext, wallet: string): Holder {
  const known = work.holders.get(wallet)
  if (known) return known.holder
  const opened = openHolder(work.state, work.part.vault.id, wallet)
  work.holders.set(wallet, opened)
  return opened.holder
}

function openHolder(state: DeriveState, vaultId: number, wallet: string): HolderBefore {
  const key = holderKey(vaultId, wallet)
  let holder = state.holders.get(key)
  if (holder === undefined) {
    holder = emptyHolder()
    state.holders.set(key, holder)
  }
  const { shares, attributed, lots } = holder
  return { holder, shares, attributed, lots: lots.size > 0 ? [...lots] : undefined }
}

function recordChanges({ place, part, holders, rows }: VaultContext): void {
  for (const [wallet, before] of holders) recordChange(wallet, before, { place, vaultId: part.vault.id, rows })
}

function recordChange(
  wallet: string,
  before: HolderBefore,
  to: { place: TxPosition; vaultId: number; rows: DerivedRows },
): void {
  const { holder } = before
  const { shares, attributed, lots } = holder
  const { place, vaultId, rows } = to
  const { number: blockNumber, transactionIndex, timestamp } = place
  if (shares !== before.shares || attributed !== before.attributed)
    rows.balanceChanges.push({
      vaultId,
      wallet,
      blockNumber,
      transactionIndex,
      timestamp,
      before: before.shares,
      after: shares,
      attributedBefore: before.attributed,
      attributedAfter: attributed,
    })
  if (lots.size === 0) return
  for (const [distributorId, after] of lots) {
    const had = before.lots?.find(([id]) => id === distributorId)?.[1] ?? 0n
    if (had === after) continue
    rows.lotChanges.push({
      vaultId,
      wallet,
      distributorId,
      blockNumber,
      transactionIndex,
      timestamp,
      before: had,
      after,
    })
  }
}
