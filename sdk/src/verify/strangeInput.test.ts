import { describe, expect, it } from 'vitest'
import { batchOf } from '../../test/batches.js'
import { namedPlan, type Plan, readPlans } from '../../test/plans.js'
import type { Verdict } from './types.js'
import { verifyBatch } from './verifyBatch.js'
import { verifyPlan } from './verifyPlan.js'

/** What no JSON says and a caller may still hand in, by name; each is made anew. */
const strange: Readonly<Record<string, () => unknown>> = {
  undefined: () => undefined,
  null: () => null,
  'no number': () => Number.NaN,
  infinity: () => Number.POSITIVE_INFINITY,
  'a bigint': () => 10n,
  'a bigint of a million bits': () => 1n << 1_000_000n,
  'a negative bigint': () => -1n,
  'a symbol': () => Symbol('to'),
  'a text of 4 million letters': () => '0'.repeat(2 ** 22),
  'hex of 4 million digits': () => `0x${'0'.repeat(2 ** 22)}`,
  'half a letter': () => '\ud800',
  'a boxed text': () => new String('0x'),
  'a boxed number': () => new Number(1),
  'a function': () => () => 1,
  'a class': () => class {},
  'a date that is none': () => new Date(Number.NaN),
  'a map': () => new Map([['type', 'deposit']]),
  'a set': () => new Set([1]),
  bytes: () => new Uint8Array(4),
  'a rejected promise': () => {
    const promise = Promise.reject(new Error('nobody waits'))
    promise.catch(() => undefined)
    return promise
  },
  'what is no promise but has a then': () => Object.fromEntries([['then', fail]]),
  'an object without a prototype': () => Object.create(null),
  'an object in a circle': () => {
    const circle: Record<string, unknown> = {}
    for (const name of ['to', 'transaction', 'vault', 'names', 'calls', 'address']) circle[name] = circle
    return circle
  },
  'a list in a circle': () => {
    const circle: unknown[] = []
    circle.push(circle)
    return circle
  },
  'a list of 4 billion holes': () => new Array(2 ** 32 - 1),
  'a list of a million': () => Array(1_000_000).fill(1),
  'an object of ten thousand members': () => Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`m${i}`, i])),
  'an object 10,000 deep': () => {
    let deep: unknown = 1
    for (let i = 0; i < 10_000; i++) deep = { transaction: deep }
    return deep
  },
  'an object no text can be made of': () => ({
    toString: fail,
    valueOf: fail,
    toJSON: fail,
    [Symbol.toPrimitive]: fail,
  }),
  'an object whose members all throw': () =>
    Object.defineProperties(
      {},
      Object.fromEntries(members.map((name) => [name, { get: fail, enumerable: true, configurable: true }])),
    ),
  'a proxy that throws whatever it is asked': () => new Proxy({}, throwing),
  'a proxy of a list that throws whatever it is asked': () => new Proxy([], throwing),
  'a proxy that is revoked': () => {
    const { proxy, revoke } = Proxy.revocable([], {})
    revoke()
    return proxy
  },
  'a proxy that answers itself to everything': () => {
    const proxy: object = new Proxy({}, { get: () => proxy, has: () => true, getPrototypeOf: () => proxy })
    return proxy
  },
  'a proxy with ever more prototypes': () => endless(),
  'a list that says it is longer': () =>
    new Proxy([], {
      getOwnPropertyDescriptor: (list, name) =>
        name === 'length'
          ? { value: { valueOf: fail }, writable: true, enumerable: false, configurable: false }
          : Reflect.getOwnPropertyDescriptor(list, name),
    }),
}

function fail(): never {
  throw new Error('this is not to be called')
}

const endless = (): object => new Proxy({}, { getPrototypeOf: endless })

const throwing: ProxyHandler<object> = Object.fromEntries(
  Object.getOwnPropertyNames(Reflect).map((name) => [name, fail]),
)

const members = [
  ...['type', 'transaction', 'to', 'data', 'value', 'chainId', 'gasLimit', 'userAddress', 'tokenIn', 'amount'],
  ...['distributorId', 'vault', 'address', 'kind', 'asset', 'signers', 'version', 'from', 'calls'],
]

// biome-ignore lint/suspicious/noExplicitAny: it may be anything
type Anything = any

/** Every place of something that came as JSON, as the names that lead there; lists have one more. */
function placesOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path]
  const inner = Object.entries(value).flatMap(([name, item]) => placesOf(item, [...path, name]))
  return [path, ...inner, ...(Array.isArray(value) ? [[...path, String(value.length)]] : [])]
}

function putAt(root: Anything, [name, ...path]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value
  return Object.assign(Array.isArray(root) ? [...root] : { ...root }, { [name]: putAt(root[name], path, value) })
}

const isVerdict = ({ ok, problems }: Verdict): boolean =>
  ok === (problems.length === 0) && problems.every((problem) => typeof problem === 'string' && problem.length < 1_000)

/** What may be anything without a change to what is signed. */
const ignored = /^(transactions,\d,(description|metadata)|context,vault,receiptToken)$/

describe.each(Object.keys(strange))('%s', (name) => {
  const make = strange[name]!

  it('anywhere in a plan gives a verdict, and no yes but where it leaves out what may be left out', async () => {
    const { request, transactions, context } = namedPlan('erc4626 deposit with approval and referral code')
    const { address, kind, asset } = context.vault
    for (const item of transactions) Object.assign(item, { description: 'x', metadata: {} })
    const more = { names: {}, gasCap: '30000000', minimumOut: '1', wrappedNative: asset, requestAmount: '1' }
    const whole = { request, transactions, context: { ...context, ...more, vault: { address, kind, asset } } }
    const optional = ['referralCode', 'gasLimit', ...Object.keys(more), 'actionId', 'allowance', 'approvalReset']
    for (const path of placesOf(whole)) {
      const value = make()
      const given =
        path.length === 0 ? { request: value, transactions: value, context: value } : putAt(whole, path, value)
      const { request: asked, transactions: sent, context: known } = given as Anything
      const verdict = await verifyPlan(asked, sent, known)
      expect(isVerdict(verdict), path.join()).toBe(true)
      const isOptional = optional.includes(path.at(-1) ?? '') || path.join() === 'context,distributorId'
      const mayBeLeftOut = ignored.test(path.join()) || isOptional
      if (!mayBeLeftOut) expect(verdict.ok, `${path.join()} ${verdict.problems}`).toBe(false)
    }
  }, 60_000)

  it('anywhere in a batch gives a verdict, and it is no', () => {
    const plan = namedPlan('erc4626 deposit with approval and referral code')
    const whole = { batch: batchOf(plan), transactions: plan.transactions, user: plan.request.userAddress }
    for (const path of placesOf(whole)) {
      const value = make()
      const given = path.length === 0 ? { batch: value, transactions: value, user: value } : putAt(whole, path, value)
      const { batch, transactions, user } = given as Anything
      const verdict = verifyBatch(batch, transactions, user)
      expect(isVerdict(verdict), path.join()).toBe(true)
      const isGas = value === undefined && path.at(-1) === 'gasLimit'
      if (!isGas) expect(verdict.ok, path.join()).toBe(false)
    }
  }, 60_000)
})

it('nothing at all gives a verdict', async () => {
  const [plan, batch] = [verifyPlan, verifyBatch] as Anything[]
  expect(await plan()).toMatchObject({ ok: false, sentences: [] })
  expect(batch()).toMatchObject({ ok: false })
})

it('what a caller knows may come from objects with getters and prototypes: each plan is verified as from plain ones', async () => {
  const live = (value: object): object =>
    Object.create(
      Object.defineProperties(
        {},
        Object.fromEntries(Object.entries(value).map(([name, each]) => [name, { get: () => each, enumerable: true }])),
      ),
    )
  for (const { name, request, transactions, context } of readPlans()) {
    const known = live({ ...context, vault: live(context.vault) }) as Plan['context']
    const verdict = await verifyPlan(live(request) as Plan['request'], transactions, known)
    expect(verdict.problems, name).toEqual([])
  }
})

it('what throws when it is read is told to be unreadable, beside what else is wrong', async () => {
  const { request, transactions, context } = namedPlan('erc4626 withdraw')
  const verdict = await verifyPlan(
    { ...request, amount: '0' } as Plan['request'],
    new Proxy<Anything>(transactions, throwing),
    context,
  )
  expect(verdict.problems).toEqual(['amount is no amount above 0', 'something of what was given cannot be read'])
})
