import type { Hex } from 'viem'
import type { CallPaths, PathCall } from '../src/rpc/callPaths.js'
import type { RawLog } from '../src/rpc/raw.js'

/** Call trees written by hand: calls with what they emit and call, in order. */

type Log = Pick<RawLog, 'address' | 'topics' | 'data'>
export type Call = { kind: PathCall['kind']; caller: string; target: string; input: string; steps: readonly Step[] }
export type Step = Log | Call

const calling =
  (kind: PathCall['kind']) =>
  (caller: string, target: string, input: string, ...steps: readonly (Step | readonly Step[])[]): Call => ({
    kind,
    caller,
    target,
    input: input.toLowerCase(),
    steps: steps.flat() as Step[],
  })
/** A call; of a delegatecall the caller is the account in whose name the code of the target runs. */
export const calls = calling('call')
export const delegates = calling('delegatecall')
export const creates = calling('create')

const isCall = (step: Step): step is Call => 'kind' in step

/** A transaction that makes a call, with what a node tells of how it ran. */
export function traced(root: Call, { hasLogs = true, confirmed = false } = {}) {
  const logs: Log[] = []
  const list: (PathCall & { logs: number[] })[] = []
  const add = ({ steps, ...call }: Call, parent: number | undefined) => {
    const index = list.length
    const isWord = !confirmed && !root.input.includes(call.input.slice(2))
    const own = { ...call, parent, logs: [] as number[], isWord }
    list.push(own)
    for (const step of steps)
      if (isCall(step)) add(step, index)
      else {
        if (hasLogs) own.logs.push(logs.length)
        logs.push(step)
      }
  }
  add(root, undefined)
  const evidence: CallPaths = { calls: list, hasLogs }
  return { from: root.caller as Hex, to: root.target as Hex, input: root.input, logs, evidence }
}

/** The same transaction where no trace of it is to be had. */
export function untraced({ evidence: _, ...transaction }: ReturnType<typeof traced>) {
  return { ...transaction, evidence: 'no trace' as const }
}
