import { malformed } from './wire.js'

/** A call of a node's call tree as the node tells it, before anything of it is believed. */
export type TreeCall = {
  /** The index of the call it runs in; undefined for the root. A call comes after the one it runs in. */
  parent: number | undefined
  kind: 'call' | 'delegatecall' | 'callcode' | 'staticcall' | 'create' | 'selfdestruct'
  from: string
  /** For a creation: the created contract; empty if it failed. */
  to: string
  input: string
  failed: boolean
}

export type TreeLog = { call: number; address: string; topics: readonly string[]; data: string }

/** A call tree laid out flat, with its logs in the order they were emitted; undefined where the node does not tell it. */
export type TraceTree = { calls: readonly TreeCall[]; logs: readonly TreeLog[] | undefined }

/** Limits of a call tree; a larger one is refused. */
export const treeBounds = { calls: 50_000, depth: 1_025 } as const

const addressPattern = /^0x[0-9a-f]{40}$/
const bytesPattern = /^0x(?:[0-9a-f]{2})*$/
const quantityPattern = /^0x[0-9a-f]{1,8}$/

type Told = Record<string, unknown>

function asObject(value: unknown, what: string): Told {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed(`a node gave no ${what}`)
  return value as Told
}

function asList(value: unknown, what: string): readonly unknown[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw malformed(`a node gave no list of ${what}`)
  return value
}

function asText(value: unknown, pattern: RegExp, what: string): string {
  const text = typeof value === 'string' ? value.toLowerCase() : ''
  if (!pattern.test(text)) throw malformed(`a node gave a call with a malformed ${what}`)
  return text
}

const isSaid = (value: unknown): boolean => typeof value === 'string' && value !== ''

const debugKinds: Readonly<Record<string, TreeCall['kind']>> = {
  CALL: 'call',
  DELEGATECALL: 'delegatecall',
  CALLCODE: 'callcode',
  STATICCALL: 'staticcall',
  CREATE: 'create',
  CREATE2: 'create',
  SELFDESTRUCT: 'selfdestruct',
}

/** The place of a log by the node: after `position` of its call's own calls, or at `index` among all logs. */
type Place = { position: number | undefined; index: number | undefined }
type PlacedLog = TreeLog & Place

function readNumber(value: unknown): number | undefined {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  return typeof value === 'string' && quantityPattern.test(value.toLowerCase()) ? Number(value) : undefined
}

function readDebugCall(told: Told, parent: number | undefined): TreeCall {
  const kind = debugKinds[typeof told.type === 'string' ? told.type.toUpperCase() : '']
  if (!kind) throw malformed('a node gave a call of an unknown type')
  const failed = isSaid(told.error) || isSaid(told.revertReason)
  return {
    parent,
    kind,
    from: asText(told.from, addressPattern, 'caller'),
    to: told.to === undefined || told.to === null ? '' : asText(told.to, addressPattern, 'target'),
    input: asText(told.input ?? '0x', bytesPattern, 'input'),
    failed,
  }
}

function readDebugLog(value: unknown, call: number): PlacedLog {
  const told = asObject(value, 'log')
  return {
    call,
    address: asText(told.address, addressPattern, 'address of a log'),
    topics: asList(told.topics, 'topics').map((topic) => asText(topic, bytesPattern, 'topic')),
    data: asText(told.data ?? '0x', bytesPattern, 'data of a log'),
    position: readNumber(told.position),
    index: readNumber(told.index),
  }
}

/** Parses a result of `callTracer`. It does not recurse: a tree may be as deep as the response is long. */
export function readDebugTree(value: unknown): TraceTree {
  const calls: TreeCall[] = []
  const children: number[][] = []
  const logs: PlacedLog[][] = []
  let hasLogs = false
  const waiting: { told: Told; parent: number | undefined; depth: number }[] = [
    { told: asObject(value, 'call tree'), parent: undefined, depth: 1 },
  ]
  // The last of the waiting comes next, so that calls stand in the order in which they ran.
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { told, parent, depth } = next
    if (depth > treeBounds.depth) throw malformed('a node gave a call tree deeper than calls go')
    const at = calls.length
    if (at >= treeBounds.calls) throw malformed('a node gave a call tree of too many calls')
    calls.push(readDebugCall(told, parent))
    children.push([])
    if (parent !== undefined) children[parent]?.push(at)
    if (told.logs !== undefined && told.logs !== null) hasLogs = true
    logs.push(asList(told.logs, 'logs').map((log) => readDebugLog(log, at)))
    const inner = asList(told.calls, 'calls')
    if (inner.length > treeBounds.calls) throw malformed('a node gave a call tree of too many calls')
    for (let i = inner.length - 1; i >= 0; i--)
      waiting.push({ told: asObject(inner[i], 'call'), parent: at, depth: depth + 1 })
  }
  return { calls, logs: hasLogs ? orderLogs(calls, children, logs) : undefined }
}

/** The logs in the order they were emitted: by their places between calls, or by the numbers the node gives them. */
function orderLogs(
  calls: readonly TreeCall[],
  children: readonly (readonly number[])[],
  logs: readonly (readonly PlacedLog[])[],
): TreeLog[] | undefined {
  const isPlaced = logs.every(
    (own, at) => children[at]?.length === 0 || own.every(({ position }) => position !== undefined),
  )
  if (!isPlaced) {
    const all = logs.flat()
    if (all.some(({ index }) => index === undefined)) return undefined
    return all.sort((a, b) => (a.index ?? 0) - (b.index ?? 0))
  }
  const ordered: TreeLog[] = []
  const walk: { at: number; child: number; log: number }[] = calls.length > 0 ? [{ at: 0, child: 0, log: 0 }] : []
  for (let place = walk.at(-1); place; place = walk.at(-1)) {
    const own = logs[place.at] ?? []
    const log = own[place.log]
    const child = children[place.at]?.[place.child]
    if (log && (child === undefined || (log.position ?? 0) <= place.child)) {
      ordered.push(log)
      place.log += 1
    } else if (child !== undefined) {
      place.child += 1
      walk.push({ at: child, child: 0, log: 0 })
    } else walk.pop()
  }
  return ordered
}

const parityKinds: Readonly<Record<string, TreeCall['kind']>> = {
  call: 'call',
  delegatecall: 'delegatecall',
  callcode: 'callcode',
  staticcall: 'staticcall',
}

/** Parses a result of `trace_transaction`: calls with the path to each of them, without logs. */
export function readParityTree(value: unknown, hash: string): TraceTree {
  const list = asList(value, 'traces')
  if (list.length === 0) throw malformed('a node gave no traces')
  if (list.length > treeBounds.calls) throw malformed('a node gave a call tree of too many calls')
  const calls: TreeCall[] = []
  const byWay = new Map<string, number>()
  for (const value of list) {
    const told = asObject(value, 'trace')
    if (typeof told.transactionHash !== 'string' || told.transactionHash.toLowerCase() !== hash)
      throw malformed('a node gave traces of another transaction')
    if (told.type === 'reward') continue
    const way = asList(told.traceAddress, 'places')
    if (way.length >= treeBounds.depth) throw malformed('a node gave a call tree deeper than calls go')
    const parent = way.length === 0 ? undefined : byWay.get(way.slice(0, -1).join('.'))
    if ((way.length === 0) !== (calls.length === 0) || (way.length > 0 && parent === undefined))
      throw malformed('a node gave traces out of order')
    byWay.set(way.join('.'), calls.length)
    calls.push(readParityCall(told, parent))
  }
  return { calls, logs: undefined }
}

function readParityCall(told: Told, parent: number | undefined): TreeCall {
  const action = asObject(told.action, 'action')
  const failed = isSaid(told.error)
  if (told.type === 'suicide' || told.type === 'selfdestruct') {
    const from = asText(action.address ?? action.from, addressPattern, 'caller')
    return { parent, kind: 'selfdestruct', from, to: '', input: '0x', failed }
  }
  const from = asText(action.from, addressPattern, 'caller')
  if (told.type === 'create') {
    const made = typeof told.result === 'object' && told.result !== null ? (told.result as Told).address : undefined
    const to = made === undefined || made === null ? '' : asText(made, addressPattern, 'address')
    return { parent, kind: 'create', from, to, input: asText(action.init, bytesPattern, 'input'), failed }
  }
  const kind = parityKinds[typeof action.callType === 'string' ? action.callType.toLowerCase() : 'call']
  if (told.type !== 'call' || !kind) throw malformed('a node gave a call of an unknown type')
  const to = asText(action.to, addressPattern, 'target')
  return { parent, kind, from, to, input: asText(action.input ?? '0x', bytesPattern, 'input'), failed }
}
