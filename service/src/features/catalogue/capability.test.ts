import { describe, expect, it } from 'vitest'
import { decideCapabilities } from './capability.js'

const switches = {
  depositEnabled: true,
  withdrawEnabled: true,
  depositDisabledReason: '',
  withdrawDisabledReason: '',
}

describe('what can be done with an opportunity', () => {
  it('is nothing to deposit where it is no longer offered, for the reason of now, not for one of an earlier closing', () => {
    const closedBefore = { ...switches, depositDisabledReason: 'Closed for an audit.' }
    expect(decideCapabilities(false, closedBefore, null, true).deposit).toEqual({
      enabled: false,
      reason: 'This opportunity is no longer offered.',
      observed: false,
    })
    const closedNow = { ...closedBefore, depositEnabled: false }
    expect(decideCapabilities(false, closedNow, null, true).deposit.reason).toBe('Closed for an audit.')
  })

  it('is everything where nobody forbids it, whatever reason an earlier closing had', () => {
    const reopened = { ...switches, depositDisabledReason: 'x', withdrawDisabledReason: 'y' }
    const open = { enabled: true, reason: '', observed: false }
    expect(decideCapabilities(true, reopened, null, true)).toEqual({ deposit: open, withdraw: open })
  })

  it('is nothing with a vault that nothing is built for, and says so', () => {
    const reopened = { ...switches, depositDisabledReason: 'x', withdrawDisabledReason: 'y' }
    const none = { enabled: false, reason: 'This vault is listed and watched only.', observed: false }
    expect(decideCapabilities(true, reopened, null, false)).toEqual({ deposit: none, withdraw: none })
  })
})
