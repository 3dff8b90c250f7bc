import { zeroAddress } from 'viem'
import { keepsNothing } from '../vaults/configured/index.js'
import type { VaultEvent } from './events.js'
import { smaller } from './lots.js'
import { findTransfers, type Made, type VaultTransaction } from './transfers.js'

/** The shares that a deposit minted and their keepers, or that a withdrawal burned and their owners, less netted shares. */
export type Delivery = { moved: bigint; parts: ReadonlyMap<string, bigint> }

/** The change of a wallet's shares in a transaction: `lost` of those it held before, `received` from others. */
export type WalletFlow = { lost: bigint; received: bigint }

/** Shares of one vault that move in one transaction. */
export type Flows = {
  wallets: ReadonlyMap<string, WalletFlow>
  deliveries: ReadonlyMap<VaultEvent, Delivery>
}

/** Shares that a wallet held before and that were burned or requested, by any caller, with their event. */
type Burn = { amount: bigint; event: VaultEvent | undefined }

/**
 * Shares a wallet has received: `event` minted them, `origin` held them before the transaction. `burn` records the
 * burn that the vault or its escrow holds: it stays when the shares go on to the zero address, and ends when they come back.
 */
type Piece = { amount: bigint; event: VaultEvent | undefined; origin: string | undefined; burn?: Burn }

type Wallet = { pieces: Piece[]; gone: bigint; burns: Burn[] }

/**
 * Follows the shares of a vault through a transaction. A wallet sends and burns first the shares it received in the
 * transaction, the newest first, then the shares it held. Shares that return to an earlier holder become again what they
 * were. If a wallet deposits and also burns old shares, the smaller amount is netted: it counts for neither.
 */
export function readFlows(part: VaultTransaction, made?: Made): Flows {
  const { vault, transfers, events } = part
  const found = findTransfers(part, made)
  const wallets = new Map<string, Wallet>()
  for (const transfer of transfers) {
    const { from, to, amount } = transfer
    if (from === to || amount === 0n) continue
    const mint = found.mints.get(transfer)
    const burn = found.burns.get(transfer)
    const pieces = from === zeroAddress ? [fresh(amount)] : send(openWallet(wallets, from), from, amount)
    const marked = mint === undefined ? pieces : mark(pieces, mint)
    const burned = to === zeroAddress || burn !== undefined ? recordBurns(wallets, marked, burn) : marked
    if (to !== zeroAddress) receive(wallets, to, burned)
  }
  const deliveries = new Map<VaultEvent, { moved: bigint; parts: Map<string, bigint> }>()
  for (const event of events)
    if (event.kind === 'deposit' || event.kind === 'withdraw' || event.kind === 'redeemRequest')
      deliveries.set(event, { moved: found.moved.get(event) ?? 0n, parts: new Map() })
  const flows = new Map<string, WalletFlow>()
  for (const [address, wallet] of wallets) {
    const isKeeper = !keepsNothing(vault, address)
    const netted = isKeeper ? net(wallet) : 0n
    const received = wallet.pieces.reduce((sum, { amount }) => sum + amount, 0n)
    if (wallet.gone > netted || received > 0n) flows.set(address, { lost: wallet.gone - netted, received })
    if (!isKeeper) continue
    const add = (event: VaultEvent | undefined, amount: bigint) => {
      const parts = event === undefined || amount === 0n ? undefined : deliveries.get(event)?.parts
      parts?.set(address, (parts.get(address) ?? 0n) + amount)
    }
    for (const { event, amount } of wallet.pieces) add(event, amount)
    for (const { event, amount } of wallet.burns) add(event, amount)
  }
  return { wallets: flows, deliveries }
}

function fresh(amount: bigint): Piece {
  return { amount, event: undefined, origin: undefined }
}

function openWallet(wallets: Map<string, Wallet>, address: string): Wallet {
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
    sent.push({ amount: left, event: undefined, origin: address })
  }
  return sent
}

/** Marks the first shares of a Transfer with the event that minted them. */
function mark(pieces: readonly Piece[], { event, amount }: { event: VaultEvent; amount: bigint }): Piece[] {
  const marked: Piece[] = []
  let left = amount
  for (const piece of pieces) {
    const part = smaller(piece.amount, left)
    if (part > 0n) marked.push({ amount: part, event, origin: undefined })
    if (piece.amount > part) marked.push({ ...piece, amount: piece.amount - part })
    left -= part
  }
  return marked
}

function receive(wallets: Map<string, Wallet>, to: string, pieces: readonly Piece[]): void {
  const wallet = openWallet(wallets, to)
  for (const piece of pieces)
    if (piece.origin === to) {
      wallet.gone -= piece.amount
      if (piece.burn) piece.burn.amount -= piece.amount
    } else wallet.pieces.push({ ...piece })
}

/**
 * Records the burn of each origin and returns the pieces with their burns. A piece that an event has taken keeps that event:
 * an escrow may burn, for one claim, shares that it has just received with another request.
 */
function recordBurns(
  wallets: Map<string, Wallet>,
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
    const { burns } = openWallet(wallets, origin)
    const record = (event: VaultEvent | undefined, amount: bigint): Piece[] => {
      if (amount === 0n) return []
      const burn = { event, amount }
      burns.push(burn)
      return [{ ...piece, amount, burn }]
    }
    return [...record(claimed?.event, part), ...record(undefined, piece.amount - part)]
  })
}

/**
 * Nets the new deposited shares of a wallet against the old shares it burned, the newest and the latest first, as if these
 * shares had never moved. Returns the netted amount.
 */
function net({ pieces, burns }: Wallet): bigint {
  if (burns.length === 0) return 0n
  const total = (list: readonly { amount: bigint }[]) => list.reduce((sum, { amount }) => sum + amount, 0n)
  const marked = pieces.filter(({ event }) => event !== undefined)
  const netted = smaller(total(marked), total(burns))
  dropLast(marked, netted)
  dropLast(burns, netted)
  return netted
}

function dropLast(list: readonly { amount: bigint }[], amount: bigint): void {
  let left = amount
  for (const each of [...list].reverse()) {
    const part = smaller(each.amount, left)
    each.amount -= part
    left -= part
  }
}
