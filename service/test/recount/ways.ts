import type { CallPaths } from '../../src/rpc/callPaths.js'
import type { RawBlock, RawTransaction } from '../../src/rpc/raw.js'
import { contains, digitsOf } from './bytes.js'
import type { Identity } from './identity.js'
import { isSilent, makes, matches, unwrap } from './knownCalls.js'
import { findOperations, operationOf, readEndings } from './operations.js'
import { chainOfCall } from './traceFrames.js'
import type { Creditable, Frame, Ways } from './types.js'

type World = { chainId: number; entryPoints: readonly string[] }

/** A frame among those of a transaction whose calls are not known log by log. */
type Node = { frame: Frame; parent: Node | undefined; endedAt: number | undefined }

/**
 * SEMANTICS §2, *Which call made an event*: the chains of frames in which each creditable event of one vault in one
 * transaction may have been made. One chain where that is known; several where it cannot be told.
 * `counting` says whether a frame would count for an event, `identity` whom its caller counts as.
 */
export function findWays(
  transaction: RawTransaction,
  block: RawBlock,
  vault: ReadonlySet<string>,
  events: readonly Creditable[],
  isPlain: boolean,
  counting: (event: Creditable, frame: Frame) => boolean,
  identity: Identity,
  world: World,
): Map<Creditable, Ways> {
  const ways = listWays(transaction, block, vault, events, isPlain, counting, identity, world)
  // A forwarder's caller keeps marks as any caller does.
  for (const [event, { ways: chains, callers }] of ways) {
    const frames = chains.flatMap((chain) => chain.frames)
    const named = frames.flatMap((frame) => [...identity.namesOf(frame, event), identity.speakerOf(frame, event)])
    ways.set(event, { ways: chains, callers: new Set([...callers, ...named]) })
  }
  return ways
}

function listWays(
  transaction: RawTransaction,
  block: RawBlock,
  vault: ReadonlySet<string>,
  events: readonly Creditable[],
  isPlain: boolean,
  counting: (event: Creditable, frame: Frame) => boolean,
  identity: Identity,
  world: World,
): Map<Creditable, Ways> {
  const logs = block.logs.filter(({ transactionHash }) => transactionHash === transaction.hash)
  const { evidence } = transaction
  if (evidence !== undefined && evidence !== 'no trace' && evidence.hasLogs)
    return new Map(
      events.map((event) => {
        const at = evidence.calls.findIndex((call) => call.logs.includes(event.logIndex))
        const chain =
          at < 0 ? { frames: [], emitting: undefined } : chainOfCall(evidence, at, event.logIndex, logs, world)
        return [event, { ways: [chain], callers: callersOf(chain.frames) }]
      }),
    )
  const root = rootOf(transaction)
  if (isPlain)
    return new Map(
      events.map((event) => [
        event,
        { ways: [{ frames: [root.frame], emitting: 0 }], callers: new Set([transaction.from]) },
      ]),
    )
  const nodes =
    evidence === undefined || evidence === 'no trace'
      ? listNodes(transaction, root, logs, world)
      : listTraced(evidence, logs, world)
  return matchAll(nodes, vault, events, counting, identity, (event) => {
    const of = world.entryPoints.map((each) =>
      operationOf(event.logIndex, logs, each, readEndings(logs, world.entryPoints)),
    )
    return new Set(of.flatMap((each) => (each ? [each.logIndex] : [])))
  })
}

const callersOf = (frames: readonly Frame[]) => new Set(frames.map(({ caller }) => caller))

function rootOf({ from, to, input }: RawTransaction): Node {
  const data = to === null ? '' : digitsOf(input)
  const frame = {
    caller: from,
    target: to ?? '',
    data,
    place: 0,
    isCall: true,
    isWord: false,
    operations: [],
    bundles: [],
  }
  return { frame, parent: undefined, endedAt: undefined }
}

/** Evidence `calldata`: the transaction, its operations, and one hop of the account of each. */
function listNodes(
  transaction: RawTransaction,
  root: Node,
  logs: Parameters<typeof readEndings>[0],
  world: World,
): Node[] {
  const nodes = [root]
  const add = (parent: Node, caller: string, target: string, data: string, isCall: boolean, endedAt?: number) => {
    const { operations, bundles } = parent.frame
    const frame = { caller, target, data, place: nodes.length, isCall, isWord: false, operations, bundles }
    const node: Node = { frame, parent, endedAt: endedAt ?? parent.endedAt }
    nodes.push(node)
    return node
  }
  const hop = (of: Node) => {
    const { caller, target, data } = of.frame
    for (const inner of unwrap(data)) {
      if (inner.target === 'itself') add(of, caller, target, inner.data, false)
      else add(of, target, inner.target, inner.data, true)
    }
  }
  if (transaction.to !== null) hop(root)
  const endings = readEndings(logs, world.entryPoints)
  const found: Node[] = []
  for (const operation of findOperations(digitsOf(transaction.input), endings, world.chainId)) {
    const { sender, callData, endedAt, entryPoint } = operation
    const node = add(root, sender, sender, callData, false, endedAt)
    node.frame.operations = [...node.frame.operations, callData]
    node.frame.bundles = [entryPoint]
    hop(node)
    found.push(node)
  }
  // It lies in the innermost call that was given it: of a contract in between, or of an operation that runs a bundle.
  for (const node of found)
    node.parent = nodes
      .filter((other) => !isWithin(other, node) && contains(other.frame.data, node.frame.data))
      .reduce((inner, other) => (chainOf(other).length > chainOf(inner).length ? other : inner), root)
  return nodes
}

/** A call tree without logs: every call on the way to the vault, with what is around it. */
function listTraced(paths: CallPaths, logs: Parameters<typeof readEndings>[0], world: World): Node[] {
  const nodes = new Map<number, Node>()
  paths.calls.forEach((_, at) => {
    const { frames, endedAt } = chainOfCall(paths, at, undefined, logs, world)
    let parent: Node | undefined
    for (const frame of frames.toReversed()) {
      const known = nodes.get(frame.place)
      // A frame around an operation is of no operation.
      parent = known ?? { frame, parent, endedAt: frame.operations.length > 0 ? endedAt : undefined }
      nodes.set(frame.place, parent)
    }
  })
  return [...nodes.values()]
}

function chainOf(node: Node | undefined): Frame[] {
  return node === undefined ? [] : [node.frame, ...chainOf(node.parent)]
}
const isWithin = (node: Node, outer: Node): boolean =>
  node === outer || (node.parent !== undefined && isWithin(node.parent, outer))

function matchAll(
  all: readonly Node[],
  vault: ReadonlySet<string>,
  events: readonly Creditable[],
  counting: (event: Creditable, frame: Frame) => boolean,
  identity: Identity,
  operationsOf: (event: Creditable) => ReadonlySet<number>,
): Map<Creditable, Ways> {
  const inScope = (event: Creditable) => {
    const operations = operationsOf(event)
    return all.filter(
      (node) =>
        (node.endedAt === undefined || operations.has(node.endedAt)) &&
        // What does not count for the event makes no doubt about it.
        counting(event, node.frame),
    )
  }
  const result = new Map<Creditable, Ways>()
  const direct = new Map(
    events.map((event) => [event, inScope(event).filter(({ frame }) => isDirect(frame, vault, event, identity))]),
  )
  for (const event of events) {
    const made = direct.get(event)!
    if (made.length === 0) continue
    const rivals = events.filter((other) => direct.get(other)!.some((node) => made.includes(node)))
    const calls = all.filter((node) => rivals.some((other) => direct.get(other)!.includes(node)))
    result.set(event, inOrder(event, rivals, calls, made))
  }
  for (const event of events) {
    if (result.has(event)) continue
    result.set(event, indirect(event))
  }
  return result

  function indirect(event: Creditable): Ways {
    const scope = inScope(event)
    const takers = scope.filter(
      // The transaction itself lies around everything.
      ({ frame, parent }) => (!vault.has(frame.target) && isSender(frame.target, event)) || parent === undefined,
    )
    const innermost = takers.filter((node) => !takers.some((other) => other !== node && isWithin(other, node)))
    // Events of another operation are none of these calls'.
    const rivals = events.filter(
      (other) =>
        direct.get(other)!.length === 0 &&
        other.sender === event.sender &&
        inScope(other).some((node) => innermost.includes(node)),
    )
    // Calls to the vault that may have made it after all: of another amount, or of a name that is not known.
    const doubtful = scope.filter(
      ({ frame }) =>
        vault.has(frame.target) &&
        identity.callerOf(frame, event) === identity.ownerOf(event.sender) &&
        mayMake(frame, event) &&
        !isTaken(frame),
    )
    const ordered: Ways =
      innermost.length === 0
        ? { ways: [{ frames: [], emitting: undefined }], callers: new Set() }
        : innermost.length === 1
          ? waysOf(innermost)
          : innermost.length === rivals.length
            ? waysOf([innermost[rivals.indexOf(event)]!])
            : waysOf([
                ...innermost,
                ...innermost.flatMap(({ parent }) => (parent && takers.includes(parent) ? [parent] : [])),
              ])
    if (doubtful.length === 0) return ordered
    const more = waysOf(doubtful)
    return { ways: [...ordered.ways, ...more.ways], callers: new Set([...ordered.callers, ...more.callers]) }
  }

  function isSender(address: string, event: Creditable): boolean {
    return identity.ownerOf(address) === identity.ownerOf(event.sender)
  }

  function isTaken(frame: Frame): boolean {
    return events.some((event) => direct.get(event)!.some((node) => node.frame === frame))
  }
}

function mayMake({ data }: Frame, event: Creditable): boolean {
  const kind = makes(data)
  return kind === event.kind || (kind === undefined && !isSilent(data))
}

function isDirect(
  frame: Frame,
  vault: ReadonlySet<string>,
  event: Creditable,
  { callerOf, ownerOf }: Identity,
): boolean {
  if (!vault.has(frame.target) || !matches(frame.data, event)) return false
  const caller = callerOf(frame, event)
  return caller === ownerOf(event.sender) || ('controller' in event && caller === ownerOf(event.controller))
}

function waysOf(nodes: readonly Node[]): Ways {
  const ways = nodes.map((node) => ({ frames: chainOf(node), emitting: undefined }))
  return { ways, callers: new Set(ways.flatMap(({ frames }) => frames.map(({ caller }) => caller))) }
}

/** As many calls as events: in order. Otherwise any of them may have made it, or one that is not seen. */
function inOrder(
  event: Creditable,
  rivals: readonly Creditable[],
  calls: readonly Node[],
  made: readonly Node[],
): Ways {
  const emits = (node: Node): Ways => ({
    ways: [{ frames: chainOf(node), emitting: node.frame.isCall ? node.frame.place : undefined }],
    callers: new Set(chainOf(node).map(({ caller }) => caller)),
  })
  if (rivals.length === calls.length) return emits(calls[rivals.indexOf(event)]!)
  const ways = waysOf(made)
  return calls.length > rivals.length ? ways : { ...ways, ways: [...ways.ways, { frames: [], emitting: undefined }] }
}
