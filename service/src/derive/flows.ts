import { zeroAddress } from 'viem'
import { keepsNothing } from '../vaults/configured/index.js'
import type { Transfer, VaultEvent } from './events.js'
import type { FollowedHolders } from './heldPots.js'
import { smaller } from './lots.js'
import { type Claimed, findTransfers, type Leg, type Made, type VaultTransaction } from './transfers.js'

/** The shares that a deposit minted and their keepers, or that a withdrawal burned and their owners, less netted shares. */
export type Delivery = { moved: bigint; parts: ReadonlyMap<string, bigint> }

/** The change of a wallet's shares in a transaction: `lost` of those it held before, `received` from others. */
export type WalletFlow = { lost: bigint; received: bigint }

/** Shares that an account moved between its pots, with their lots. */
export type Carry = { from: string; to: string; amount: bigint }

/**
 * Shares of one vault that move in one transaction. `wallets` and `marks` are by pot (`heldPots.ts`): of a vault without declared
 * holders a pot is a wallet. `marks`: the shares of a deposit that lie in each pot at the end. Deliveries are by account.
 */
export type Flows = {
  wallets: ReadonlyMap<string, WalletFlow>
  deliveries: ReadonlyMap<VaultEvent, Delivery>
  marks: ReadonlyMap<VaultEvent, ReadonlyMap<string, bigint>>
  carries: readonly Carry[]
  followed: FollowedHolders | undefined
}

/** Shares that a wallet held before and that were burned or requested, by any caller, with their event. */
type Burn = { amount: bigint; event: VaultEvent | undefined; at: number }

/**
 * Shares a wallet has received: `event` minted them, `origin` held them before the transaction. `burn` records the
 * burn that the vault or its escrow holds: it stays when the shares go on to the zero address, and ends when they come back.
 * `at` counts the arrivals and burns of the transaction.
 */
type Piece = { amount: bigint; event: VaultEvent | undefined; origin: string | undefined; at: number; burn?: Burn }

type Wallet = { pieces: Piece[]; gone: bigint; burns: Burn[] }

/**
 * Follows the shares of a vault through a transaction. A wallet sends and burns first the shares it received in the
 * transaction, the newest first, then the shares it held. Shares that return to an earlier holder become again what they
 * were. If a wallet deposits and also burns old shares, the smaller amount is netted: it counts for neither.
 */
export function readFlows(part: VaultTransaction, made?: Made, followed?: FollowedHolders): Flows {
  const found = findTransfers(part, made)
  const ownerOf = followed?.ownerOf ?? itself
  const book: Book = { wallets: new Map(), ownerOf, at: 0 }
  const claimOf = createClaims(followed !== undefined)
  for (const leg of followed?.legs ?? part.transfers) {
    const { from, to, amount } = leg
    if (from === to || amount === 0n) continue
    const mint = claimOf(found.mints, leg)
    const burn = claimOf(found.burns, leg)
    const pieces = from === zeroAddress ? [fresh(amount)] : send(openWallet(book, from), from, amount)
    const marked = mint === undefined ? pieces : mark(pieces, mint)
    const burned = to === zeroAddress || burn !== undefined ? recordBurns(book, marked, burn) : marked
    if (to !== zeroAddress) receive(book, to, burned)
  }
  const deliveries = new Map<VaultEvent, { moved: bigint; parts: Map<string, bigint> }>()
  for (const event of part.events)
    if (event.kind === 'deposit' || event.kind === 'withdraw' || event.kind === 'redeemRequest')
      deliveries.set(event, { moved: found.moved.get(event) ?? 0n, parts: new Map() })
  return { ...sumUp(part, book, deliveries), deliveries, followed }
}

const itself = (pot: string): string => pot

/** The wallets of a transaction by pot, and the number of arrivals and burns so far. */
type Book = { wallets: Map<string, Wallet>; ownerOf: (pot: string) => string; at: number }

/** The claim on a leg; of the legs of one Transfer the first are claimed first. */
function createClaims(areSplit: boolean) {
  const spent = new Map<Claimed, bigint>()
  return (claims: ReadonlyMap<Transfer, Claimed>, leg: Leg | Transfer): Claimed | undefined => {
    const of = 'of' in leg ? leg.of : leg
    const claimed = of && claims.get(of)
    if (!claimed || !areSplit) return claimed
    const before = spent.get(claimed) ?? 0n
    const amount = smaller(claimed.amount - before, leg.amount)
    spent.set(claimed, before + amount)
    return amount > 0n ? { event: claimed.event, amount } : undefined
  }
}

/** Sums up what each pot lost, received and carried, and who keeps or lost the shares of each event. */
function sumUp(
  { vault }: VaultTransaction,
  { wallets, ownerOf }: Book,
  deliveries: ReadonlyMap<VaultEvent, { parts: Map<string, bigint> }>,
): Pick<Flows, 'wallets' | 'marks' | 'carries'> {
  const netted = new Map<string, bigint>()
  const carries: Carry[] = []
  for (const [owner, pots] of groupByOwner(wallets, ownerOf)) {
    carries.push(...takeCarries(pots, ownerOf))
    if (!keepsNothing(vault, owner)) carries.push(...net(pots, netted))
  }
  const flows = new Map<string, WalletFlow>()
  const marks = new Map<VaultEvent, Map<string, bigint>>()
  for (const [pot, { gone, pieces, burns }] of wallets) {
    const own = netted.get(pot) ?? 0n
    const received = pieces.reduce((sum, { amount }) => sum + amount, 0n)
    if (gone > own || received > 0n) flows.set(pot, { lost: gone - own, received })
    const owner = ownerOf(pot)
    if (keepsNothing(vault, owner)) continue
    const add = (event: VaultEvent | undefined, amount: bigint) => {
      const parts = event === undefined || amount === 0n ? undefined : deliveries.get(event)?.parts
      parts?.set(owner, (parts.get(owner) ?? 0n) + amount)
    }
    for (const { event, amount } of pieces) {
      add(event, amount)
      if (event === undefined || amount === 0n) continue
      const own = marks.get(event) ?? new Map<string, bigint>()
      marks.set(event, own.set(pot, (own.get(pot) ?? 0n) + amount))
    }
    for (const { event, amount } of burns) add(event, amount)
  }
  return { wallets: flows, marks, carries }
}

type Pots = [string, Wallet][]

function groupByOwner(wallets: Map<string, Wallet>, ownerOf: (pot: string) => string): Map<string, Pots> {
  const owners = new Map<string, Pots>()
  for (const entry of wallets) {
    const owner = ownerOf(entry[0])
    const known = owners.get(owner)
    if (known) known.push(entry)
    else owners.set(owner, [entry])
  }
  return owners
}

/** Takes from each pot, as carried, the old shares that came from another pot of the same account. */
function takeCarries(pots: Pots, ownerOf: (pot: string) => string): Carry[] {
  if (pots.length < 2) return []
  const carries: Carry[] = []
  for (const [to, { pieces }] of pots)
    for (const piece of pieces) {
      const { origin: from, amount } = piece
      if (from === undefined || amount === 0n || ownerOf(from) !== ownerOf(to)) continue
      carries.push({ from, to, amount })
      piece.amount = 0n
    }
  return carries
}

function fresh(amount: bigint): Piece {
  return { amount, event: undefined, origin: undefined, at: 0 }
}

function openWallet({ wallets }: Book, address: string): Wallet {
  const known = wallets.get(address)
  if (known) return known
  const wallet: Wallet = { pieces: [], gone: 0n, burns: [] }
  wallets.set(address, wallet)
  return wallet
}

/** Takes shares from a wallet: the last received first, then the shares it held. */
function send(wallet: Wallet, address: string, amount: bigint): Piece[] {
  const sent: Piece[] = []
  let left = amount
  while (left > 0n) {
    const last = wallet.pieces.at(-1)
    if (!last) break
    const taken = smaller(last.amount, left)
    sent.push({ ...last, amount: taken })
    left -= taken
    last.amount -= taken
    if (last.amount === 0n) wallet.pieces.pop()
  }
  if (left > 0n) {
    wallet.gone += left
    sent.push({ amount: left, event: undefined, origin: address, at: 0 })
  }
  return sent
}

/** Marks the first shares of a Transfer with the event that minted them. */
function mark(pieces: readonly Piece[], { event, amount }: { event: VaultEvent; amount: bigint }): Piece[] {
  const marked: Piece[] = []
  let left = amount
  for (const piece of pieces) {
    const part = smaller(piece.amount, left)
    if (part > 0n) marked.push({ amount: part, event, origin: undefined, at: 0 })
    if (piece.amount > part) marked.push({ ...piece, amount: piece.amount - part })
    left -= part
  }
  return marked
}

function receive(book: Book, to: string, pieces: readonly Piece[]): void {
  const wallet = openWallet(book, to)
  for (const piece of pieces) {
    if (piece.origin === to) {
      wallet.gone -= piece.amount
      if (piece.burn) piece.burn.amount -= piece.amount
      continue
    }
    const { burn, ...rest } = piece
    const isBack = piece.origin !== undefined && book.ownerOf(piece.origin) === book.ownerOf(to)
    if (isBack && burn) burn.amount -= piece.amount
    book.at += 1
    wallet.pieces.push({ ...rest, ...(burn && !isBack ? { burn } : {}), at: book.at })
  }
}

/**
 * Records the burn of each origin and returns the pieces with their burns. A piece that an event has taken keeps that event:
 * an escrow may burn, for one claim, shares that it has just received with another request.
 */
function recordBurns(
  book: Book,
  pieces: readonly Piece[],
  claimed: { event: VaultEvent; amount: bigint } | undefined,
): Piece[] {
  let left = claimed?.amount ?? 0n
  return pieces.flatMap((piece) => {
    const part = smaller(piece.amount, left)
    left -= part
    const { origin, burn: before } = piece
    if (origin === undefined || before?.event !== undefined) return [piece]
    if (before) before.amount -= piece.amount
    const { burns } = openWallet(book, origin)
    const record = (event: VaultEvent | undefined, amount: bigint): Piece[] => {
      if (amount === 0n) return []
      book.at += 1
      const burn = { event, amount, at: book.at }
      burns.push(burn)
      return [{ ...piece, amount, burn }]
    }
    return [...record(claimed?.event, part), ...record(undefined, piece.amount - part)]
  })
}

/**
 * Nets the new deposited shares of an account against the old shares it burned, the newest and the latest first, as if these
 * shares had never moved. What is netted in one pot is added to `netted`; between two pots it is carried, with its lots.
 */
function net(pots: Pots, netted: Map<string, bigint>): Carry[] {
  if (pots.every(([, { burns }]) => burns.length === 0)) return []
  const newestFirst = <T extends { at: number }>(list: { pot: string; of: T }[]) =>
    list.sort((a, b) => b.of.at - a.of.at)
  const marks = newestFirst(
    pots.flatMap(([pot, { pieces }]) => pieces.flatMap((of) => (of.event === undefined ? [] : [{ pot, of }]))),
  )
  const burns = newestFirst(pots.flatMap(([pot, wallet]) => wallet.burns.map((of) => ({ pot, of }))))
  const carries: Carry[] = []
  for (const mark of marks)
    for (const burn of burns) {
      const amount = smaller(mark.of.amount, burn.of.amount)
      if (amount <= 0n) continue
      burn.of.amount -= amount
      if (mark.pot !== burn.pot) carries.push({ from: burn.pot, to: mark.pot, amount })
      else netted.set(mark.pot, (netted.get(mark.pot) ?? 0n) + amount)
      mark.of.amount -= amount
    }
  return carries
}
