import { describe, expect, it } from 'vitest'
import type { CallPaths } from '../../src/rpc/callPaths.js'
import { checkTrace } from '../../src/rpc/checkTrace.js'
import type { RawLog } from '../../src/rpc/raw.js'
import { readDebugTree } from '../../src/rpc/traceTree.js'
import { limit, seeds } from './seeds.js'
import { startRandom } from './traffic/random.js'
import { writeSchedule } from './traffic/schedule.js'
import { type Call, pathsOf } from './traffic/tree.js'
import { people } from './traffic/world.js'

type ToldLog = { address: string; topics: readonly string[]; data: string; position: string }
type Told = { type: string; from: string; to: string; input: string; error?: string; calls: Told[]; logs: ToldLog[] }

const types = { call: 'CALL', delegatecall: 'DELEGATECALL', callcode: 'CALLCODE', create: 'CREATE' } as const

/** A call tree as a node's `callTracer` tells it. */
function tellTree(call: Call): Told {
  const told: Told = {
    type: types[call.kind],
    from: call.kind === 'delegatecall' ? (call.name ?? call.caller) : call.caller,
    to: call.target,
    input: `0x${call.data}`,
    calls: [],
    logs: [],
  }
  for (const done of call.did)
    if ('did' in done) told.calls.push(tellTree(done))
    else told.logs.push({ ...done, position: `0x${told.calls.length.toString(16)}` })
  return told
}

const listTold = (told: Told): Told[] => [told, ...told.calls.flatMap(listTold)]

/** What a node may say instead; each changes what ran, or who ran it. */
type Lie = (list: Told[], pick: <T>(items: readonly T[]) => T) => void
const stranger = `0x${'99'.repeat(20)}`
const emitting = (list: Told[]) => list.filter(({ logs }) => logs.length > 0)
const set = (told: Told | undefined, more: Partial<Told>): void => void Object.assign(told ?? {}, more)
const lies: Record<string, Lie> = {
  'another sender': ([root]) => set(root, { from: stranger }),
  'another target': ([root]) => set(root, { to: stranger }),
  'another input': ([root]) => set(root, { input: `${root?.input}00` }),
  'a forged caller': ([, ...inner], pick) => {
    const one = pick(inner)
    set(one, { from: one.from === people[0] ? people[1]! : people[0]! })
  },
  'a forged target of what emits': (list, pick) => set(pick(emitting(list)), { to: stranger, from: stranger }),
  'a call cut off': (list, pick) => {
    const outer = pick(list.filter(hasLogs))
    set(outer, { calls: outer.calls.filter((each) => !hasLogs(each)), logs: [] })
  },
  'a call reverted': (list, pick) => set(pick(list.filter(hasLogs)), { error: 'execution reverted' }),
  'a static call': (list, pick) => set(pick(emitting(list)), { type: 'STATICCALL' }),
  'a log less': (list, pick) => void pick(emitting(list)).logs.pop(),
  'a log told twice': (list, pick) => {
    const { logs } = pick(emitting(list))
    logs.push(logs.at(-1)!)
  },
  'a log of another amount': (list, pick) => {
    const [log] = pick(emitting(list)).logs
    Object.assign(log!, { data: `${log!.data}${'1'.repeat(64)}` })
  },
}
function hasLogs(told: Told): boolean {
  return listTold(told).some(({ logs }) => logs.length > 0)
}

/** Transactions of a schedule: how they ran, and their logs as the receipt has them. */
function* runsOf(seed: number) {
  const roots: Call[] = []
  const blocks = writeSchedule(seed, (root) => roots.push(root))
  const all = blocks.flatMap(({ transactions, logs }) =>
    transactions.map((transaction) => ({
      transaction,
      receipt: logs.filter(({ transactionHash }) => transactionHash === transaction.hash),
    })),
  )
  for (const [at, { transaction, receipt }] of all.entries()) yield { root: roots[at]!, transaction, receipt }
}

const judge = (told: Told, from: string, to: string | null, input: string, receipt: readonly RawLog[]) =>
  checkTrace({
    tree: readDebugTree(told),
    transaction: { from, to, input },
    receipt,
    ours: new Set(receipt.map(({ logIndex }) => logIndex)),
  })

describe('a node that tells how random traffic ran', () => {
  it(
    'is believed where it tells the truth, and the call paths are those of what ran',
    () => {
      for (const seed of seeds)
        for (const { root, transaction, receipt } of runsOf(seed)) {
          const { from, to, input } = transaction
          const found = judge(tellTree(root), from, to, input, receipt) as CallPaths
          expect(found, `seed ${seed}`).toEqual(pathsOf(root, receipt[0]!.logIndex, true, false))
        }
    },
    limit,
  )

  it(
    'changes nothing by a lie about any call, caller, target or log: the tree is refused',
    () => {
      const told = new Map<string, number>()
      for (const seed of seeds) {
        const random = startRandom(seed)
        for (const { root, transaction, receipt } of runsOf(seed)) {
          const [name, lie] = random.pick(Object.entries(lies))
          const tree = tellTree(root)
          if (name === 'a forged caller' && tree.calls.length === 0) continue
          lie(listTold(tree), random.pick)
          const { from, to, input } = transaction
          expect(judge(tree, from, to, input, receipt), `seed ${seed}: ${name}`).toEqual({ doubt: expect.any(String) })
          told.set(name, (told.get(name) ?? 0) + 1)
        }
      }
      expect([...told.keys()].sort()).toEqual(Object.keys(lies).sort())
    },
    limit,
  )
})
