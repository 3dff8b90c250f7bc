import type { DeriveVault } from '../../src/derive/config.js'
import { least } from './bytes.js'
import type { Move, OwnLogs, Told } from './types.js'

/** Where shares of a transaction come from (SEMANTICS §3, *Kept shares*). */
type Origin =
  /** `taken` by an event that burned or requested them. */
  | { of: 'old'; wallet: string; taken?: Gone }
  | { of: 'mark'; event: Told }
  /** Given back by a cancelled request. */
  | { of: 'returned'; event: Told }
  | { of: 'nothing' }
type Piece = { origin: Origin; amount: bigint }
/** Old shares of a wallet that were burned or requested, as far as they have not come back. */
type Gone = { wallet: string; event: Told | undefined; amount: bigint }

export type Part = { event: Told; amount: bigint }
/** What a transaction did to the shares of one wallet. */
export type Kept = {
  before: bigint
  after: bigint
  /** Old shares that went to others and were neither burned nor requested. */
  given: bigint
  /** Old shares that its lots lose. */
  lost: bigint
  /** Marks it ends with, less netted, oldest first. */
  marks: Part[]
  /** Old shares burned or requested by an event, less netted, in log order. */
  burned: Part[]
  returned: Part[]
}
export type Movement = {
  wallets: Map<string, Kept>
  minted: Map<Told, bigint>
  /** Shares each Withdraw burned and each RedeemRequest took. */
  burned: Map<Told, bigint>
  beyond: number
}

const zero = `0x${'0'.repeat(40)}`
export type Habit = 'before' | 'after'
export const holdsForOthers = (vault: DeriveVault, wallet: string): boolean =>
  wallet === vault.address || wallet === vault.escrow || Object.values(vault.contracts ?? {}).includes(wallet)

/** A vault and its further contracts: their events and the calls to them count as its own. */
export const addressesOf = ({ address, contracts = {} }: DeriveVault): ReadonlySet<string> =>
  new Set([address, ...Object.values(contracts)])

/** Transfers that are an event's own: nearest first, and how much of each. */
type Own = Map<Move, { event: Told; amount: bigint }>

export function follow(
  vault: DeriveVault,
  moves: readonly Move[],
  events: readonly Told[],
  balanceOf: (wallet: string) => bigint,
  habit: Habit,
  ownLogs: OwnLogs | undefined,
): Movement {
  // Its escrow, or a contract beside it that holds what waits.
  const keepsForVault = (wallet: string) => wallet !== vault.address && holdsForOthers(vault, wallet)
  const source = (wallet: string) => wallet === zero || holdsForOthers(vault, wallet)
  const taken = new Set<Move>()
  const findOwn = (event: Told, isOwn: (move: Move) => boolean, most: bigint, side = habit): Own => {
    const own: Own = new Map()
    let left = most
    for (const move of reachable(event, moves.filter(isOwn), events, side, ownLogs)) {
      if (left === 0n) break
      if (taken.has(move)) continue
      taken.add(move)
      const amount = least(move.value, left)
      own.set(move, { event, amount })
      left -= amount
    }
    return own
  }
  const mints: Own = new Map()
  const burns: Own = new Map()
  const returns: Own = new Map()
  const add = (to: Own, from: Own) => {
    for (const [move, value] of from) to.set(move, value)
  }
  for (const event of events) {
    if (event.kind === 'deposit')
      add(
        mints,
        findOwn(event, ({ from, to }) => to === event.owner && source(from), event.shares),
      )
    if (event.kind === 'withdraw')
      add(
        burns,
        findOwn(
          event,
          ({ from, to }) => (from === event.owner || keepsForVault(from)) && (to === zero || to === vault.address),
          event.shares,
        ),
      )
    if (event.kind === 'redeemRequest')
      add(
        burns,
        findOwn(event, ({ from, to }) => from === event.owner && source(to), event.amount),
      )
    if (event.kind === 'cancelRedeemClaim')
      add(
        returns,
        // A queue of Maple tells of it before the shares go.
        findOwn(
          event,
          ({ from, to }) => to === event.receiver && source(from),
          event.amount,
          vault.kind === 'maple' ? 'after' : habit,
        ),
      )
  }
  return replay(moves, mints, burns, returns, balanceOf)
}

/** Transfers an event may own: of its own call, else between it and its neighbour events on the vault's side. */
function reachable(
  event: Told,
  moves: readonly Move[],
  events: readonly Told[],
  habit: Habit,
  ownLogs: OwnLogs | undefined,
): Move[] {
  const byDistance = (list: Move[]) =>
    list.sort((a, b) => Math.abs(a.logIndex - event.logIndex) - Math.abs(b.logIndex - event.logIndex))
  const own = ownLogs?.get(event.logIndex)
  if (own) return byDistance(moves.filter(({ logIndex }) => own.has(logIndex)))
  const others = events.map(({ logIndex }) => logIndex)
  const low = habit === 'before' ? Math.max(-1, ...others.filter((at) => at < event.logIndex)) : event.logIndex
  const high = habit === 'after' ? Math.min(Infinity, ...others.filter((at) => at > event.logIndex)) : event.logIndex
  return byDistance(moves.filter(({ logIndex }) => logIndex > low && logIndex < high))
}

/** What a vault does with its first event of shares: it tells of the shares before or after the event. */
export function readHabit(vault: DeriveVault, moves: readonly Move[], events: readonly Told[]): Habit | undefined {
  const first = events.find((event) => (event.kind === 'deposit' || event.kind === 'withdraw') && event.shares > 0n)
  if (!first || !(first.kind === 'deposit' || first.kind === 'withdraw')) return undefined
  const source = (wallet: string) => wallet === zero || holdsForOthers(vault, wallet)
  const isOwn = ({ from, to, value }: Move) =>
    value > 0n &&
    (first.kind === 'deposit'
      ? to === first.owner && source(from)
      : (from === first.owner || (from !== vault.address && holdsForOthers(vault, from))) &&
        (to === zero || to === vault.address))
  const before = reachable(first, moves.filter(isOwn), events, 'before', undefined)
  const after = reachable(first, moves.filter(isOwn), events, 'after', undefined)
  return before.length > 0 ? 'before' : after.length > 0 ? 'after' : undefined
}

type Hand = { before: bigint; held: bigint; received: Piece[] }

function replay(
  moves: readonly Move[],
  mints: Own,
  burns: Own,
  returns: Own,
  balanceOf: (wallet: string) => bigint,
): Movement {
  const hands = new Map<string, Hand>()
  const handOf = (wallet: string): Hand => {
    const known = hands.get(wallet)
    if (known) return known
    const before = balanceOf(wallet)
    const hand = { before, held: before, received: [] }
    hands.set(wallet, hand)
    return hand
  }
  const minted = new Map<Told, bigint>()
  const burnedBy = new Map<Told, bigint>()
  const gone: Gone[] = []
  let beyond = 0
  for (const move of moves) {
    const { from, to, value } = move
    if (from === to || value === 0n) continue
    let pieces: Piece[]
    if (from === zero) pieces = [{ origin: { of: 'nothing' }, amount: value }]
    else {
      const hand = handOf(from)
      pieces = take(hand, from, value)
      if (sumOf(pieces) < value) beyond += 1
    }
    const mint = mints.get(move)
    if (mint) {
      const amount = least(sumOf(pieces), mint.amount)
      pieces = [{ origin: { of: 'mark', event: mint.event }, amount }, ...skip(pieces, amount)]
      minted.set(mint.event, (minted.get(mint.event) ?? 0n) + amount)
    }
    const returned = returns.get(move)
    // Of whomever an escrow got them just now: they are what the cancelled request took. Its wallet's own are so already.
    if (returned)
      pieces = pieces.map((piece) =>
        (piece.origin.of === 'old' && piece.origin.wallet !== to) ||
        (piece.origin.of === 'mark' && 'owner' in piece.origin.event && piece.origin.event.owner !== to)
          ? { ...piece, origin: { of: 'returned', event: returned.event } }
          : piece,
      )
    const burn = burns.get(move)
    if (burn) burnedBy.set(burn.event, (burnedBy.get(burn.event) ?? 0n) + least(sumOf(pieces), burn.amount))
    let left = burn?.amount ?? 0n
    const passed: Piece[] = []
    for (const { origin, amount } of pieces) {
      const ofEvent = least(amount, left)
      left -= ofEvent
      // What a request took is the request's, whatever an escrow burns it for.
      if (origin.of !== 'old' || origin.taken) {
        passed.push({ origin, amount })
        continue
      }
      const taken = { wallet: origin.wallet, event: burn?.event, amount: ofEvent }
      gone.push(taken)
      if (to === zero && amount > ofEvent)
        gone.push({ wallet: origin.wallet, event: undefined, amount: amount - ofEvent })
      passed.push({ origin: { ...origin, taken }, amount: ofEvent }, { origin, amount: amount - ofEvent })
    }
    if (to !== zero) give(handOf(to), to, passed)
  }
  const wallets = new Map([...hands].map(([wallet, hand]) => [wallet, settle(wallet, hand, gone)] as const))
  return { wallets, minted, burned: burnedBy, beyond }
}

const sumOf = (pieces: readonly { amount: bigint }[]): bigint => pieces.reduce((sum, { amount }) => sum + amount, 0n)

/** What it received in the transaction goes first, newest first; then what it held. */
function take(hand: Hand, wallet: string, value: bigint): Piece[] {
  const pieces: Piece[] = []
  let left = value
  while (left > 0n && hand.received.length > 0) {
    const newest = hand.received.at(-1)!
    const amount = least(newest.amount, left)
    pieces.push({ origin: newest.origin, amount })
    newest.amount -= amount
    left -= amount
    if (newest.amount === 0n) hand.received.pop()
  }
  const old = least(hand.held, left)
  hand.held -= old
  return old > 0n ? [...pieces, { origin: { of: 'old', wallet }, amount: old }] : pieces
}

/** Shares arrive one by one as they left; what the wallet held before is again what it was. */
function give(hand: Hand, wallet: string, pieces: readonly Piece[]): void {
  for (const { origin, amount } of pieces) {
    if (amount === 0n) continue
    if (origin.of === 'old' && origin.wallet === wallet) {
      hand.held += amount
      if (origin.taken) origin.taken.amount -= amount
    } else hand.received.push({ origin, amount })
  }
}

/** The list without the first `amount` of it. */
function skip<T extends { amount: bigint }>(list: readonly T[], amount: bigint): T[] {
  let left = amount
  return list.flatMap((piece) => {
    const cut = least(piece.amount, left)
    left -= cut
    return piece.amount > cut ? [{ ...piece, amount: piece.amount - cut }] : []
  })
}

function settle(wallet: string, { before, held, received }: Hand, gone: readonly Gone[]): Kept {
  const marks = received.flatMap(({ origin, amount }) =>
    origin.of === 'mark' ? [{ event: origin.event, amount }] : [],
  )
  const burned = gone.filter((each) => each.wallet === wallet)
  const netted = least(sumOf(marks), sumOf(burned))
  return {
    before,
    after: held + sumOf(received),
    given: before - held - sumOf(burned),
    lost: before - held - netted,
    marks: dropLast(marks, netted),
    burned: dropLast(burned, netted).flatMap(({ event, amount }) => (event ? [{ event, amount }] : [])),
    returned: received.flatMap(({ origin, amount }) =>
      origin.of === 'returned' ? [{ event: origin.event, amount }] : [],
    ),
  }
}

/** The list without `amount` of what came last. */
function dropLast<T extends { amount: bigint }>(list: readonly T[], amount: bigint): T[] {
  return skip(list.toReversed(), amount).toReversed()
}
