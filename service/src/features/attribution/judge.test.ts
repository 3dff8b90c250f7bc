import type { Address, Hex } from 'viem'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { patience, patient } from '../../../../contracts/test/patience.js'
import { chainId, schema0, schema2, signed, signers } from '../../../../packages/attribution/test/suffixes.js'
import {
  account,
  deposit,
  entryPoints,
  library,
  multicall,
  owner,
} from '../../../../packages/attribution/test/wrapping.js'
import { createAnswerCache } from '../../kernel/answerCache.js'
import { silentLog } from '../../kernel/log.js'
import { boundInspection, takeWithin } from './boundAnswer.js'
import { type Judge, type JudgeOptions, openJudge } from './judge.js'
import type { Subject } from './judgement.js'

// Files of one worker share its modules: what is replaced here is read anew, and again by the files after this one.
vi.hoisted(() => vi.resetModules())
afterAll(() => {
  vi.resetModules()
})

/** Signature checks on this thread; the judge's own thread loads its own code. */
const checks = vi.hoisted(() => ({ count: 0 }))
vi.mock('../../derive/fastRecover.js', () => ({
  openFastRecover: () => () => {
    checks.count += 1
    return undefined
  },
}))

/** The real thread takes its time to start from source, so most share one. */
const shared = openJudge({ log: silentLog }, { patience })
afterAll(() => shared.stop())

const opened: Judge[] = []
const open = (options?: JudgeOptions) => {
  const judge = openJudge({ log: silentLog }, options)
  opened.push(judge)
  return judge
}
afterEach(async () => {
  await Promise.all(opened.splice(0).map((judge) => judge.stop()))
})

const subjectOf = (input: Hex, to: Address = library): Subject => ({
  chainId,
  from: owner,
  to,
  input,
  signers: signers.map(({ address }) => address),
  entryPoints,
  operations: [],
  logs: [],
})

/** 400 calls, each with a signature that proves nothing here. */
const hostile = multicall(...Array.from({ length: 400 }, (): Hex => `${deposit}${signed()}`))

/** A thread that says `seen` of an input, and never comes back from `0xbad0`. */
const entry = new URL(
  `data:text/javascript,${encodeURIComponent(`
  import { parentPort } from 'node:worker_threads'
  parentPort.on('message', ({ input }) => {
    if (input.startsWith('0xbad0')) for (;;);
    parentPort.postMessage({ judgement: { seen: input } })
  })
  parentPort.postMessage({ ready: true })`)}`,
)
/** Long enough for the judge's own thread to take it. */
const long = (start: string) => `${start}${schema0('acme').repeat(200)}` as Hex

describe('a transaction that costs much to judge', () => {
  it('is judged off the event loop, without a signature check there, and its answer is small', async () => {
    const { verdict } = await shared.judge(subjectOf(hostile))
    if (verdict.status !== 'judged') return expect.fail(verdict.status)
    expect(checks.count).toBe(0)
    const { inspection, stackedOmitted, statements } = verdict.judgement
    expect(statements.map(({ code }) => code)).toEqual(['ours'])
    expect(inspection).toMatchObject({ found: true, codes: ['ours'], signature: { present: true, valid: false } })
    expect(stackedOmitted).toBeGreaterThan(0)
    expect(inspection.stacked.length + stackedOmitted).toBe(399)
    expect(inspection.problems).toContain(`${stackedOmitted} further suffixes are not listed`)
    expect(JSON.stringify(inspection).length).toBeLessThanOrEqual(114 * 1024)
  })

  it('is given up after its deadline, and the next is judged by a new thread', async () => {
    const judge = open({ entry, deadlineMs: patient(1_000), waitMs: patient(5_000) })
    const [first, bad, second] = await Promise.all([
      judge.judge(subjectOf(long('0x01'))),
      judge.judge(subjectOf(long('0xbad0'))),
      judge.judge(subjectOf(long('0x02'))),
    ])
    expect(first.verdict).toMatchObject({ status: 'judged', judgement: { seen: long('0x01') } })
    expect(bad.verdict).toEqual({ status: 'complex' })
    expect(bad.workMs).toBeGreaterThan(0)
    expect(second.verdict).toMatchObject({ status: 'judged', judgement: { seen: long('0x02') } })
  })

  it('is refused when too many wait, and when the service stops', async () => {
    const judge = open({ entry, deadlineMs: 60_000, waitingMax: 2 })
    const waiting = [1, 2].map((n) => judge.judge(subjectOf(long(`0xbad0${n}0`))))
    expect((await judge.judge(subjectOf(long('0x03')))).verdict).toEqual({ status: 'busy' })
    await judge.stop()
    for (const one of await Promise.all(waiting)) expect(one.verdict).toEqual({ status: 'busy' })
    expect((await judge.judge(subjectOf(long('0x04')))).verdict).toEqual({ status: 'busy' })
  })

  it('is refused when the thread cannot start', async () => {
    const judge = open({ entry: new URL('data:text/javascript,throw new Error("no")') })
    expect((await judge.judge(subjectOf(hostile))).verdict).toEqual({ status: 'busy' })
  })
})

describe('a transaction that costs little', () => {
  it.each<[string, Hex]>([
    ['short', `${deposit}${signed()}`],
    ['without a marker', `0x${'00'.repeat(100_000)}`],
  ])('is judged at once: one that is %s', async (_name, input) => {
    const judge = open({ entry: new URL('data:text/javascript,throw new Error("no")') })
    expect((await judge.judge(subjectOf(input, account))).verdict).toMatchObject({ status: 'judged' })
  })
})

describe('kept verdicts', () => {
  it('count against the limit of all answers kept, by their bytes', () => {
    const answers = createAnswerCache(100_000)
    const { kept } = open({ shelf: answers.shelf('verdict', { lasting: true }) })
    const one = {
      mark: '',
      verdict: { status: 'complex' as const },
      transaction: { chainId, hash: 'x'.repeat(20_000), mined: undefined },
    }
    for (const name of ['a', 'b', 'c']) kept.keep(name, one)
    expect(['a', 'b', 'c'].map((name) => kept.find(name) !== undefined)).toEqual([false, true, true])
    expect(answers.byteLength()).toBeGreaterThan(80_000)
  })
})

describe('an answer', () => {
  const judged = async (input: Hex) => {
    const { verdict } = await shared.judge(subjectOf(input, account))
    return verdict.status === 'judged' ? verdict.judgement : expect.fail(verdict.status)
  }

  it.each<[string, object]>([
    ['10,000 services', { a: 'acme', s: Array.from({ length: 10_000 }, (_, i) => `s${i}`) }],
    [
      'metadata of control characters',
      { a: 'acme', m: { x: Array.from({ length: 60 }, () => '\u0001'.repeat(1_000)) } },
    ],
    ['64 KiB of bytes', { a: 'acme', m: { x: new Uint8Array(64_000) } }],
  ])('shows the code of a suffix with %s, and leaves the rest out', async (_name, map) => {
    const { inspection, statements } = await judged(`${deposit}${schema2(map)}`)
    expect(statements[0]?.code).toBe('acme')
    expect(inspection).toMatchObject({ found: true, app: 'acme', metadata: null, suffix: null })
    expect(inspection.codes[0]).toBe('acme')
    expect(inspection.problems.at(-1)).toMatch(/too long to be shown whole/)
    expect(JSON.stringify(inspection).length).toBeLessThan(64 * 1024)
  })

  it('lists everything where everything fits', async () => {
    const { inspection } = await judged(`${deposit}${schema0('a')}${schema0('b')}${schema0('c')}`)
    expect([inspection, ...inspection.stacked].map(({ codes }) => codes[0])).toEqual(['c', 'b', 'a'])
    expect(boundInspection(inspection)).toEqual({ inspection, stackedOmitted: 0 })
  })

  it('counts what is beyond the room of a list', () => {
    expect(takeWithin(['aa', 'bb', 'cc'], 10)).toEqual({ kept: ['aa', 'bb'], omitted: 1 })
    expect(takeWithin([], 0)).toEqual({ kept: [], omitted: 0 })
  })
})
