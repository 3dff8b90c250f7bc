import { describe, expect, it } from 'vitest'
import type { CallPaths } from './callPaths.js'
import { checkTrace, clearWord, isSamePaths, pathBounds, restsOnWord } from './checkTrace.js'
import type { RawLog } from './raw.js'
import { readDebugTree, readParityTree, treeBounds } from './traceTree.js'

const at = (digit: string) => `0x${digit.repeat(40)}`
const [ann, router, vault, logic, token] = ['a', 'b', 'c', 'd', 'e'].map(at) as [string, string, string, string, string]
const hash = `0x${'11'.repeat(32)}`
const topic = `0x${'22'.repeat(32)}`
const transaction = { from: ann, to: router, input: '0x11223344556677880011' }

type Told = Record<string, unknown>
const call = (from: string, to: string, input: string, more: Told = {}): Told => ({
  type: 'CALL',
  from,
  to,
  input,
  ...more,
})
const log = (address: string, position = 0, data = '0x'): Told => ({
  address,
  topics: [topic],
  data,
  position: `0x${position.toString(16)}`,
})
const receiptLog = (address: string, logIndex: number, data = '0x'): RawLog => ({
  ...{ blockNumber: 1, transactionIndex: 0, transactionHash: hash },
  ...{ address, logIndex, topics: [topic], data },
})

/** A router that pulls tokens, then deposits into a proxy of a vault, which takes a fee. */
const tree = (): Told =>
  call(ann, router, transaction.input, {
    calls: [
      call(router, token, '0x5566', { logs: [log(token)] }),
      call(router, vault, '0x55667788', {
        calls: [
          {
            type: 'DELEGATECALL',
            ...{ from: vault, to: logic, input: '0x55667788' },
            calls: [call(vault, token, '0x99', { logs: [log(token)] })],
            logs: [log(vault, 0, '0x01'), log(vault, 1, '0x02')],
          },
        ],
      }),
    ],
    logs: [log(router, 2)],
  })
const receipt = [
  receiptLog(token, 7),
  receiptLog(vault, 8, '0x01'),
  receiptLog(token, 9),
  receiptLog(vault, 10, '0x02'),
  receiptLog(router, 11),
]
const ours = new Set([8, 10])
/** A call within another; and a change of what is told. */
const inner = (told: Told, at: number): Told => (told.calls as Told[])[at] as Told
const set = (told: Told, more: Told): Told => Object.assign(told, more)
const lastLog = (told: Told, at = 0): Told => (told.logs as Told[])[at] as Told

const check = (told: unknown, more: Partial<Parameters<typeof checkTrace>[0]> = {}) =>
  checkTrace({ tree: readDebugTree(told), transaction, receipt, ours, ...more })
const paths = (told: unknown = tree()) => check(told) as CallPaths
const doubt = (told: unknown, more: Partial<Parameters<typeof checkTrace>[0]> = {}) =>
  (check(told, more) as { doubt: string }).doubt

describe('a call tree that holds together', () => {
  it('is pruned to the way to logs of ours, a delegatecall in the name of the account it runs for', () => {
    expect(check(tree())).toEqual({
      hasLogs: true,
      calls: [
        {
          parent: undefined,
          kind: 'call',
          caller: ann,
          target: router,
          input: transaction.input,
          logs: [],
          isWord: false,
        },
        { parent: 0, kind: 'call', caller: router, target: vault, input: '0x55667788', logs: [], isWord: false },
        {
          parent: 1,
          kind: 'delegatecall',
          caller: vault,
          target: logic,
          input: '0x55667788',
          logs: [8, 10],
          isWord: false,
        },
      ],
    })
  })

  it('keeps logs in the order of emission where a node numbers them and places none', () => {
    const told = JSON.parse(JSON.stringify(tree(), (key, value) => (key === 'position' ? undefined : value))) as Told
    expect(readDebugTree(told).logs).toBeUndefined()
    const body = inner(inner(told, 1), 0)
    const fee = inner(body, 0)
    const inOrder = [lastLog(inner(told, 0)), lastLog(body), lastLog(fee), lastLog(body, 1), lastLog(told)]
    for (const [place, each] of inOrder.entries()) set(each, { index: `0x${place.toString(16)}` })
    expect(paths(told)).toEqual(paths())
  })

  it('reads the numbers of logs in capital digits too', () => {
    const told = JSON.parse(JSON.stringify(tree(), (key, value) => (key === 'position' ? undefined : value))) as Told
    const body = inner(inner(told, 1), 0)
    const inOrder = [lastLog(inner(told, 0)), lastLog(body), lastLog(inner(body, 0)), lastLog(body, 1), lastLog(told)]
    for (const [place, each] of inOrder.entries()) set(each, { index: `0x${(place + 8).toString(16).toUpperCase()}` })
    expect(paths(told)).toEqual(paths())
  })

  it('drops what an inner call that was reverted says it did, with its codes and its logs', () => {
    const told = tree()
    const stolen = call(router, vault, '0xdeadbeef', { error: 'execution reverted', logs: [log(vault)] })
    ;(told.calls as Told[]).unshift(stolen)
    set(lastLog(told), { position: '0x3' })
    expect(paths(told)).toEqual(paths())
  })

  it('passes over precompiles, static calls and a contract that destroys itself', () => {
    const told = tree()
    ;(told.calls as Told[]).push(
      { type: 'STATICCALL', from: router, to: `0x${'0'.repeat(39)}1`, input: '0x00' },
      { type: 'SELFDESTRUCT', from: router, to: ann, input: '0x' },
    )
    expect(paths(told)).toEqual(paths())
  })

  it('takes a contract made by CREATE2 for the caller of what its constructor does', () => {
    const made = at('f')
    const told = call(ann, router, transaction.input, {
      calls: [
        {
          type: 'CREATE2',
          ...{ from: router, to: made, input: '0x6000deadbeef' },
          calls: [call(made, vault, '0x55667788', { logs: [log(vault)] })],
        },
      ],
    })
    const found = check(told, { receipt: [receiptLog(vault, 3)], ours: new Set([3]) }) as CallPaths
    expect(found.calls.map(({ kind, caller, target, isWord }) => [kind, caller, target, isWord])).toEqual([
      ['call', ann, router, false],
      ['create', router, made, true],
      ['call', made, vault, false],
    ])
  })

  it('is the constructor itself where the transaction makes a contract', () => {
    const made = at('f')
    const init = '0x6000deadbeef'
    const told = { type: 'CREATE', from: ann, to: made, input: init, logs: [log(made)] }
    const found = check(told, {
      transaction: { from: ann, to: null, input: init },
      ...{ receipt: [receiptLog(made, 0)], ours: new Set([0]) },
    })
    expect(found).toMatchObject({ calls: [{ kind: 'create', caller: ann, target: made, input: init, isWord: false }] })
  })

  it('calls bytes that do not stand in the input one node’s word, until a second tells the same', () => {
    const told = tree()
    set(inner(told, 1), { input: '0x5566778899deadbeef' })
    const found = paths(told)
    expect(found.calls.map(({ isWord }) => isWord)).toEqual([false, true, false])
    expect(restsOnWord(found)).toBe(true)
    expect(restsOnWord(paths())).toBe(false)
    expect(restsOnWord(clearWord(found))).toBe(false)
    expect([isSamePaths(found, found), isSamePaths(found, paths())]).toEqual([true, false])
  })

  it('finds bytes only at whole bytes of the input', () => {
    const told = tree()
    // Stands in 0x…5566… shifted by half a byte.
    set(inner(told, 1), { input: '0x5667' })
    expect(paths(told).calls[1]?.isWord).toBe(true)
  })
})

describe('a call tree that does not hold together', () => {
  it.each<[string, (told: Told) => unknown, string]>([
    ['of another transaction: its sender', (told) => set(told, { from: router }), 'its root is another transaction'],
    ['of another transaction: its input', (told) => set(told, { input: '0x11' }), 'its root is another transaction'],
    ['of another transaction: its target', (told) => set(told, { to: vault }), 'its root is another transaction'],
    [
      'reverted as a whole',
      (told) => set(told, { error: 'out of gas' }),
      'its root was reverted, and yet there are logs',
    ],
    [
      'with a forged caller',
      (told) => set(inner(told, 1), { from: ann }),
      'the caller of call 2 is not the contract it runs in',
    ],
    ['cut off', (told) => set(told, { calls: [inner(told, 0)] }), 'its logs are not as many as those of the receipt'],
    [
      'with a deposit that was reverted',
      (told) => set(inner(told, 1), { error: 'revert' }),
      'its logs are not as many as those of the receipt',
    ],
    [
      'with another log',
      (told) => set(inner(told, 0), { logs: [log(token, 0, '0x09')] }),
      'its log 0 is not that of the receipt',
    ],
    [
      'with a log of another emitter',
      (told) => set(inner(told, 0), { to: logic }),
      'its log 0 was emitted by another contract',
    ],
    [
      'with a log of a static call',
      (told) => set(inner(told, 0), { type: 'STATICCALL' }),
      'its log 0 was emitted where nothing can be',
    ],
  ])('is refused: %s', (_name, forge, why) => {
    const told = tree()
    forge(told)
    expect(doubt(told)).toBe(why)
  })

  it('is refused where its logs come in another order', () => {
    const told = tree()
    set(lastLog(told), { position: '0x1' })
    expect(doubt(told)).toMatch(/^its log \d is not that of the receipt$/)
  })

  it.each<[string, unknown, RegExp]>([
    ['no object', 'trace', /no call tree/],
    ['a call of an unknown type', { ...tree(), type: 'INVOKE' }, /unknown type/],
    ['half a byte of input', { ...tree(), input: '0x123' }, /malformed input/],
    ['calls that are no list', { ...tree(), calls: { length: 9 } }, /no list of calls/],
    ['a call that is null', { ...tree(), calls: [null] }, /no call/],
    ['an address that is none', { ...tree(), from: '0x1' }, /malformed caller/],
    ['a word before an address', { ...tree(), from: `see:${ann}` }, /malformed caller/],
    ['a digit behind an address', { ...tree(), from: `${ann}0` }, /malformed caller/],
  ])('is refused when it is malformed: %s', (_name, told, message) => {
    expect(() => readDebugTree(told)).toThrow(message)
  })

  it('is refused 100,000 calls deep or wide, without going through them', () => {
    let deep = call(router, vault, '0x')
    for (let i = 0; i < 100_000; i++) deep = call(vault, vault, '0x', { calls: [deep] })
    expect(() => readDebugTree(deep)).toThrow('deeper than calls go')
    const wide = call(ann, router, transaction.input, { calls: new Array(100_000).fill(call(router, vault, '0x')) })
    expect(() => readDebugTree(wide)).toThrow('too many calls')
    const action = { from: router, to: vault, callType: 'call', input: '0x' }
    const flat = new Array(treeBounds.calls + 1).fill({
      type: 'call',
      action,
      traceAddress: [0],
      transactionHash: hash,
    })
    expect(() => readParityTree(flat, hash)).toThrow('too many calls')
    const steps = new Array(treeBounds.depth).fill(0)
    expect(() => readParityTree([{ type: 'call', action, traceAddress: steps, transactionHash: hash }], hash)).toThrow(
      'deeper than calls go',
    )
  })

  it('is refused when the way to logs of ours is of too many calls or carries too many bytes', () => {
    const count = pathBounds.calls + 1
    const calls = Array.from({ length: count }, () => call(router, vault, '0x5566', { logs: [log(vault)] }))
    const many = Array.from({ length: count }, (_, i) => receiptLog(vault, i))
    const all = { receipt: many, ours: new Set(many.map(({ logIndex }) => logIndex)) }
    expect(doubt(call(ann, router, transaction.input, { calls }), all)).toMatch(/too many calls/)
    const long = call(router, vault, `0x${'ab'.repeat(pathBounds.bytes + 1)}`, { logs: [log(vault)] })
    const one = { receipt: [receiptLog(vault, 0)], ours: new Set([0]) }
    expect(doubt(call(ann, router, transaction.input, { calls: [long] }), one)).toMatch(/too many bytes/)
  })
})

describe('a call tree without logs', () => {
  const parity = (way: number[], action: Told, more: Told = {}): Told => ({
    ...{ type: 'call', traceAddress: way, transactionHash: hash },
    action: { callType: 'call', ...action },
    ...more,
  })
  const told = () => [
    parity([], { from: ann, to: router, input: transaction.input }),
    parity([0], { from: router, to: token, input: '0x5566' }),
    parity([1], { from: router, to: vault, input: '0x55667788' }),
    parity([1, 0], { from: vault, to: logic, input: '0x55667788', callType: 'delegatecall' }),
    parity([2], { from: router, to: vault, input: '0xdeadbeef' }, { error: 'Reverted' }),
    parity([3], { from: router, to: vault, input: '0x01', callType: 'staticcall' }),
  ]
  const checkFlat = (list: unknown) => checkTrace({ tree: readParityTree(list, hash), transaction, receipt, ours })

  it('keeps the calls of the contracts that emitted logs of ours, and says that it has no logs', () => {
    const found = checkFlat(told()) as CallPaths
    expect(found.hasLogs).toBe(false)
    expect(found.calls.map(({ parent, kind, caller, target, logs }) => [parent, kind, caller, target, logs])).toEqual([
      [undefined, 'call', ann, router, []],
      [0, 'call', router, vault, []],
      [1, 'delegatecall', vault, logic, []],
    ])
  })

  it('is what a node gives that does not know the option, too', () => {
    const bare = JSON.parse(JSON.stringify(tree(), (key, value) => (key === 'logs' ? undefined : value)))
    expect(check(bare)).toMatchObject({ hasLogs: false })
  })

  it('is refused when it is of another transaction, out of order, or lacks a contract with a log of ours', () => {
    expect(() => readParityTree(told(), `0x${'12'.repeat(32)}`)).toThrow('of another transaction')
    expect(() => readParityTree([], hash)).toThrow('no traces')
    expect(() => readParityTree(told().slice(1), hash)).toThrow('out of order')
    expect(() => readParityTree(told().toSpliced(2, 1), hash)).toThrow('out of order')
    expect(checkFlat(told().slice(0, 2))).toEqual({ doubt: 'a contract that emitted a log of ours was not called' })
  })

  it('reads contracts that are made and contracts that destroy themselves', () => {
    const made = at('f')
    const list = [
      parity([], { from: ann, to: router, input: transaction.input }),
      parity([0], { from: router, init: '0x6000' }, { type: 'create', result: { address: made } }),
      parity([0, 0], { from: made, to: vault, input: '0x5566' }),
      parity([1], { address: router, refundAddress: ann }, { type: 'suicide' }),
    ]
    expect((checkFlat(list) as CallPaths).calls.map(({ kind, caller }) => [kind, caller])).toEqual([
      ['call', ann],
      ['create', router],
      ['call', made],
    ])
  })
})
