import type { Address } from 'viem'
import { readAddress, readArray, readSelector, readTuple } from './abi.js'
import { hasBytesAt } from './bytes.js'
import { calldataBytes, parseHex } from './calldata.js'
import type { Span } from './erc8021.js'
import { hashesOf, type Operation, type OperationEvent, readOperation } from './executed.js'
import { type Frame, type FrameGroup, operationsMax } from './frames.js'
import { operationBody } from './wrappers.js'

/** A call of a transaction as a node's call tree tells it; addresses lower-case. */
export type TracedCall = {
  /** The index of the call it runs in; undefined for the transaction's own. A call comes after the one it runs in. */
  parent: number | undefined
  kind: 'call' | 'delegatecall' | 'callcode' | 'create'
  /** Of a delegatecall the account whose name it runs in. */
  caller: string
  /** Of a delegatecall the contract whose code runs. */
  target: string
  input: string
  /** Logs it emitted itself, by their index in the block. */
  logs: readonly number[]
  isWord: boolean
}

/** `execution` is a BeforeExecution of an entry point. */
export type Execution = { entryPoint: string; logIndex: number }

export type TracedFrames = {
  groups: FrameGroup[]
  /** The transaction's own call, where that is a `handleOps`. */
  bundle: Frame | undefined
  truncated: boolean
  /** The frame in which each log was emitted, by the log's index; undefined if its call is not a frame. */
  made: ReadonlyMap<number, Frame | undefined>
}

const bundleSelectors: ReadonlyMap<number, { words: 9 | 11; aggregated: boolean }> = new Map([
  [0x1fad948c, { words: 11, aggregated: false }], // EntryPoint 0.6 handleOps
  [0x4b1d7cf5, { words: 11, aggregated: true }], // EntryPoint 0.6 handleAggregatedOps
  [0x765e827f, { words: 9, aggregated: false }], // EntryPoint 0.7 and 0.8 handleOps
  [0xdbed18e0, { words: 9, aggregated: true }], // EntryPoint 0.7 and 0.8 handleAggregatedOps
])

/** Bytes of a delegatecall's data that are sought; less can carry nothing. */
const delegatedMin = 4
/** Times the length of all data that is searched at most for what delegatecalls and inner calls take from it. */
const searchedMax = 64

/** A bundle an entry point runs: its operations, and those of them it has told of. */
type Bundle = { entryPoint: string; data: Uint8Array; isWord: boolean; operations: readonly Operation[] }

/** The frame of an operation, and the group of the frames in it. */
type Opened = { frame: Frame; group: FrameGroup }
type Open = (own: Omit<Frame, 'depth' | 'proven' | 'within' | 'floor' | 'ranBy'>, into?: FrameGroup) => Frame

/** The context of the calls that a call makes. */
type Around = {
  frame: Frame | null
  group: FrameGroup
  /** The call a delegatecall runs in: whose name it has, and the data its own may lie in. */
  runs: { caller: Address; target: Address; data: Uint8Array; span: Span }
  bundle: Bundle | undefined
  /** The entry points whose bundles it lies in. */
  ranBy: readonly string[]
  /** The entry point's own call around, which names the operation. */
  own: number | undefined
}

const nobody = '0x' as Address
/** The context of the outermost call. */
const nothing: Around['runs'] = {
  caller: nobody,
  target: nobody,
  data: new Uint8Array(0),
  span: { start: 0, end: 0 },
}

/**
 * The frames of a transaction by its call tree: every call except those that entry points make, an operation around the calls
 * that its account makes in it, and delegated calls whose data lies in that of their call. A creation is not a frame.
 */
export function readTraced(transaction: {
  chainId: number
  calls: readonly TracedCall[]
  hasLogs: boolean
  entryPoints: readonly string[]
  operations: readonly OperationEvent[]
  executions: readonly Execution[]
  /** A call of `handleOps` is no frame, as before version 3 of the rules. */
  leavesBundles: boolean
  /** Whether bytes hold a marker of a suffix. */
  mayCarry: (data: Uint8Array) => boolean
}): TracedFrames {
  const { calls, entryPoints, leavesBundles, mayCarry } = transaction
  const data = calls.map(({ input }) => calldataBytes(input as `0x${string}`))
  const children = listChildren(calls)
  const firstLogs = transaction.hasLogs ? listFirstLogs(calls) : []
  const whole: FrameGroup = { kind: 'transaction', frames: [] }
  const groups: FrameGroup[] = [whole]
  const made = new Map<number, Frame | undefined>()
  const opened = new Map<OperationEvent, Opened>()
  const bundles = new Set<Frame>()
  let room = searchedMax * data.reduce((sum, { length }) => sum + length, 0)

  const find = (bytes: Uint8Array, part: Uint8Array, span: Span): number => {
    room -= span.end - span.start
    if (room < 0) return -1
    const view = Buffer.from(bytes.buffer, bytes.byteOffset + span.start, span.end - span.start)
    const at = view.lastIndexOf(part)
    return at < 0 ? -1 : span.start + at
  }

  const visit = (index: number, around: Around): Around => {
    const call = calls[index]
    const bytes = data[index]
    if (!call || !bytes) return around
    const [caller, target] = [call.caller as Address, call.target as Address]
    const { frame: outer, group, runs } = around
    const open: Open = (own, into) => {
      const frame: Frame = {
        ...own,
        floor: own.start,
        depth: (outer?.depth ?? -1) + 1,
        proven: true,
        within: outer,
        isWord: call.isWord,
        ranBy: around.ranBy,
      }
      into?.frames.push(frame)
      return frame
    }
    if (call.kind === 'delegatecall' || call.kind === 'callcode') {
      const { span } = runs
      if (bytes.length < delegatedMin) return around
      if (bytes.length === span.end - span.start && hasBytesAt(runs.data, span.start, bytes)) return around
      const start = find(runs.data, bytes, span)
      if (start < 0) return around
      const { caller: from, target: to } = runs
      const frame = open({ caller: from, target: to, data: runs.data, start, end: start + bytes.length }, group)
      return { ...around, frame }
    }
    const span = { start: 0, end: bytes.length }
    const own = { caller, target, data: bytes, span }
    if (call.kind === 'create') return { ...around, runs: own, bundle: undefined, own: undefined }
    const { ranBy } = around
    const isEntryPoint = entryPoints.includes(target)
    if (around.bundle && caller === around.bundle.entryPoint) {
      if (target === caller) return { ...around, runs: own, own: index }
      const event = findEvent(transaction, {
        bundle: around.bundle,
        own: around.own === undefined ? undefined : data[around.own],
        ...{ log: firstLogs[index], sender: target },
      })
      const found = event && (opened.get(event) ?? openOperation(around.bundle, event, target, open))
      const closed = { ...around, bundle: undefined, own: undefined }
      if (!found) return { ...closed, runs: own }
      const { start, end } = found.frame
      const inside = { caller: target, target, data: found.frame.data, span: { start, end } }
      return { ...closed, frame: found.frame, group: found.group, runs: inside }
    }
    const kind = isEntryPoint ? bundleSelectors.get(readSelector({ data: bytes, ...span }) ?? 0) : undefined
    if (kind) {
      const listed = { entryPoint: target, data: bytes, isWord: call.isWord, operations: listOperations(bytes, kind) }
      const carrier = leavesBundles
        ? outer
        : open({ caller, target, data: bytes, ...span }, index === 0 ? undefined : group)
      if (carrier && carrier !== outer) bundles.add(carrier)
      return { frame: carrier, group, runs: own, bundle: listed, ranBy: [target, ...ranBy], own: undefined }
    }
    const frame = open({ caller, target, data: bytes, ...span }, group)
    return { frame, group, runs: own, bundle: undefined, ranBy, own: undefined }
  }

  const openOperation = (bundle: Bundle, event: OperationEvent, sender: Address, open: Open): Opened | undefined => {
    const operation = findOperation(bundle, event, sender, transaction.chainId)
    if (!operation) return undefined
    const { start, end } = operationBody({ ...operation.callData, data: bundle.data })
    const { logIndex: endedAt } = event
    const group: FrameGroup = { kind: 'userOperation', index: groups.length - 1, sender, frames: [], endedAt }
    const frame = open({ caller: sender, target: sender, data: bundle.data, start, end }, group)
    frame.isWord = bundle.isWord
    groups.push(group)
    opened.set(event, { frame, group })
    return { frame, group }
  }

  const top: Around = { frame: null, group: whole, runs: nothing, bundle: undefined, ranBy: [], own: undefined }
  const waiting: { index: number; around: Around }[] = calls[0] ? [{ index: 0, around: top }] : []
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { index } = next
    const around = visit(index, next.around)
    for (const log of calls[index]?.logs ?? []) made.set(log, around.frame ?? undefined)
    for (const child of [...(children[index] ?? [])].reverse()) waiting.push({ index: child, around })
  }
  raiseFloors(groups, { bundles, mayCarry, find })
  const bundle = [...bundles].find((frame) => frame.data === data[0])
  return { groups: groups.filter(({ frames }) => frames.length > 0), bundle, truncated: room < 0, made }
}

/** Raises the floor of each frame that carries something above the calls whose data lies in its own. */
function raiseFloors(
  groups: readonly FrameGroup[],
  {
    bundles,
    mayCarry,
    find,
  }: { bundles: ReadonlySet<Frame>; mayCarry: (data: Uint8Array) => boolean; find: Parameters<typeof endInside>[2] },
): void {
  const carrying = new Map<Frame, boolean>()
  const carries = (frame: Frame): boolean => {
    const known = carrying.get(frame) ?? mayCarry(frame.data.subarray(frame.start, frame.end))
    carrying.set(frame, known)
    return known
  }
  const inward = groups.flatMap(({ frames }) => frames).sort((a, b) => b.depth - a.depth)
  for (const frame of inward) {
    if (bundles.has(frame)) continue
    // Bytes behind the operations of a bundle may also belong to the contract that passes the bundle on.
    let outer = frame.within
    for (let isLast = false; outer && !isLast; outer = outer.within) {
      isLast = !bundles.has(outer)
      if (carries(outer)) outer.floor = Math.max(outer.floor, endInside(frame, outer, find))
    }
  }
}

/** The operation of a bundle that an event tells of; undefined where it failed or is another account's. */
function findOperation(
  { operations }: Bundle,
  event: OperationEvent,
  sender: Address,
  chainId: number,
): Operation | undefined {
  if (!event.success || event.sender !== sender) return undefined
  return operations.find((each) => isOperationOf(each, event, chainId))
}

/** Which operation the entry point calls an account for: its own call names it, else the logs that follow, else its sender. */
function findEvent(
  { operations, executions }: { operations: readonly OperationEvent[]; executions: readonly Execution[] },
  {
    bundle,
    own,
    log,
    sender,
  }: {
    bundle: Bundle
    /** The data of the entry point's own call. */
    own: Uint8Array | undefined
    /** The first log that follows. */
    log: number | undefined
    sender: string
  },
): OperationEvent | undefined {
  const told = operations.filter(({ entryPoint }) => entryPoint === bundle.entryPoint)
  const named = own === undefined ? undefined : told.find(({ hash }) => holdsWord(own, hash))
  if (named) return named
  if (log !== undefined) {
    const isRunning = executions.some(({ entryPoint, logIndex }) => entryPoint === bundle.entryPoint && logIndex < log)
    return isRunning ? told.find(({ logIndex }) => logIndex > log) : undefined
  }
  const ofSender = told.filter((event) => event.sender === sender && event.success)
  return ofSender.length === 1 ? ofSender[0] : undefined
}

/**
 * Where the data of a call ends in that of the frame around it, if it lies there. A call that is made with the whole data of
 * the frame takes nothing of it: what that carries is of both.
 */
function endInside(
  call: Frame,
  outer: Frame,
  find: (bytes: Uint8Array, part: Uint8Array, span: Span) => number,
): number {
  if (call.data === outer.data) return call.end <= outer.end ? call.end : outer.floor
  const length = call.end - call.start
  if (isSameData(call, outer)) return outer.start + (call.floor - call.start)
  // Data longer than that around it cannot lie in it.
  if (length < delegatedMin || length > outer.end - outer.start) return outer.floor
  const at = find(outer.data, call.data.subarray(call.start, call.end), outer)
  return at < 0 ? outer.floor : at + length
}

function isSameData(a: Frame, b: Frame): boolean {
  return a.end - a.start === b.end - b.start && hasBytesAt(a.data, a.start, b.data.subarray(b.start, b.end))
}

function listChildren(calls: readonly TracedCall[]): number[][] {
  const children: number[][] = calls.map(() => [])
  calls.forEach(({ parent }, index) => {
    if (parent !== undefined && parent < index) children[parent]?.push(index)
  })
  return children
}

/** The first log of each call and of the calls inside it. */
function listFirstLogs(calls: readonly TracedCall[]): (number | undefined)[] {
  const first = calls.map(({ logs }) => (logs.length === 0 ? undefined : Math.min(...logs)))
  for (let index = calls.length - 1; index > 0; index--) {
    const [parent, log] = [calls[index]?.parent, first[index]]
    if (parent === undefined || parent >= index || log === undefined) continue
    first[parent] = Math.min(first[parent] ?? log, log)
  }
  return first
}

/** Words of an entry point's own call in which it names the operation. */
const namedWords = 20

function holdsWord(data: Uint8Array | undefined, hash: string): boolean {
  const word = parseHex(hash)
  if (!data || !word) return false
  for (let at = 4; at <= 4 + namedWords * 32; at += 32) if (hasBytesAt(data, at, word)) return true
  return false
}

function listOperations(data: Uint8Array, { words, aggregated }: { words: 9 | 11; aggregated: boolean }): Operation[] {
  const slice = { data, start: 0, end: data.length }
  const found: Operation[] = []
  const add = (base: number) => {
    const list = readArray(slice, base, base)
    for (let at = 0; list && at < list.count && found.length < operationsMax; at++) {
      const tuple = readTuple(slice, list.start, list.start + at * 32, words)
      const operation = tuple === undefined ? undefined : readOperation(data, tuple, words)
      if (operation) found.push(operation)
    }
  }
  if (!aggregated) {
    add(4)
    return found
  }
  const lists = readArray(slice, 4, 4)
  for (let at = 0; lists && at < lists.count && at < operationsMax; at++) {
    const tuple = readTuple(slice, lists.start, lists.start + at * 32, 3)
    if (tuple !== undefined) add(tuple)
  }
  return found
}

/** initCode of an account that is an EIP-7702 delegation: the entry point hashes the delegate instead, which nobody writes. */
const delegationMarker = Uint8Array.of(0x77, 0x02)

function isOperationOf(operation: Operation, event: OperationEvent, chainId: number): boolean {
  const { data, start, initCode } = operation
  const slice = { data, start: 0, end: data.length }
  const nonce = parseHex(`0x${event.nonce.toString(16).padStart(64, '0')}`)
  if (readAddress(slice, start) !== event.sender || !nonce || !hasBytesAt(data, start + 32, nonce)) return false
  if (initCode.end - initCode.start >= 2 && hasBytesAt(data, initCode.start, delegationMarker)) return true
  const wanted = parseHex(event.hash)
  return wanted !== undefined && hashesOf(operation, event, chainId).some((hash) => hasBytesAt(hash, 0, wanted))
}
