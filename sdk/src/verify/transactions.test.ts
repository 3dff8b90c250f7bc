import { describe, expect, it } from 'vitest'
import { attacker } from '../../test/mutations.js'
import { namedPlan, type Plan, readPlans, verify } from '../../test/plans.js'

const deposit = () => namedPlan('erc4626 deposit with approval and referral code')

async function refusalOf(change: (plan: Plan) => unknown): Promise<string[]> {
  const plan = deposit()
  change(plan)
  const { ok, problems, sentences } = await verify(plan)
  expect(ok).toBe(false)
  expect(sentences).toEqual([])
  return problems
}

describe('a transaction', () => {
  it.each<[string, (item: Plan['transactions'][number]) => unknown, string]>([
    ['another target', (item) => Object.assign(item, { to: attacker }), 'to'],
    ['other calldata', (item) => Object.assign(item, { data: '0x' }), 'data'],
    ['capabilities', (item) => Object.assign(item, { capabilities: {} }), 'capabilities'],
    ['no value at all', (item) => Object.assign(item, { nonce: undefined }), 'nonce'],
    ['its prototype', (item) => Object.setPrototypeOf(item, { calls: [] }), 'calls'],
    ['a member named __proto__', (item) => Object.defineProperty(item, '__proto__', { value: {} }), '__proto__'],
    ['a hidden member', (item) => Object.defineProperty(item, 'toJSON', { value: () => ({}) }), 'toJSON'],
    ['a symbol', (item) => Object.assign(item, { [Symbol('to')]: attacker }), 'a symbol'],
    [
      'many members',
      (item) => Object.assign(item, Object.fromEntries([...'abcdefg'].map((name) => [name, 0]))),
      'a, b, c, d, e and more',
    ],
  ])('is refused with more beside `transaction`: %s', async (_name, change, named) => {
    expect(await refusalOf(({ transactions }) => change(transactions[0]!))).toEqual([
      `transaction 1: says more than a plan does: ${named}`,
    ])
  })

  it('is refused with more inside `transaction`, hidden and inherited members included', async () => {
    const inside = 'transaction 2: says more than a plan does: gas'
    const changes: ((transaction: object) => unknown)[] = [
      (transaction) => Object.assign(transaction, { gas: '1' }),
      (transaction) => Object.defineProperty(transaction, 'gas', { value: '1' }),
      (transaction) => Object.setPrototypeOf(transaction, { gas: '1' }),
    ]
    for (const change of changes)
      expect(await refusalOf(({ transactions }) => change(transactions[1]!.transaction))).toEqual([inside])
  })

  it('may have a description and metadata, which are not looked at', async () => {
    const plan = deposit()
    const lie = 'Claim your reward of 1,000,000 USDC'
    const metadata = { provider: 'x', route: null }
    for (const description of [lie, 7, null, { toString: null }, '\u202e'.repeat(10)]) {
      for (const item of plan.transactions) Object.assign(item, { description, metadata })
      const verdict = await verify(plan)
      expect(verdict).toMatchObject({ ok: true, problems: [] })
      expect(verdict.sentences).toEqual((await verify(deposit())).sentences)
    }
  })

  it.each<[string, string, string]>([
    ['0', 'below', '21000'],
    ['1', 'below', '21000'],
    ['20999', 'below', '21000'],
    ['30000001', 'above', '30000000'],
    [`1${'0'.repeat(30)}`, 'above', '30000000'],
  ])('is refused with a gas limit of %s', async (gasLimit, side, bound) => {
    for (const at of [0, 1])
      expect(await refusalOf(({ transactions }) => Object.assign(transactions[at]!.transaction, { gasLimit }))).toEqual(
        [`transaction ${at + 1}: has a gas limit of ${gasLimit}, ${side} ${bound}`],
      )
  })

  it('is taken with a gas limit from 21,000 to 30,000,000, or to the cap handed in, and with none', async () => {
    const withGas = async (gasLimit: string | undefined, gasCap?: string | bigint) => {
      const plan = deposit()
      const { transaction } = plan.transactions[1]!
      if (gasLimit === undefined) delete transaction.gasLimit
      else transaction.gasLimit = gasLimit
      if (gasCap !== undefined) plan.context.gasCap = gasCap
      return (await verify(plan)).ok
    }
    for (const gasLimit of ['21000', '30000000', undefined]) expect(await withGas(gasLimit), gasLimit).toBe(true)
    expect(await withGas('170872', '170872')).toBe(true)
    expect(await withGas('170872', 170_871n)).toBe(false)
    expect(await withGas('40000000', '40000000')).toBe(true)
    expect(await withGas('40000001', 40_000_000n)).toBe(false)
    expect(await withGas('21000', '0')).toBe(false)
    expect(await withGas(undefined, '62282')).toBe(true)
  })

  it.each<[string, unknown, RegExp]>([
    ['to', '0X5FbDB2315678afecb367f032d93F642f64180aa3', /calls no address/],
    ['to', '5FbDB2315678afecb367f032d93F642f64180aa3', /calls no address/],
    ['data', `0x${'00'.repeat(131_073)}`, /data that is no hex/],
    ['data', '0X00', /data that is no hex/],
    ['data', '0x0', /data that is no hex/],
    ['value', String(2n ** 256n), /value that is no amount/],
    ['value', '1e18', /value that is no amount/],
    ['value', '', /value that is no amount/],
    ['value', 0, /value that is no amount/],
    ['gasLimit', null, /gas limit that is no amount/],
    ['gasLimit', 100_000, /gas limit that is no amount/],
    ['gasLimit', '0x186a0', /gas limit that is no amount/],
    ['chainId', '31337', /has no chain id/],
    ['chainId', 31337.5, /has no chain id/],
    ['chainId', -31337, /has no chain id/],
    ['chainId', Number.NaN, /has no chain id/],
    ['chainId', 2 ** 53, /has no chain id/],
    ['chainId', 1, /is for chain 1, not 31337/],
  ])('is refused when `%s` is %s', async (name, value, problem) => {
    const problems = await refusalOf(({ transactions }) =>
      Object.assign(transactions[0]!.transaction, { [name]: value }),
    )
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(problem)
  })

  it('is refused when a part of it is a getter or inherited: it may answer otherwise the next time', async () => {
    for (const name of ['to', 'data', 'value', 'chainId']) {
      for (const inherits of [false, true]) {
        const problems = await refusalOf(({ transactions }) => {
          const transaction = transactions[1]!.transaction as Record<string, unknown>
          const value = transaction[name]
          delete transaction[name]
          if (inherits) Object.setPrototypeOf(transaction, { [name]: value })
          else Object.defineProperty(transaction, name, { get: () => value, enumerable: true })
        })
        expect(problems.join('\n'), name).toMatch(/^transaction 2: /)
      }
    }
  })
})

describe('the list of transactions', () => {
  it.each<[string, (plan: Plan) => unknown]>([
    ['none', (plan) => Object.assign(plan, { transactions: [] })],
    ['nothing', (plan) => Object.assign(plan, { transactions: undefined })],
    ['an object', (plan) => Object.assign(plan, { transactions: { ...plan.transactions, length: 2 } })],
  ])('is refused when it is %s', async (_name, change) => {
    expect(await refusalOf(change)).toEqual(['the plan has no transaction'])
  })

  it.each<[string, (plan: Plan) => unknown]>([
    ['more than a plan has', (plan) => plan.transactions.unshift(...Array(15).fill(plan.transactions[0]))],
    ['a million of nothing', (plan) => Object.assign(plan, { transactions: Array(1_000_000).fill(null) })],
    ['a member beside its transactions', (plan) => Object.assign(plan.transactions, { forEach: () => undefined })],
    ['a hole', (plan) => Object.assign(plan.transactions, { length: 3 })],
    ['another order for who walks it', (plan) => Object.assign(plan.transactions, { [Symbol.iterator]: () => [] })],
  ])('is refused with %s', async (_name, change) => {
    expect(await refusalOf(change)).toEqual(['the transactions are no list of a plan'])
  })

  it('of every plan the service returned is read as it came', async () => {
    for (const plan of readPlans()) {
      const came = JSON.parse(JSON.stringify(plan.transactions))
      expect((await verify({ ...plan, transactions: came })).ok, plan.name).toBe(true)
    }
  })
})
