import { derivedId } from '../kernel/ids.js'
import type { Credit } from './attribution.js'
import { hasAsyncDeposit, hasAsyncRedeem } from './config.js'
import { type Transfer, type VaultEvent, zeroAddress } from './events.js'
import {
  addShares,
  compareCodes,
  emptyHolder,
  type Holder,
  smaller,
  splitProportionally,
  takeFromLot,
  takeProportionally,
} from './lots.js'
import type { Flows, VaultTransaction } from './netChanges.js'
import { cancelRequests, claimRequests, openRequest, type Part } from './requests.js'
import { type DerivedRows, type DeriveState, holderKey } from './rows.js'

/** Where in the chain a transaction lies. */
export type Place = {
  number: number
  hash: string
  timestamp: number
  transactionHash: string
  transactionIndex: number
}

export type VaultInput = {
  chainId: number
  place: Place
  part: VaultTransaction
  flows: Flows
  credits: ReadonlyMap<VaultEvent, Credit>
  state: DeriveState
  rows: DerivedRows
}

type Work = VaultInput & {
  /** Net gain of each wallet that no attributed deposit has claimed yet, and net loss not yet taken from lots. */
  gains: Map<string, bigint>
  losses: Map<string, bigint>
  holders: Map<string, Opened>
  /** Attributed shares the owner did not keep, and what owners of deposits nobody brought keep of those. */
  passedOn: { amount: bigint; distributorId: string }[]
  unattributed: Map<string, bigint>
}

/** A holder and what it was before the transaction; `lots` is undefined when it had none. */
type Opened = { holder: Holder; shares: bigint; attributed: bigint; lots: readonly [string, bigint][] | undefined }

/**
 * Applies one transaction to one vault: events in the order of the logs first move what they attribute, then every other
 * gain is unattributed and every other loss reduces all lots in proportion.
 */
export function deriveVaultTransaction(input: VaultInput): void {
  const { part, flows } = input
  const [only] = part.transfers
  if (only && part.events.length === 0 && part.transfers.length === 1) {
    deriveTransfer(only, { ...input, vaultId: part.vault.id })
    return
  }
  const work: Work = {
    ...input,
    gains: new Map(),
    losses: new Map(),
    holders: new Map(),
    passedOn: [],
    unattributed: new Map(),
  }
  for (const [wallet, change] of flows.net) {
    if (change > 0n) work.gains.set(wallet, change)
    else work.losses.set(wallet, -change)
  }
  for (const event of part.events) applyEvent(event, work)
  for (const { amount, distributorId } of work.passedOn) giveToOthers(work, amount, distributorId)
  for (const [wallet, gain] of work.gains) addShares(open(work, wallet), gain, null)
  for (const [wallet, loss] of work.losses) takeProportionally(open(work, wallet), loss)
  recordChanges(work)
}

/** The most common transaction, one Transfer and nothing else, without the bookkeeping of the others. */
export function deriveTransfer(
  { from, to, amount }: Transfer,
  { place, vaultId, state, rows }: { place: Place; vaultId: number; state: DeriveState; rows: DerivedRows },
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
  takeProportionally(opened.holder, amount)
  recordChange(from, opened, record)
}

function applyEvent(event: VaultEvent, work: Work): void {
  const { vault } = work.part
  const credit = work.credits.get(event) ?? null
  switch (event.kind) {
    case 'deposit': {
      const parts = hasAsyncDeposit(vault)
        ? claimRequests(work, { kind: 'deposit', controller: event.sender, event, amount: event.assets, credit })
        : [toPart(credit, event.assets)]
      applyDeposit(event, parts, work)
      return
    }
    case 'withdraw': {
      if (!hasAsyncRedeem(vault)) {
        applyWithdraw(event, credit, work)
        return
      }
      const parts = claimRequests(work, {
        kind: 'redeem',
        controller: event.owner,
        event,
        amount: event.shares,
        credit: null,
      })
      const assets = splitProportionally(
        event.assets,
        parts.map(({ amount }) => amount),
      )
      parts.forEach((part, index) => {
        recordEntry(work, event, {
          part,
          wallet: event.owner,
          assets: assets[index] ?? 0n,
          shares: part.amount,
          split: true,
        })
      })
      return
    }
    case 'depositRequest':
      openRequest(work, event, credit)
      return
    case 'redeemRequest': {
      openRequest(work, event, credit)
      const sent = work.flows.sent(event, event.owner)
      if (credit) takeFirst(work, event.owner, sent, credit.distributorId)
      return
    }
    default:
      cancelRequests(work, event)
  }
}

function toPart(credit: Credit | null, amount: bigint): Part {
  return credit === null ? { distributorId: null, attribution: null, amount, isSwap: false } : { ...credit, amount }
}

type DepositEvent = Extract<VaultEvent, { kind: 'deposit' }>
type WithdrawEvent = Extract<VaultEvent, { kind: 'withdraw' }>

function applyDeposit(event: DepositEvent, parts: readonly Part[], work: Work): void {
  const isClaim = hasAsyncDeposit(work.part.vault)
  const weights = parts.map(({ amount }) => amount)
  // A deposit of nothing that still delivers shares has no proportion to split by: all is the first part's.
  const split = (amount: bigint) =>
    weights.every((weight) => weight === 0n)
      ? weights.map((_, i) => (i === 0 ? amount : 0n))
      : splitProportionally(amount, weights)
  const { minted, kept } = work.flows.deliveries.get(event) ?? { minted: 0n, kept: 0n }
  const delivered = split(minted)
  const shares = split(event.shares)
  parts.forEach((part, index) => {
    const amount = delivered[index] ?? 0n
    if (part.distributorId === null) {
      work.unattributed.set(event.owner, (work.unattributed.get(event.owner) ?? 0n) + smaller(amount, kept))
      return
    }
    const given = giveGain(work, event.owner, amount, part.distributorId)
    if (given < amount) work.passedOn.push({ amount: amount - given, distributorId: part.distributorId })
    const wallet = isClaim ? event.sender : event.owner
    recordEntry(work, event, { part, wallet, assets: part.amount, shares: shares[index] ?? 0n, split: isClaim })
  })
}

function applyWithdraw(event: WithdrawEvent, credit: Credit | null, work: Work): void {
  const sent = work.flows.sent(event, event.owner)
  if (credit === null) return
  takeFirst(work, event.owner, sent, credit.distributorId)
  const part = toPart(credit, event.shares)
  recordEntry(work, event, { part, wallet: event.owner, assets: event.assets, shares: event.shares, split: false })
}

/**
 * Minted shares go to those who end the transaction with them: the owners first, each up to its net gain, then other
 * gainers in proportion. What an owner keeps of its own deposit, though nobody brought that, is no other's.
 */
function giveToOthers(work: Work, amount: bigint, distributorId: string): void {
  const others = [...work.gains]
    .map(([wallet, gain]) => [wallet, gain - (work.unattributed.get(wallet) ?? 0n)] as const)
    .filter(([, gain]) => gain > 0n)
    .sort(([a], [b]) => compareCodes(a, b))
  const total = others.reduce((sum, [, gain]) => sum + gain, 0n)
  const given = splitProportionally(
    smaller(amount, total),
    others.map(([, gain]) => gain),
  )
  others.forEach(([wallet], index) => {
    giveGain(work, wallet, given[index] ?? 0n, distributorId)
  })
}

function giveGain(work: Work, wallet: string, amount: bigint, distributorId: string): bigint {
  const gain = work.gains.get(wallet) ?? 0n
  const given = smaller(gain, amount)
  if (given === 0n) return 0n
  work.gains.set(wallet, gain - given)
  addShares(open(work, wallet), given, distributorId)
  return given
}

/** An attributed withdrawal takes from its distributor's lot first. */
function takeFirst(work: Work, wallet: string, amount: bigint, distributorId: string): void {
  const loss = work.losses.get(wallet) ?? 0n
  const most = smaller(loss, amount)
  if (most === 0n) return
  work.losses.set(wallet, loss - takeFromLot(open(work, wallet), most, distributorId))
}

/** The holder, remembered as it was before the transaction. */
function open(work: Work, wallet: string): Holder {
  const known = work.holders.get(wallet)
  if (known) return known.holder
  const opened = openHolder(work.state, work.part.vault.id, wallet)
  work.holders.set(wallet, opened)
  return opened.holder
}

function openHolder(state: DeriveState, vaultId: number, wallet: string): Opened {
  const key = holderKey(vaultId, wallet)
  let holder = state.holders.get(key)
  if (holder === undefined) {
    holder = emptyHolder()
    state.holders.set(key, holder)
  }
  const { shares, attributed, lots } = holder
  return { holder, shares, attributed, lots: lots.size > 0 ? [...lots] : undefined }
}

function recordChanges({ place, part, holders, rows }: Work): void {
  for (const [wallet, before] of holders) recordChange(wallet, before, { place, vaultId: part.vault.id, rows })
}

function recordChange(wallet: string, before: Opened, to: { place: Place; vaultId: number; rows: DerivedRows }): void {
  const { holder } = before
  const { shares, attributed, lots } = holder
  const { place, vaultId, rows } = to
  const { number: blockNumber, transactionIndex, timestamp } = place
  holder.firstBlock ??= blockNumber
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
    holder.lotBlocks ??= new Map()
    if (!holder.lotBlocks.has(distributorId)) holder.lotBlocks.set(distributorId, blockNumber)
  }
}

function recordEntry(
  { place, part: { vault }, rows, chainId }: Work,
  event: VaultEvent,
  entry: { part: Part; wallet: string; assets: bigint; shares: bigint; split: boolean },
): void {
  const { distributorId, attribution, isSwap } = entry.part
  if (distributorId === null || attribution === null || 'isOtherToken' in event) return
  const name = `${chainId}:${place.hash}:${place.transactionHash}:${event.logIndex}`
  rows.interactions.push({
    id: derivedId(entry.split ? `${name}:${distributorId}` : name),
    vaultId: vault.id,
    kind: event.kind === 'deposit' ? 'deposit' : 'withdraw',
    blockNumber: place.number,
    blockHash: place.hash,
    timestamp: place.timestamp,
    transactionHash: place.transactionHash,
    transactionIndex: place.transactionIndex,
    logIndex: event.logIndex,
    wallet: entry.wallet,
    distributorId,
    attribution,
    assets: entry.assets,
    shares: entry.shares,
    isSwap,
  })
}
