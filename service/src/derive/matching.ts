import type { Finding, Frame } from '../chain/attribution/index.js'
import { eventParties, type VaultEvent } from './events.js'

/** An event of a vault, and the wallets that end the transaction with shares a deposit minted. */
export type PlacedEvent = { vault: string; event: VaultEvent; gainers: ReadonlySet<string> }

/** The calls of one sender, and those of them that carry codes. */
export type Calls = {
  frames: readonly Frame[]
  findings: readonly Finding[]
  /** The transaction input the frames index. */
  data: Uint8Array
  /** Whether a finding names a registered distributor. */
  isNamed: (finding: Finding) => boolean
}

type OwnEvent = PlacedEvent & { index: number }
type Match = { index: number; finding: Finding }

/** Selectors of calls that make a vault emit one of its events: ERC-4626, ERC-7540. */
const vaultCalls: ReadonlyMap<string, VaultEvent['kind']> = new Map([
  ['6e553f65', 'deposit'], // deposit(uint256,address)
  ['94bf804d', 'deposit'], // mint(uint256,address)
  ['2e2d2984', 'deposit'], // deposit(uint256,address,address)
  ['da39b3e7', 'deposit'], // mint(uint256,address,address)
  ['b460af94', 'withdraw'], // withdraw(uint256,address,address)
  ['ba087652', 'withdraw'], // redeem(uint256,address,address)
  ['85b77f45', 'depositRequest'], // requestDeposit(uint256,address,address)
  ['7d41c86e', 'redeemRequest'], // requestRedeem(uint256,address,address)
])

/** Claims name the controller as sender, whoever sends them. */
const claimCalls: ReadonlySet<string> = new Set(['2e2d2984', 'da39b3e7'])

/** approve(address,uint256): makes no event of a vault, so a code behind it brings none. */
const approveCall = '095ea7b3'

/**
 * The frame whose code counts for each event.
 *
 * An event counts for a frame only if the frame's caller is one of the event's parties or ends the transaction with the
 * minted shares. A call to the vault itself is matched with that vault's events of its kind, in order: first those whose
 * sender made the call, then claims, whose sender is the controller. Events no such call explains (a router, a contract
 * we do not unwrap) go to the frames that carry a code: the nth to the nth, and what is left to a frame around them; all
 * to a call that is the only one. The code is that of the call itself or, where that names no distributor, of the
 * nearest frame around it.
 */
export function matchEvents(events: readonly OwnEvent[], calls: Calls): Match[] {
  const look = lookUp(calls)
  const used = matchDirect(events, look)
  const matched: Match[] = []
  const loose: OwnEvent[] = []
  for (const event of events) {
    const call = used.get(event)
    if (!call) {
      loose.push(event)
      continue
    }
    const finding = findAround(call, event, look)
    if (finding) matched.push({ index: event.index, finding })
  }
  return [...matched, ...matchLoose(loose, look, new Set(used.values()))]
}

type Look = Calls & {
  /** Calls that can have made an event: those with no call inside that we know of, approvals aside. */
  makers: readonly Frame[]
  selectorOf: (frame: Frame) => string
  findingOf: (frame: Frame) => Finding | undefined
}

function lookUp(calls: Calls): Look {
  const { frames, findings, data } = calls
  const selectors = new Map(
    frames.map((frame) => [nameOf(frame), Buffer.from(data.subarray(frame.start, frame.start + 4)).toString('hex')]),
  )
  const found = new Map(findings.map((finding) => [nameOf(finding.frame), finding]))
  const selectorOf = (frame: Frame) => selectors.get(nameOf(frame)) ?? ''
  return {
    ...calls,
    makers: frames.filter((frame) => frame.floor === frame.start && selectorOf(frame) !== approveCall),
    selectorOf,
    findingOf: (frame) => found.get(nameOf(frame)),
  }
}

/** No two frames of one sender begin at the same place and depth. */
function nameOf({ start, depth }: Frame): string {
  return `${start}:${depth}`
}

function matchDirect(events: readonly OwnEvent[], look: Look): Map<OwnEvent, Frame> {
  const direct = look.makers.flatMap((frame) => {
    const selector = look.selectorOf(frame)
    const kind = vaultCalls.get(selector)
    if (kind === undefined && look.findingOf(frame) === undefined) return []
    return [{ frame, kind, isExact: kind !== undefined && !claimCalls.has(selector) }]
  })
  const matched = new Map<OwnEvent, Frame>()
  const used = new Set<Frame>()
  const match = (accepts: (call: (typeof direct)[number], event: OwnEvent) => boolean) => {
    for (const event of events) {
      if (matched.has(event)) continue
      const call = direct.find(
        (each) =>
          !used.has(each.frame) &&
          each.frame.target === event.vault &&
          (each.kind ?? event.event.kind) === event.event.kind &&
          accepts(each, event),
      )
      if (!call) continue
      used.add(call.frame)
      matched.set(event, call.frame)
    }
  }
  match(({ frame }, { event }) => event.sender === frame.caller)
  match(({ frame, isExact }, event) => !isExact && mayClaim(frame, event))
  return matched
}

function matchLoose(events: readonly OwnEvent[], look: Look, used: ReadonlySet<Frame>): Match[] {
  const explained = new Set([...used].map(nameOf))
  const free = look.findings.filter(
    ({ frame }) =>
      look.makers.length === 1 || (look.selectorOf(frame) !== approveCall && !explained.has(nameOf(frame))),
  )
  const taken = new Set<Finding>()
  return events.flatMap((event) => {
    const claimants = free.filter(({ frame }) => mayClaim(frame, event))
    // What is inside a frame follows it.
    const isAround = (index: number) => {
      const [frame, next] = [claimants[index]?.frame, claimants[index + 1]?.frame]
      return frame !== undefined && next !== undefined && isInside(next, frame)
    }
    const own = claimants.find((each, index) => claimants.length === 1 || (!isAround(index) && !taken.has(each)))
    // A frame around several calls covers what those that carry codes of their own do not explain.
    const claimant = own ?? claimants.findLast((_, index) => isAround(index))
    if (!claimant) return []
    taken.add(claimant)
    const finding = findAround(claimant.frame, event, look)
    return finding ? [{ index: event.index, finding }] : []
  })
}

/** The code that counts for a call: its own or that of the nearest frame around it which names a distributor. */
function findAround(call: Frame, event: OwnEvent, look: Look): Finding | undefined {
  return look.frames
    .filter((frame) => (nameOf(frame) === nameOf(call) || isInside(call, frame)) && mayClaim(frame, event))
    .reverse()
    .map(look.findingOf)
    .find((finding) => finding !== undefined && look.isNamed(finding))
}

function mayClaim(frame: Frame, { event, gainers }: PlacedEvent): boolean {
  return eventParties(event).includes(frame.caller) || (event.kind === 'deposit' && gainers.has(frame.caller))
}

/** Whether a call lies inside a frame. */
function isInside(call: Frame, frame: Frame): boolean {
  return frame.depth < call.depth && frame.start <= call.start && call.end <= frame.end
}
