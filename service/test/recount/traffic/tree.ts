import type { CallPaths, PathCall } from '../../../src/rpc/callPaths.js'
import type { RawLog } from '../../../src/rpc/raw.js'
import { contains, type Digits } from '../bytes.js'

export type Said = Pick<RawLog, 'address' | 'topics' | 'data'>
/** A call of a transaction and what it did, in order: calls it made and logs it emitted. */
export type Call = {
  kind: PathCall['kind']
  /** Who calls: of a delegatecall the caller that its code sees. */
  caller: string
  /** Of a delegatecall: in whose name its code runs, where that is not the caller. */
  name?: string
  target: string
  data: Digits
  did: (Call | Said)[]
}
const isCall = (done: Call | Said): done is Call => 'did' in done

export function newCall(caller: string, target: string, data: Digits, kind: Call['kind'] = 'call'): Call {
  return { kind, caller, target, data, did: [] }
}

/** The logs of a tree in the order in which they were emitted. */
export const logsOf = (call: Call): Said[] => call.did.flatMap((done) => (isCall(done) ? logsOf(done) : [done]))

/** The calls on the way to the logs, as a checked trace tells them. `hasSecond`: another node told the same. */
export function pathsOf(root: Call, firstLog: number, hasLogs: boolean, hasSecond: boolean): CallPaths {
  const calls: PathCall[] = []
  let logIndex = firstLog
  const emitters = new Set(logsOf(root).map(({ address }) => address))
  /** Without logs the calls to all that emitted one are kept. */
  const isKept = (call: Call): boolean =>
    hasLogs
      ? logsOf(call).length > 0
      : emitters.has(call.kind === 'delegatecall' ? (call.name ?? call.caller) : call.target) ||
        call.did.some((done) => isCall(done) && isKept(done))
  const walk = (call: Call, parent: number | undefined): void => {
    if (!isKept(call)) return
    const own: number[] = []
    const place = calls.length
    const isWord = parent !== undefined && !hasSecond && !contains(root.data, call.data)
    calls.push({
      parent,
      kind: call.kind,
      caller: call.name ?? call.caller,
      target: call.target,
      input: `0x${call.data}`,
      logs: own,
      isWord,
    })
    for (const done of call.did) {
      if (isCall(done)) walk(done, place)
      else {
        if (hasLogs) own.push(logIndex)
        logIndex += 1
      }
    }
  }
  walk(root, undefined)
  return { calls, hasLogs }
}

/** A transaction as it ran. */
export type Run = { root: Call; isFirst?: boolean }
