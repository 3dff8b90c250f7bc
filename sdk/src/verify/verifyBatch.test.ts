import { describe, expect, it } from 'vitest'
import { batchOf } from '../../test/batches.js'
import { readPlans } from '../../test/plans.js'
import { verifyBatch } from './verifyBatch.js'

const plans = readPlans()
const stranger = `0x${'11'.repeat(20)}`

describe('a batch', () => {
  it('is good when it says what the transactions say, in any case of letters', () => {
    for (const plan of plans) {
      const batch = batchOf(plan)
      expect(verifyBatch(batch, plan.transactions, plan.request.userAddress)).toEqual({ ok: true, problems: [] })
      const shouted = { ...batch, calls: batch.calls.map((call) => ({ ...call, to: call.to.toLowerCase() })) }
      expect(verifyBatch(shouted, plan.transactions, plan.request.userAddress.toUpperCase()).ok).toBe(true)
    }
  })

  it.each([undefined, null, '', '0x0', '-1', '1e18', '1'.repeat(79), String(2n ** 256n), 0, {}, 'ten'])(
    'is a verdict, not a throw, when a plan’s value is no amount: %s',
    (value) => {
      const plan = structuredClone(plans[0]!)
      const batch = batchOf(plan)
      Object.assign(plan.transactions[0]!.transaction, { value })
      const verdict = verifyBatch(batch, plan.transactions, plan.request.userAddress)
      expect(verdict.ok).toBe(false)
      expect(verdict.problems.join()).toMatch(/transaction 1: (has a value that is no amount|has not the shape)/)
    },
  )

  it('is refused without a transaction, for a plan that is none, and for a wallet that is none', () => {
    const plan = structuredClone(plans[0]!)
    const batch = batchOf(plan)
    expect(verifyBatch({ ...batch, calls: [] }, [], plan.request.userAddress).problems).toEqual([
      'the plan has no transaction',
    ])
    for (const userAddress of ['', 'me', batch.from.slice(0, 41)])
      expect(verifyBatch({ ...batch, from: userAddress }, plan.transactions, userAddress).ok).toBe(false)
    Object.assign(plan.transactions[0]!, { capabilities: {} })
    expect(verifyBatch(batch, plan.transactions, plan.request.userAddress).problems).toEqual([
      'transaction 1: says more than a plan does: capabilities',
    ])
  })

  it.each<[string, (batch: ReturnType<typeof batchOf>) => void, RegExp]>([
    ['another wallet', (batch) => Object.assign(batch, { from: stranger }), /another wallet/],
    ['another chain', (batch) => Object.assign(batch, { chainId: '0x1' }), /another chain/],
    ['a chain that is no quantity', (batch) => Object.assign(batch, { chainId: '31337' }), /another chain/],
    ['another version', (batch) => Object.assign(batch, { version: '1.0' }), /version 1.0/],
    ['no atomicity', (batch) => Object.assign(batch, { atomicRequired: false }), /in part/],
    ['a call less', (batch) => Object.assign(batch, { calls: batch.calls.slice(1) }), /calls, the plan/],
    ['a call more', (batch) => Object.assign(batch, { calls: [...batch.calls, batch.calls[0]] }), /calls, the plan/],
    ['another target', (batch) => Object.assign(batch.calls[0]!, { to: stranger }), /call 1 of the batch/],
    ['other data', (batch) => Object.assign(batch.calls[0]!, { data: '0x' }), /call 1 of the batch/],
    ['another value', (batch) => Object.assign(batch.calls[0]!, { value: '0x1' }), /call 1 of the batch/],
    ['a value that is none', (batch) => Object.assign(batch.calls[0]!, { value: '0' }), /call 1 of the batch/],
    ['capabilities of a call', (batch) => Object.assign(batch.calls[0]!, { capabilities: {} }), /call 1 of the batch/],
    ['a null call', (batch) => Object.assign(batch, { calls: [null, batch.calls[1]] }), /call 1 of the batch/],
    ['calls that are no list', (batch) => Object.assign(batch, { calls: null }), /calls, the plan/],
    ['a list for a target', (batch) => Object.assign(batch.calls[0]!, { to: [stranger] }), /call 1 of the batch/],
    ['a wallet that is no text', (batch) => Object.assign(batch, { from: null }), /not the shape/],
    [
      'a hidden member',
      (batch) => Object.defineProperty(batch, 'id', { value: '0x' }),
      /says more than a plan does: id/,
    ],
    [
      'a hidden member of a call',
      (batch) => Object.defineProperty(batch.calls[0], 'gas', { value: '0x1' }),
      /call 1 of the batch/,
    ],
    ['a member beside its calls', (batch) => Object.assign(batch.calls, { map: null }), /has 0 calls/],
    [
      'a quantity of 65 digits',
      (batch) => Object.assign(batch, { chainId: `0x${'0'.repeat(61)}7a69` }),
      /another chain/,
    ],
    ['capabilities', (batch) => Object.assign(batch, { capabilities: {} }), /says more than a plan does: capabilities/],
  ])('is refused with %s', (_name, change, problem) => {
    const plan = plans.find(({ transactions }) => transactions.length > 1)!
    const batch = batchOf(plan)
    change(batch)
    const verdict = verifyBatch(batch, plan.transactions, plan.request.userAddress)
    expect(verdict.ok).toBe(false)
    expect(verdict.problems.join('\n')).toMatch(problem)
  })
})
