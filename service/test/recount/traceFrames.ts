import type { CallPaths, PathCall } from '../../src/rpc/callPaths.js'
import type { RawLog } from '../../src/rpc/raw.js'
import { contains, type Digits, digitsOf } from './bytes.js'
import { findOperations, readEndings } from './operations.js'
import type { Chain, Frame, OwnLogs } from './types.js'

type World = { chainId: number; entryPoints: readonly string[] }

/** SEMANTICS §2, *Frames*, of a checked call tree: the frames around what a call did, innermost first. */
export function chainOfCall(
  paths: CallPaths,
  at: number,
  logIndex: number | undefined,
  logs: readonly RawLog[],
  world: World,
): Chain & { endedAt: number | undefined } {
  const { calls } = paths
  const frames: Frame[] = []
  const operations = operationsAround(paths, at, logIndex, logs, world)
  for (const place of walkUp(calls, at)) {
    const call = calls[place]!
    const around = operations.filter((each) => isInside(calls, place, each.place)).map(({ callData }) => callData)
    const bundles = bundlesAround(calls, place, world.entryPoints)
    const common = { place, isWord: call.isWord, operations: around, bundles }
    const operation = operations.find((each) => each.place === place)
    if (operation) {
      const { sender, callData } = operation
      frames.push({ ...common, caller: sender, target: sender, data: callData, isCall: false })
      continue
    }
    if (call.kind === 'delegatecall') {
      const frame = readDelegate(calls, place, operations)
      if (frame) frames.push({ ...common, ...frame, isCall: false })
      continue
    }
    // The entry point's own calls to accounts are no frames.
    if (world.entryPoints.includes(call.caller)) continue
    // A creation is no call.
    if (call.kind === 'create') continue
    frames.push({ ...common, caller: call.caller, target: call.target, data: digitsOf(call.input), isCall: true })
  }
  return { frames, emitting: resolve(calls, at), endedAt: operations[0]?.endedAt }
}

const walkUp = (calls: readonly PathCall[], at: number): number[] => {
  const places: number[] = []
  for (let place: number | undefined = at; place !== undefined; place = calls[place]!.parent) places.push(place)
  return places
}
/** The entry points whose own calls lie around a call: what lies there is in a bundle of theirs, they are told of it from without. */
const bundlesAround = (calls: readonly PathCall[], at: number, entryPoints: readonly string[]): string[] =>
  walkUp(calls, at)
    .map((place) => calls[place]!.caller)
    .filter((caller) => entryPoints.includes(caller))
const isInside = (calls: readonly PathCall[], place: number, outer: number): boolean =>
  walkUp(calls, place).includes(outer)

/** The call in whose name code runs: delegatecalls resolved. */
export function resolve(calls: readonly PathCall[], at: number): number {
  let place = at
  while (calls[place]!.kind === 'delegatecall' && calls[place]!.parent !== undefined) place = calls[place]!.parent!
  return place
}

/** A delegatecall's data counts where it lies inside the data of the call it runs in and does not repeat it. */
function readDelegate(
  calls: readonly PathCall[],
  place: number,
  operations: readonly Ran[],
): Pick<Frame, 'caller' | 'target' | 'data'> | undefined {
  const data = digitsOf(calls[place]!.input)
  const owner = resolve(calls, place)
  const operation = operations.find((each) => each.place === owner)
  const of = operation
    ? { caller: operation.sender, target: operation.sender, data: operation.callData }
    : { caller: calls[owner]!.caller, target: calls[owner]!.target, data: digitsOf(calls[owner]!.input) }
  if (calls[owner]!.kind === 'create') return undefined
  const repeats = walkUp(calls, place)
    .slice(1)
    .some((outer) => isInside(calls, outer, owner) && digitsOf(calls[outer]!.input) === data)
  return data === '' || repeats || data === of.data || !contains(of.data, data) ? undefined : { ...of, data }
}

type Ran = { place: number; sender: string; callData: Digits; endedAt: number }

/** Operations in whose account's calls something lies: each call of an entry point to an account, in a bundle it was given. */
function operationsAround(
  { calls }: CallPaths,
  at: number,
  logIndex: number | undefined,
  logs: readonly RawLog[],
  { chainId, entryPoints }: World,
): Ran[] {
  const endings = readEndings(logs, entryPoints)
  const ran: Ran[] = []
  const path = walkUp(calls, at)
  path.forEach((place, index) => {
    const { caller, target, kind } = calls[place]!
    if (kind === 'delegatecall' || !entryPoints.includes(caller) || target === caller) return
    // The bundle: the nearest call from without to that entry point.
    const bundle = path
      .slice(index + 1)
      .find((outer) => calls[outer]!.target === caller && calls[outer]!.caller !== caller)
    if (bundle === undefined) return
    const given = findOperations(
      digitsOf(calls[bundle]!.input),
      endings.filter((each) => each.entryPoint === caller),
      chainId,
    )
    if (logIndex === undefined) {
      // What is not known by its log is known by its data: the nth such call is of the nth such operation.
      const { input } = calls[place]!
      const same = (each: PathCall) => each.caller === caller && each.target === target && each.input === input
      const before = calls.slice(0, place).filter((each, other) => same(each) && isInside(calls, other, bundle)).length
      const mine = given
        .filter(({ sender, callData }) => sender === target && callData === digitsOf(input))
        .sort((a, b) => a.endedAt - b.endedAt)[before]
      if (mine) ran.push({ place, sender: mine.sender, callData: mine.callData, endedAt: mine.endedAt })
      return
    }
    const hasBegun = logs.some(
      (log) => log.address === caller && log.topics[0] === beforeExecution && log.logIndex < logIndex,
    )
    const next = given.filter(({ endedAt }) => endedAt > logIndex).sort((a, b) => a.endedAt - b.endedAt)[0]
    // A failed operation of the bundle that ends first says that this is none of a later one.
    if (hasBegun && next && next.sender === target)
      ran.push({ place, sender: next.sender, callData: next.callData, endedAt: next.endedAt })
  })
  return ran
}

const beforeExecution = '0xbb47ee3e183a558b1a2ff0874b079f3fc5478b7454eacf2bfc5af2ff5878f972'

/** The call whose own a log is: the part of a multicall that ran it, else the call it is resolved to. */
function ownCall(calls: readonly PathCall[], at: number): number {
  let place = at
  while (calls[place]!.kind === 'delegatecall' && calls[place]!.parent !== undefined) {
    if (readDelegate(calls, place, [])) return place
    place = calls[place]!.parent!
  }
  return place
}

/** With logs in the trace: which logs each call, calls in it included, emitted. */
export function ownLogs({ calls }: CallPaths): OwnLogs {
  const own = new Map<number, Set<number>>()
  calls.forEach((call, place) => {
    for (const logIndex of call.logs) {
      const inside = new Set<number>()
      const owner = ownCall(calls, place)
      calls.forEach((other, otherPlace) => {
        if (isInside(calls, otherPlace, owner)) for (const each of other.logs) inside.add(each)
      })
      own.set(logIndex, inside)
    }
  })
  return own
}
