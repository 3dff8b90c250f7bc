import { describe, expect, it } from 'vitest'
import { type Plan, readPlans } from '../../test/plans.js'
import { verifyPlan } from './verifyPlan.js'

const plans = readPlans()
const named = (name: string): Plan => structuredClone(plans.find((plan) => plan.name === name)!)
const verify = ({ request, transactions, context }: Plan) => verifyPlan(request, transactions, context)

describe('a plan the service returned', () => {
  it.each(plans.map((plan) => [plan.name, plan] as const))('is what was asked: %s', async (_name, plan) => {
    expect(await verify(plan)).toMatchObject({ ok: true, problems: [] })
  })

  it('is what was asked when the signers are given as the service publishes them', async () => {
    const [plan] = plans
    const signers = plan!.context.signers.map((address) => ({ address: String(address), from: '', to: null }))
    expect(await verify({ ...plan!, context: { ...plan!.context, signers } })).toMatchObject({ ok: true, problems: [] })
  })

  it('is what was asked whether or not the allowance is known', async () => {
    for (const plan of plans) {
      const { allowance, approvalReset, ...context } = plan.context
      expect((await verify({ ...plan, context })).ok).toBe(true)
      expect(allowance === undefined || typeof allowance === 'string').toBe(true)
      expect(approvalReset === undefined || typeof approvalReset === 'boolean').toBe(true)
    }
  })
})

describe('a plan that is not what was asked', () => {
  const deposit = () => named('erc4626 deposit with approval and referral code')

  it.each<[string, (plan: Plan) => void, RegExp]>([
    ['nothing', (plan) => plan.transactions.splice(0), /no transaction/],
    [
      'another wallet',
      (plan) => Object.assign(plan.request, { userAddress: `0x${'11'.repeat(20)}` }),
      /something else/,
    ],
    ['another amount', (plan) => Object.assign(plan.request, { amount: '123000001' }), /something else/],
    ['another token', (plan) => Object.assign(plan.request, { tokenIn: `0x${'11'.repeat(20)}` }), /not the one/],
    ['another distributor', (plan) => Object.assign(plan.request, { distributorId: 'other' }), /another distributor/],
    ['another referral code', (plan) => Object.assign(plan.request, { referralCode: 'x' }), /another referral/],
    [
      'another action',
      (plan) => Object.assign(plan.context, { actionId: '00000000-0000-4000-8000-000000000001' }),
      /another action/,
    ],
    ['another chain', (plan) => Object.assign(plan.context, { chainId: 1 }), /is for chain 31337/],
    ['another signer', (plan) => Object.assign(plan.context, { signers: [`0x${'11'.repeat(20)}`] }), /not signed/],
    ['no signer', (plan) => Object.assign(plan.context, { signers: [] }), /not signed/],
    [
      'another vault',
      (plan) => Object.assign(plan.context.vault, { address: `0x${'11'.repeat(20)}` }),
      /another contract/,
    ],
    ['another kind', (plan) => Object.assign(plan.context.vault, { kind: 'erc7540' }), /something else/],
    ['an unknown kind', (plan) => Object.assign(plan.context.vault, { kind: 'pool' }), /cannot be verified/],
    ['no approval', (plan) => plan.transactions.splice(0, 1), /what comes before/],
    ['one approval too many', (plan) => plan.transactions.unshift(plan.transactions[0]!), /what comes before/],
    ['a needless approval', (plan) => Object.assign(plan.context, { allowance: '123000000' }), /what comes before/],
    ['no suffix', (plan) => dropSuffix(plan), /carries no suffix/],
    ['a token that is no address', (plan) => Object.assign(plan.request, { tokenIn: 'USDC' }), /USDC is no address/],
    [
      'an authorization beside the call',
      (plan) => Object.assign(plan.transactions[1]!.transaction, { authorizationList: [] }),
      /says more than a plan does: authorizationList/,
    ],
    [
      'a request no vault of the kind takes',
      (plan) => Object.assign(plan.request, { type: 'claimDeposit' }),
      /something else|not claimDeposit/,
    ],
  ])('is refused: %s', async (_name, change, problem) => {
    const plan = deposit()
    change(plan)
    const verdict = await verify(plan)
    expect(verdict.ok).toBe(false)
    expect(verdict.problems.join('\n')).toMatch(problem)
  })

  it('is refused when the suffix of the pending deposit is missing, or nobody brought it', async () => {
    const plan = named('lagoon cancel')
    const { transaction } = plan.transactions[0]!
    const whole = transaction.data
    transaction.data = whole.slice(0, 10)
    expect((await verify(plan)).problems).toEqual(['the last transaction carries no suffix'])
    plan.context.distributorId = null
    expect((await verify(plan)).ok).toBe(true)
    transaction.data = whole
    expect((await verify(plan)).problems).toEqual(['the last transaction carries a suffix nobody asked for'])
  })

  it('is refused when its parts are malformed, without throwing', async () => {
    for (const [name, value] of [
      ['to', '0x12'],
      ['data', '0x1'],
      ['data', 'zz'],
      ['value', '-1'],
      ['value', '0x0'],
      ['chainId', '31337'],
    ] as const) {
      const plan = deposit()
      Object.assign(plan.transactions[1]!.transaction, { [name]: value })
      expect((await verify(plan)).ok, `${name} ${value}`).toBe(false)
    }
  })

  it.each<[string, (plan: Plan) => unknown]>([
    ['a null item', (plan) => Object.assign(plan, { transactions: [null, ...plan.transactions] })],
    ['no transactions at all', (plan) => Object.assign(plan, { transactions: null })],
    ['a list for a transaction', (plan) => Object.assign(plan.transactions[1]!, { transaction: [] })],
    [
      'a list for a target',
      (plan) => Object.assign(plan.transactions[1]!.transaction, { to: [plan.context.vault.address] }),
    ],
    ['a number for data', (plan) => Object.assign(plan.transactions[1]!.transaction, { data: 7 })],
    ['an object for a gas limit', (plan) => Object.assign(plan.transactions[1]!.transaction, { gasLimit: {} })],
    ['a kind named constructor', (plan) => Object.assign(plan.context.vault, { kind: 'constructor' })],
    ['a kind named __proto__', (plan) => Object.assign(plan.context.vault, { kind: '__proto__' })],
    ['signers that are none', (plan) => Object.assign(plan.context, { signers: [null, {}, 7] })],
    ['an amount that is none', (plan) => Object.assign(plan.request, { amount: '1e6' })],
    ['an allowance that is none', (plan) => Object.assign(plan.context, { allowance: 'much' })],
    ['a wallet that is no text', (plan) => Object.assign(plan.request, { userAddress: 7 })],
  ])('is refused, without throwing, with %s', async (_name, change) => {
    const plan = deposit()
    change(plan)
    const { ok, problems } = await verify(plan)
    expect(ok).toBe(false)
    expect(problems.length).toBeGreaterThan(0)
  })

  it('is refused when less may come out than the wallet wants, and taken from that amount on', async () => {
    for (const [name, least] of [
      ['erc5115 deposit', 3],
      ['erc5115 withdraw', 3],
    ] as const) {
      const plan = named(name)
      const { data } = plan.transactions[plan.transactions.length - 1]!.transaction
      const minimum = BigInt(`0x${data.slice(10 + 64 * least, 74 + 64 * least)}`)
      plan.context.minimumOut = minimum
      expect((await verify(plan)).ok).toBe(true)
      plan.context.minimumOut = String(minimum + 1n)
      expect((await verify(plan)).ok).toBe(false)
    }
  })

  it('is refused when a suffix of another plan was put on it', async () => {
    const plan = deposit()
    const other = named('erc4626 deposit without approval')
    const own = plan.transactions[1]!.transaction
    own.data = own.data.slice(0, 2 + 136) + other.transactions[0]!.transaction.data.slice(2 + 136)
    plan.context.actionId = other.context.actionId!
    Object.assign(plan.request, { referralCode: '' })
    expect((await verify(plan)).problems).toEqual(['the suffix is not signed by a published signer for this call'])
  })
})

function dropSuffix(plan: Plan): void {
  const { transaction } = plan.transactions[1]!
  transaction.data = transaction.data.slice(0, 2 + 136)
}
