import type { Frame } from '@openearn/attribution'
import { isVaultAddress } from '../vaults/configured/index.js'
import type { EmittingVault } from '../vaults/index.js'
import { eventParties, type VaultEvent } from './events.js'
import { findKind, hasArguments, isClaim, isSilent, selectorOf } from './vaultCalls.js'

/**
 * An event of a vault and the wallets whose shares it concerns: the keepers of minted shares, the owners of burned shares, or
 * the controller of a request.
 */
export type PlacedEvent = {
  vaultId: number
  vault: EmittingVault
  event: VaultEvent
  wallets: readonly string[]
  /** The wallets that keep minted shares of a deposit, if the event does not concern all of them. */
  keepers?: readonly string[]
  /** Contracts that call vaults in the name of the sender in the event. */
  forwarders?: ReadonlySet<string>
  /** Our settlements of one order each, with the wallet they speak for. */
  settled?: ReadonlyMap<Frame, string>
  /** The entry point of the operation it was made in: of nested ones the innermost. */
  operation?: string
  /** Owners of sub-accounts. */
  ownerOf?: (address: string) => string | undefined
}

/** Calls of one sender, in order, and the range of log indexes of their events. */
export type Scope = { frames: readonly Frame[]; covers: (logIndex: number) => boolean }

/** The account behind an address: for a sub-account its owner. */
export function ownerOf(address: string, placed: PlacedEvent): string {
  return placed.ownerOf?.(address) ?? address
}

/**
 * The account that makes a call: for a declared forwarder's call to the vault the sender in its event, for our settlement of an
 * order its receiver, for a sub-account its owner.
 */
export function callerOf(frame: Frame, placed: PlacedEvent): string {
  return ownerOf(placed.settled?.get(frame) ?? speakerOf(frame, placed), placed)
}

/** The account that makes a call; a sub-account stays itself. */
export function speakerOf({ caller, target }: Frame, { event, vault, forwarders }: PlacedEvent): string {
  return forwarders?.has(caller) && isVaultAddress(vault, target) ? event.sender : caller
}

/** The parties of an event, sub-accounts as their owners. */
export function partiesOf(placed: PlacedEvent): string[] {
  return eventParties(placed.event).map((party) => ownerOf(party, placed))
}

/** Whether an account is a party of an event or a wallet whose shares it concerns. */
export function concerns(caller: string, placed: PlacedEvent): boolean {
  return partiesOf(placed).includes(caller) || placed.wallets.some((wallet) => ownerOf(wallet, placed) === caller)
}

/** Whether a frame may be credited for an event: its caller is a party, or a wallet whose shares it concerns. */
export function hasSay(frame: Frame, placed: PlacedEvent): boolean {
  return frame.proven && !isAround(frame, placed) && concerns(callerOf(frame, placed), placed)
}

/** Whether an event was made in an operation and a frame lies outside the bundle of that: it has no say there. */
export function isAround({ ranBy = [] }: Frame, { operation }: PlacedEvent): boolean {
  return operation !== undefined && !ranBy.includes(operation)
}

/**
 * The calls that may have made each event, by calldata: one if it is known, several in doubt, empty if no call may be credited. A
 * call to the vault with the event's arguments comes first, then a call to the vault that makes such events, then a call to the
 * event's sender, then the transaction or operation around it. If as many events as calls fit equally, they are paired in
 * order; one call may have made several events.
 */
export function findMakers(events: readonly PlacedEvent[], scopes: readonly Scope[]): Frame[][] {
  const selectors = new Map<Frame, string>()
  const select = (frame: Frame): string => {
    const known = selectors.get(frame) ?? selectorOf(frame)
    selectors.set(frame, known)
    return known
  }
  const ranked = events.map((placed) => rankMakers(placed, scopes, select))
  const taken = new Set(ranked.flatMap(({ rank, frames }) => (rank === 1 ? frames : [])))
  const makers = ranked.map(({ rank, all }) => {
    if (rank === 1 || all.length < 2) return bestOf(all)
    // A call whose own event is known made this one only if no other call can have.
    const free = all.filter((each) => !taken.has(each.frame))
    return bestOf(free.length === 0 ? all : free)
  })
  pairInOrder(makers)
  return makers.map(({ frames }) => frames)
}

type Ranked = { frame: Frame; rank: number }
type Makers = { rank: number; frames: Frame[] }

function rankMakers(
  placed: PlacedEvent,
  scopes: readonly Scope[],
  select: (frame: Frame) => string,
): Makers & { all: Ranked[] } {
  const { event } = placed
  const own = scopes.filter(({ covers }) => covers(event.logIndex))
  const say = new Set([...partiesOf(placed), ...placed.wallets.map((wallet) => ownerOf(wallet, placed))])
  const found = own.map(({ frames }) =>
    listInnermost(
      frames,
      (frame) =>
        frame.proven &&
        !isAround(frame, placed) &&
        say.has(callerOf(frame, placed)) &&
        mayMake(frame, placed, select) &&
        (frame === frames[0] || takes(frame, placed, select)),
    ),
  )
  const all = found.flat()
  // A call around a whole other group, as of a contract that passes a bundle on, made nothing by itself.
  const makers = own.length < 2 ? all : listWithout(all)
  const ranks = makers.map((frame) => ({ frame, rank: rankOf(frame, placed, select(frame)) }))
  return { ...bestOf(ranks), all: ranks }
}

function bestOf(ranked: readonly Ranked[]): Makers {
  const best = ranked.reduce((least, { rank }) => Math.min(least, rank), 4)
  return { rank: best, frames: ranked.filter(({ rank }) => rank === best).map(({ frame }) => frame) }
}

/** The innermost frames; they are sorted first, because hostile calldata may hold a thousand of each kind. */
function listWithout(frames: readonly Frame[]): Frame[] {
  if (frames[0]?.within !== undefined) {
    const outer = new Set<Frame>()
    for (const frame of frames) for (let at = frame.within; at && !outer.has(at); at = at.within) outer.add(at)
    return frames.filter((frame) => !outer.has(frame))
  }
  /** By depth, the latest start first: the least end of the calls that start no earlier. */
  const levels = new Map<number, { start: number; end: number }[]>()
  for (const frame of [...frames].sort((a, b) => b.start - a.start)) {
    const level = levels.get(frame.depth) ?? []
    if (level.length === 0) levels.set(frame.depth, level)
    level.push({ start: frame.start, end: Math.min(frame.end, level.at(-1)?.end ?? frame.end) })
  }
  const holdsOne = (frame: Frame) =>
    [...levels].some(([depth, level]) => depth > frame.depth && leastEnd(level, frame.start) <= frame.end)
  return frames.filter((frame) => !holdsOne(frame))
}

/** The least end of calls that start at a place or later. */
function leastEnd(level: readonly { start: number; end: number }[], from: number): number {
  let [low, high] = [0, level.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((level[middle]?.start ?? 0) >= from) low = middle + 1
    else high = middle
  }
  return level[low - 1]?.end ?? Number.POSITIVE_INFINITY
}

/** The innermost matching frames, of frames in the order of the calls. */
function listInnermost(frames: readonly Frame[], matches: (frame: Frame) => boolean): Frame[] {
  const innermost: Frame[] = []
  /** Whether a frame at a depth has matched since the last call further out. */
  const below: boolean[] = []
  const base = frames[0]?.depth ?? 0
  for (let at = frames.length - 1; at >= 0; at--) {
    const frame = frames[at]
    if (!frame) continue
    const depth = frame.depth - base
    const isAround = below[depth + 1] === true
    const isMatch = matches(frame)
    if (isMatch && !isAround) innermost.push(frame)
    below.length = Math.min(below.length, depth + 1)
    below[depth] = below[depth] === true || isMatch || isAround
  }
  return innermost.reverse()
}

function mayMake(frame: Frame, placed: PlacedEvent, select: (frame: Frame) => string): boolean {
  const selector = select(frame)
  if (isSilent(selector)) return false
  const { target } = frame
  if (!isVaultAddress(placed.vault, target)) return true
  const kind = findKind(placed.vault, { target, selector })
  // The transaction itself lies around everything in it, for every called contract.
  return kind === undefined || kind === placed.event.kind || frame.depth === 0
}

/**
 * Whether a call that is not the outermost of its scope takes an event: a call of the vault by the event's sender or controller,
 * or a call to the event's sender. Any other connection is only a claim of calldata.
 */
function takes(frame: Frame, placed: PlacedEvent, select: (frame: Frame) => string): boolean {
  const { vault, event } = placed
  const { target } = frame
  if (!isVaultAddress(vault, target)) return target === event.sender
  return isOwnCall(frame, placed) || isClaim(vault, { target, selector: select(frame) })
}

/** Whether no call in calldata takes an event, and a frame that may be credited called a contract other than its sender. */
export function mayHaveMade(frame: Frame, placed: PlacedEvent, makers: readonly Frame[]): boolean {
  const taken = makers.some((maker) => takes(maker, placed, selectorOf))
  return !taken && hasSay(frame, placed) && mayMake(frame, placed, selectorOf)
}

/** 1: the call's arguments are the event's. 2: it makes events of this kind. 3: it calls the event's sender. 4: any other. */
function rankOf(frame: Frame, placed: PlacedEvent, selector: string): number {
  const { vault, event } = placed
  const { target } = frame
  const called = { target, selector }
  if (findKind(vault, called) === event.kind) {
    const isOwn = isClaim(vault, called) || isOwnCall(frame, placed)
    if (!isOwn) return 4
    return hasArguments(vault, called, frame, event) ? 1 : 2
  }
  return target === event.sender && !isVaultAddress(vault, target) ? 3 : 4
}

/** Whether the sender of an event, or its controller, makes a call. */
function isOwnCall(frame: Frame, placed: PlacedEvent): boolean {
  const caller = callerOf(frame, placed)
  const { event } = placed
  return [event.sender, controllerOf(event)].some((each) => each !== undefined && ownerOf(each, placed) === caller)
}

function controllerOf(event: VaultEvent): string | undefined {
  return 'controller' in event ? event.controller : undefined
}

/** If several calls fit as many events, the nth call made the nth event. */
function pairInOrder(makers: Makers[]): void {
  const alike = new Map<string, Makers[]>()
  const numbers = new Map<Frame, number>()
  const numberOf = (frame: Frame): number => {
    const number = numbers.get(frame) ?? numbers.size
    numbers.set(frame, number)
    return number
  }
  for (const each of makers) {
    if (each.frames.length < 2 || each.rank === 4) continue
    const key = each.frames.map(numberOf).join()
    alike.set(key, [...(alike.get(key) ?? []), each])
  }
  for (const group of alike.values()) {
    const frames = group[0]?.frames ?? []
    if (frames.length !== group.length) continue
    group.forEach((each, at) => {
      each.frames = frames.slice(at, at + 1)
    })
  }
}
