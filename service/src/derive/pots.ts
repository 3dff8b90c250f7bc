import { isLookedThrough } from '../vaults/configured/index.js'
import { type FollowedHolders, partsOf, potOf, shortReason, stateOfHolder } from './heldPots.js'
import { emptyHolder, type Holder, smaller } from './lots.js'
import { type HolderBefore, openHolder, recordChange, snapshotOf } from './positionRows.js'
import {
  type DerivedRows,
  type DeriveState,
  formatHolderState,
  formatLots,
  heldKey,
  holderKey,
  type TxPosition,
} from './rows.js'
import type { VaultTransaction } from './transfers.js'

type PotWork = {
  place: TxPosition
  part: VaultTransaction
  state: DeriveState
  rows: DerivedRows
  /** The pots that the transaction touched, as they were before. */
  holders: Map<string, HolderBefore>
}

/** Opens a pot: what a holder keeps for an account, what it has itself, or what a wallet has itself. */
export function openPot(work: PotWork, pot: string, { counted, ended }: FollowedHolders): HolderBefore {
  const { part, state, holders } = work
  const { vault } = part
  const { account, holder } = partsOf(pot)
  if (holder !== undefined || isLookedThrough(vault, account)) {
    const opened = snapshotOf(openHeld(state, heldKey(vault.id, holder ?? account, account)))
    if (holder !== undefined && ended.has(holder)) unsource(opened.holder)
    return opened
  }
  const all = state.holders.get(holderKey(vault.id, account)) ?? emptyHolder()
  const direct: Holder = { ...all, lots: new Map(all.lots) }
  for (const each of counted) {
    const known = holders.get(potOf(account, each)) ?? state.held.get(heldKey(vault.id, each, account))
    if (known) addHolder(direct, known, -1n)
  }
  return snapshotOf(direct)
}

function openHeld(state: DeriveState, key: string): Holder {
  const known = state.held.get(key)
  if (known) return known
  const fresh = emptyHolder()
  state.held.set(key, fresh)
  return fresh
}

type Amounts = Pick<Holder, 'shares' | 'attributed'> & { lots: Iterable<readonly [string, bigint]> | undefined }

/** Makes all shares unattributed. */
function unsource(pot: Holder): void {
  pot.lots.clear()
  pot.attributed = 0n
}

/** Adds shares and lots, or takes them. */
function addHolder(to: Holder, { shares, attributed, lots }: Amounts, sign: 1n | -1n): void {
  to.shares += sign * shares
  to.attributed += sign * attributed
  for (const [id, amount] of lots ?? []) to.lots.set(id, (to.lots.get(id) ?? 0n) + sign * amount)
}

/**
 * Records what a transaction changed in the pots of a vault: of each holder what it keeps, and of each account that counts
 * the sum of its pots. `short`: shares that left a holder beyond what it had for nobody.
 */
export function recordPots(work: PotWork, followed: FollowedHolders, short: ReadonlyMap<string, bigint>): void {
  const sums = new Map<string, Holder>()
  const add = (owner: string, amounts: Amounts, sign: 1n | -1n) => {
    const sum = sums.get(owner) ?? emptyHolder()
    sums.set(owner, sum)
    addHolder(sum, amounts, sign)
  }
  const open = (pot: string): HolderBefore => {
    const known = work.holders.get(pot)
    if (known) return known
    const opened = openPot(work, pot, followed)
    work.holders.set(pot, opened)
    return opened
  }
  for (const holder of followed.started)
    for (const account of listAccounts(work, holder)) {
      const before = open(potOf(account, holder))
      add(holder, before, -1n)
      add(account, before, 1n)
    }
  for (const holder of followed.ended)
    for (const account of listAccounts(work, holder)) {
      const before = open(potOf(account, holder))
      add(account, before, -1n)
      add(holder, before, 1n)
    }
  for (const [pot, before] of work.holders) {
    add(followed.ownerOf(pot), before, -1n)
    add(followed.ownerOf(pot), before.holder, 1n)
  }
  for (const [holder, reason] of followed.broken) {
    const isIn = followed.counted.has(holder) || followed.started.has(holder)
    const counts = isIn && !followed.ended.has(holder)
    const own = open(holder).holder
    for (const account of listAccounts(work, holder)) {
      const pot = open(potOf(account, holder)).holder
      if (counts) {
        add(account, pot, -1n)
        add(holder, { ...pot, attributed: 0n, lots: undefined }, 1n)
      }
      unsource(pot)
      if (reason !== shortReason) continue
      own.shares += pot.shares
      pot.shares = 0n
    }
    const missing = smaller(short.get(holder) ?? 0n, own.shares)
    own.shares -= missing
    add(holder, { shares: missing, attributed: 0n, lots: undefined }, -1n)
  }
  for (const { from, to } of followed.legs)
    for (const pot of [from, to])
      if (partsOf(pot).holder !== undefined || isLookedThrough(work.part.vault, pot)) open(pot)
  recordSums(work, sums)
  recordHeld(work, followed)
}

/** The accounts that a holder keeps something for, or kept before the transaction. */
function listAccounts({ state, part, holders }: PotWork, holder: string): string[] {
  const prefix = heldKey(part.vault.id, holder, '')
  return [...state.held].flatMap(([key, { shares }]) => {
    const account = key.startsWith(prefix) ? key.slice(prefix.length) : holder
    return account === holder || (shares === 0n && !holders.has(potOf(account, holder))) ? [] : [account]
  })
}

function recordSums({ place, part, state, rows }: PotWork, sums: ReadonlyMap<string, Holder>): void {
  const record = { place, vaultId: part.vault.id, rows }
  for (const [owner, sum] of sums) {
    const opened = openHolder(state, part.vault.id, owner)
    addHolder(opened.holder, sum, 1n)
    recordChange(owner, opened, record)
  }
}

/** Records the pots of holders, and the state of each holder whose shares or events the transaction has. */
function recordHeld(work: PotWork, followed: FollowedHolders): void {
  const { place, part, state, rows, holders } = work
  const { number: blockNumber, transactionIndex, timestamp } = place
  const of = { vaultId: part.vault.id, blockNumber, transactionIndex }
  const told = new Set([...followed.started, ...followed.broken.keys(), ...followed.ignored.keys()])
  for (const [pot, { holder: after, shares, lots }] of holders) {
    const { account, holder } = partsOf(pot)
    if (holder === undefined) {
      if (isLookedThrough(part.vault, pot)) told.add(pot)
      continue
    }
    told.add(holder)
    const [detailBefore, detailAfter] = [formatLots(new Map(lots)), formatLots(after.lots)]
    rows.heldChanges.push({
      ...of,
      holder,
      wallet: account,
      before: shares,
      after: after.shares,
      detailBefore,
      detailAfter,
    })
  }
  for (const holder of told) {
    const before = stateOfHolder(state, part.vault.id, holder)
    const reason = followed.broken.get(holder)
    const counts = followed.started.has(holder) ? ({ phase: 'counting', reason: '' } as const) : {}
    const breaks = reason === undefined ? {} : ({ phase: 'broken', brokenAt: timestamp, reason } as const)
    const ignored = before.ignored + (followed.ignored.get(holder) ?? 0)
    const after = { ...before, ...counts, ...breaks, ignored }
    state.holderStates.set(holderKey(part.vault.id, holder), after)
    const own = holders.get(holder)
    const now = state.held.get(heldKey(part.vault.id, holder, holder))?.shares ?? 0n
    rows.heldChanges.push({
      ...{ ...of, holder, wallet: holder, before: own?.shares ?? now, after: now },
      ...{ detailBefore: formatHolderState(before), detailAfter: formatHolderState(after) },
    })
  }
}
