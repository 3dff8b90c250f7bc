import type { CallPaths, PathCall } from './callPaths.js'
import type { RawLog, RawTransaction } from './raw.js'
import type { TraceTree, TreeCall, TreeLog } from './traceTree.js'

/** Limits of one transaction's call paths; a call tree that needs more is refused. */
export const pathBounds = { calls: 4_096, bytes: 2 * 1024 * 1024 } as const

export type CheckInput = {
  tree: TraceTree
  transaction: Pick<RawTransaction, 'from' | 'to' | 'input'>
  /** All logs of its receipt, in order. */
  receipt: readonly RawLog[]
  /** Those of ours, by their index in the block. */
  ours: ReadonlySet<number>
}

/** Why a call tree is no fact. */
export type Doubt = { doubt: string }

/**
 * Checks a call tree against its transaction and receipt, and keeps the calls on the way to logs of ours: or, where the
 * tree has no logs, to the contracts that emitted them. Pure; nothing here calls itself.
 */
export function checkTrace(input: CheckInput): CallPaths | Doubt {
  const { tree, transaction, receipt, ours } = input
  const { calls } = tree
  const [root] = calls
  if (!root || root.parent !== undefined) return { doubt: 'it has no root' }
  const isCreation = transaction.to === null
  if (root.from !== transaction.from || root.input !== transaction.input || (root.kind === 'create') !== isCreation)
    return { doubt: 'its root is another transaction' }
  if (!isCreation && (root.kind !== 'call' || root.to !== transaction.to))
    return { doubt: 'its root is another transaction' }
  if (root.failed) return { doubt: 'its root was reverted, and yet there are logs' }
  const ran = findExecuted(calls)
  const unlinked = calls.findIndex((call, at) => ran[at] !== undefined && !isLinked(call, calls))
  if (unlinked >= 0) return { doubt: `the caller of call ${unlinked} is not the contract it runs in` }
  const placed = tree.logs ? placeLogs(tree.logs, calls, ran, receipt) : undefined
  if (placed && 'doubt' in placed) return placed
  const logsOf = new Map<number, number[]>()
  if (placed) {
    for (const { call, logIndex } of placed) if (ours.has(logIndex)) append(logsOf, call, logIndex)
  } else {
    const emitters = new Set(receipt.flatMap(({ logIndex, address }) => (ours.has(logIndex) ? [address] : [])))
    for (const [at, call] of calls.entries())
      if (ran[at] === 'live' && emitters.has(accountOf(call))) logsOf.set(at, [])
    const found = new Set([...logsOf.keys()].map((at) => accountOf(calls[at] as TreeCall)))
    if ([...emitters].some((emitter) => !found.has(emitter)))
      return { doubt: 'a contract that emitted a log of ours was not called' }
  }
  return prune(calls, logsOf, { hasLogs: placed !== undefined, input: transaction.input })
}

function append(lists: Map<number, number[]>, at: number, item: number): void {
  const own = lists.get(at)
  if (own) own.push(item)
  else lists.set(at, [item])
}

/** The account in whose name a call runs: its calls and its logs carry this address. */
function accountOf({ kind, from, to }: TreeCall): string {
  return kind === 'delegatecall' || kind === 'callcode' ? from : to
}

/** Which calls were executed to the end, with all they run in; `static` ones could not emit anything. */
function findExecuted(calls: readonly TreeCall[]): ('live' | 'static' | undefined)[] {
  const ran: ('live' | 'static' | undefined)[] = []
  for (const { parent, failed, kind } of calls) {
    const outer = parent === undefined ? 'live' : ran[parent]
    ran.push(failed || outer === undefined ? undefined : kind === 'staticcall' ? 'static' : outer)
  }
  return ran
}

function isLinked(call: TreeCall, calls: readonly TreeCall[]): boolean {
  if (call.parent === undefined) return true
  const outer = calls[call.parent]
  return outer !== undefined && call.from === accountOf(outer)
}

/** Which call emitted each log of the receipt; a doubt where the logs of calls that were not reverted are not these. */
function placeLogs(
  logs: readonly TreeLog[],
  calls: readonly TreeCall[],
  ran: readonly ('live' | 'static' | undefined)[],
  receipt: readonly RawLog[],
): { call: number; logIndex: number }[] | Doubt {
  const kept = logs.filter(({ call }) => ran[call] !== undefined)
  if (kept.length !== receipt.length) return { doubt: 'its logs are not as many as those of the receipt' }
  const placed: { call: number; logIndex: number }[] = []
  for (const [at, log] of kept.entries()) {
    const told = receipt[at]
    const call = calls[log.call]
    if (!told || !call || !isSameLog(log, told)) return { doubt: `its log ${at} is not that of the receipt` }
    if (ran[log.call] !== 'live') return { doubt: `its log ${at} was emitted where nothing can be` }
    if (accountOf(call) !== log.address) return { doubt: `its log ${at} was emitted by another contract` }
    placed.push({ call: log.call, logIndex: told.logIndex })
  }
  return placed
}

function isSameLog(log: TreeLog, told: RawLog): boolean {
  return (
    log.address === told.address &&
    log.data === told.data &&
    log.topics.length === told.topics.length &&
    log.topics.every((topic, at) => topic === told.topics[at])
  )
}

/** The calls with logs of ours and those they run in, in order. */
function prune(
  calls: readonly TreeCall[],
  logsOf: ReadonlyMap<number, readonly number[]>,
  { hasLogs, input }: { hasLogs: boolean; input: string },
): CallPaths | Doubt {
  const kept = new Set<number>()
  for (const from of logsOf.keys())
    for (let at: number | undefined = from; at !== undefined && !kept.has(at); at = calls[at]?.parent) kept.add(at)
  if (kept.size > pathBounds.calls) return { doubt: 'it has too many calls on the way to logs of ours' }
  const places = new Map([...kept].sort((a, b) => a - b).map((at, place) => [at, place]))
  const paths: PathCall[] = []
  /** Many calls hand on the same bytes. */
  const known = new Map<string, boolean>([[input, false]])
  let bytes = 0
  for (const at of places.keys()) {
    const call = calls[at]
    if (!call) return { doubt: 'a call is missing' }
    if (!known.has(call.input)) {
      known.set(call.input, !standsIn(call.input, input))
      if (known.get(call.input)) bytes += call.input.length / 2
    }
    if (bytes > pathBounds.bytes) return { doubt: 'its calls carry too many bytes' }
    paths.push({
      parent: call.parent === undefined ? undefined : places.get(call.parent),
      kind: call.kind === 'staticcall' || call.kind === 'selfdestruct' ? 'call' : call.kind,
      caller: call.from,
      target: call.to,
      input: call.input,
      logs: logsOf.get(at) ?? [],
      isWord: known.get(call.input) ?? true,
    })
  }
  return { calls: paths, hasLogs }
}

/** Whether bytes stand in others, at a whole byte. */
export function standsIn(bytes: string, whole: string): boolean {
  return findSlice(bytes, whole) !== undefined
}

/** Where bytes stand in others, in bytes from their beginning; both 0x text. */
export function findSlice(bytes: string, whole: string): number | undefined {
  const sought = bytes.slice(2)
  for (let at = whole.indexOf(sought, 2); at >= 0; at = whole.indexOf(sought, at + 1))
    if (at % 2 === 0) return (at - 2) / 2
  return undefined
}

/** Bytes that every suffix contains: the markers of ERC-8021 and of the legacy tracker. */
const markers = ['80218021802180218021802180218021', 'deadbeef']

/** Whether something rests on one node's word: bytes of its own making that may say who brought a deposit. */
export function restsOnWord({ calls }: CallPaths): boolean {
  return calls.some(({ isWord, input }) => isWord && markers.some((marker) => input.includes(marker)))
}

/** Removes the mark of one node's word: two nodes returned the same. */
export function clearWord(paths: CallPaths): CallPaths {
  return { ...paths, calls: paths.calls.map((call) => ({ ...call, isWord: false })) }
}

/** Whether two nodes told the same calls. */
export function isSamePaths(a: CallPaths, b: CallPaths): boolean {
  return (
    a.calls.length === b.calls.length &&
    a.calls.every((call, at) => {
      const other = b.calls[at]
      return (
        other !== undefined &&
        call.parent === other.parent &&
        call.kind === other.kind &&
        call.caller === other.caller &&
        call.target === other.target &&
        call.input === other.input &&
        (!a.hasLogs || !b.hasLogs || isSameList(call.logs, other.logs))
      )
    })
  )
}

function isSameList(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((item, at) => item === b[at])
}
