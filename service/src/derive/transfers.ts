import type { Frame } from '@openearn/attribution'
import { zeroAddress } from 'viem'
import { holdsForOthers, isVaultAddress } from '../vaults/configured/index.js'
import type { HolderEvent } from '../vaults/holders/index.js'
import type { DeriveVault } from './config.js'
import type { Transfer, VaultEvent } from './events.js'
import { smaller } from './lots.js'

/** Transfers and events of one vault in one transaction, in the order of the logs. */
export type VaultTransaction = {
  vault: DeriveVault
  transfers: Transfer[]
  events: VaultEvent[]
  /** Events of the vault's declared holders; absent where none was emitted. */
  holderEvents?: HolderEvent[]
}

/** A move of shares: a Transfer, or the part of one, or a move inside a declared holder. */
export type Leg = { from: string; to: string; amount: bigint; of: Transfer | undefined }

/** The call that emitted each log, by the log's index, if a trace has it. */
export type Made = ReadonlyMap<number, Frame | undefined>

/** The part of a Transfer that belongs to an event. */
export type Claimed = { event: VaultEvent; amount: bigint }

export type FoundTransfers = {
  /** The part of a Transfer that a deposit minted. */
  mints: ReadonlyMap<Transfer, Claimed>
  /** The part of a Transfer that a withdrawal burned, or a redemption request took. */
  burns: ReadonlyMap<Transfer, Claimed>
  /** How much belongs to each event. */
  moved: ReadonlyMap<VaultEvent, bigint>
}

const nothing: FoundTransfers = { mints: new Map(), burns: new Map(), moved: new Map() }

/**
 * Finds the Transfers that belong to each event: those between it and the next event of the vault before or after it, the
 * nearest first, up to the event's shares. The side is the one that the vault's first event with shares shows. If a trace has
 * the calls, the Transfers are those of the event's own call. Shares reach a depositor from
 * the zero address, the vault or its escrow; they leave a redeemer, or the escrow, for the zero address or the vault, and
 * with a request for the escrow too.
 */
export function findTransfers({ vault, transfers, events }: VaultTransaction, made?: Made): FoundTransfers {
  if (events.length === 0) return nothing
  const ownOf = made ? createOwn({ transfers, events }, made) : undefined
  const holds = (wallet: string) => wallet === zeroAddress || holdsForOthers(vault, wallet)
  const mints = new Map<Transfer, Claimed>()
  const burns = new Map<Transfer, Claimed>()
  const moved = new Map<VaultEvent, bigint>()

  const belongs = (event: VaultEvent): Belongs =>
    event.kind === 'deposit'
      ? ({ from, to }) => to === event.owner && from !== to && holds(from)
      : ({ from, to }) => {
          if (from === to) return false
          if (event.kind === 'redeemRequest') return from === event.owner && holds(to)
          const isOwn =
            from === ownerOf(event) || (from !== vault.address && holdsForOthers(vault, from)) || from === vault.escrow
          return isOwn && (to === zeroAddress || isVaultAddress(vault, to))
        }
  /** The side on which a vault emits its Transfers, by its first event with shares. */
  let isBefore: boolean | undefined
  for (const event of events) {
    const shares = isMoving(event) ? sharesOf(event) : 0n
    if (shares === 0n) continue
    const to = event.kind === 'deposit' ? mints : burns
    const own = ownOf?.(event)
    const around = listAround(event, own ?? { transfers, events }, belongs(event))
    isBefore ??= around.before.length > 0 ? true : around.after.length > 0 ? false : undefined
    const [near, far] = isBefore === false ? [around.after, around.before] : [around.before, around.after]
    let left = shares
    // A call that made one event has no neighbour to take from.
    for (const transfer of own?.events.length === 1 ? [...near, ...far] : near) {
      const amount = smaller(transfer.amount, left)
      if (amount === 0n || to.has(transfer)) continue
      to.set(transfer, { event, amount })
      left -= amount
    }
    moved.set(event, shares - left)
  }
  return { mints, burns, moved }
}

type Told = Pick<VaultTransaction, 'transfers' | 'events'>

/** The Transfers and events of the call of an event, without those of other events' calls inside it. */
function createOwn({ transfers, events }: Told, made: Made): (event: VaultEvent) => Told | undefined {
  const transfersOf = findOwn(transfers, events, made)
  const calls = new Map<Frame, VaultEvent[]>()
  for (const event of events) {
    const call = made.get(event.logIndex)
    if (call) calls.set(call, [...(calls.get(call) ?? []), event])
  }
  return (event) => {
    const call = made.get(event.logIndex)
    return call && { transfers: [...transfersOf(event)], events: calls.get(call) ?? [] }
  }
}

/** The Transfers made in the call of each event, without those of other events' calls inside it. */
export function findOwn<Event extends { logIndex: number }>(
  transfers: readonly Transfer[],
  events: readonly Event[],
  made: Made,
): (event: Event) => readonly Transfer[] {
  const calls = new Map<Frame, Transfer[]>()
  for (const { logIndex } of events) {
    const call = made.get(logIndex)
    if (call) calls.set(call, [])
  }
  for (const transfer of transfers) {
    let call: Frame | null | undefined = made.get(transfer.logIndex)
    while (call && !calls.has(call)) call = call.within
    if (call) calls.get(call)?.push(transfer)
  }
  return (event) => {
    const call = made.get(event.logIndex)
    return (call && calls.get(call)) ?? []
  }
}

type Belongs = (transfer: Transfer) => boolean

/** Transfers that may belong to an event, the nearest first, up to its neighbours. */
function listAround(
  event: VaultEvent,
  { transfers, events }: Told,
  belongs: Belongs,
): { before: Transfer[]; after: Transfer[] } {
  const index = events.indexOf(event)
  const [low, high] = [events[index - 1]?.logIndex ?? -1, events[index + 1]?.logIndex ?? Number.POSITIVE_INFINITY]
  // A Transfer of 0 has no meaning: it belongs to a deposit that minted nothing.
  const own = transfers.filter(
    (transfer) => transfer.amount > 0n && transfer.logIndex > low && transfer.logIndex < high && belongs(transfer),
  )
  return {
    before: own.filter(({ logIndex }) => logIndex < event.logIndex).reverse(),
    after: own.filter(({ logIndex }) => logIndex > event.logIndex),
  }
}

function isMoving({ kind }: VaultEvent): boolean {
  return kind === 'deposit' || kind === 'withdraw' || kind === 'redeemRequest'
}

function sharesOf(event: VaultEvent): bigint {
  if (event.kind === 'deposit' || event.kind === 'withdraw') return event.shares
  return 'amount' in event ? event.amount : 0n
}

function ownerOf(event: VaultEvent): string | undefined {
  return 'owner' in event ? event.owner : undefined
}
