import { describe, expect, it } from 'vitest'
import { attacker } from '../../test/mutations.js'
import { namedPlan, type Plan, verify } from '../../test/plans.js'

const wrongSteps = ['what comes before the last transaction is not what this needs, and nothing else']
const withReset = () => namedPlan('erc4626 deposit with reset')

/** The plan without its reset: one approval and the deposit. */
function withoutReset(): Plan {
  const plan = withReset()
  plan.transactions.shift()
  return plan
}

describe('the approvals of a plan', () => {
  it('are refused with a reset where the allowance is 0', async () => {
    for (const approvalReset of [true, false, undefined]) {
      const plan = withReset()
      plan.context.allowance = '0'
      if (approvalReset === undefined) delete plan.context.approvalReset
      else plan.context.approvalReset = approvalReset
      expect((await verify(plan)).problems, String(approvalReset)).toEqual(wrongSteps)
      expect((await verify({ ...withoutReset(), context: plan.context })).ok).toBe(true)
    }
  })

  it('are refused with a reset where the token is known to need none', async () => {
    for (const allowance of ['5', undefined]) {
      const plan = withReset()
      plan.context.approvalReset = false
      if (allowance === undefined) delete plan.context.allowance
      expect((await verify(plan)).problems, String(allowance)).toEqual(wrongSteps)
      expect((await verify({ ...withoutReset(), context: plan.context })).ok).toBe(true)
    }
  })

  it('are refused without a reset where the token is known to need one', async () => {
    expect((await verify(withoutReset())).problems).toEqual(wrongSteps)
  })

  it('may have a reset or none where it is not known whether the token needs one', async () => {
    for (const plan of [withReset(), withoutReset()]) {
      delete plan.context.approvalReset
      expect((await verify(plan)).ok).toBe(true)
    }
  })

  it('are refused where the allowance suffices, to the unit', async () => {
    const plan = withoutReset()
    plan.context.allowance = 77_000_000n
    expect((await verify(plan)).problems).toEqual(wrongSteps)
    plan.transactions.shift()
    expect((await verify(plan)).ok).toBe(true)
    plan.context.allowance = 76_999_999n
    expect((await verify(plan)).problems).toEqual(wrongSteps)
  })
})

describe('a deposit of the native token', () => {
  const native = () => namedPlan('erc4626 deposit of the native token')

  it('is verified from public answers: without wrappedNative the vault’s asset has to be what wraps it', async () => {
    const plan = native()
    delete plan.context.wrappedNative
    expect((await verify(plan)).ok).toBe(true)
    plan.context.vault.asset = attacker
    expect((await verify(plan)).ok).toBe(false)
  })

  it('is refused where the chain’s wrapped token is another than the vault’s', async () => {
    const plan = native()
    plan.context.wrappedNative = attacker
    expect((await verify(plan)).problems).toContain('the token given is not the one the vault takes')
  })

  it('is refused, without wrappedNative, at a vault that takes several tokens', async () => {
    const plan = namedPlan('erc5115 deposit')
    Object.assign(plan.request, { tokenIn: 'native' })
    expect((await verify(plan)).problems).toContain('the token given is not the one the vault takes')
  })
})
