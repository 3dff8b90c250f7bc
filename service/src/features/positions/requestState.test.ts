import { describe, expect, it } from 'vitest'
import { requestState } from './getWalletRequests.js'

const open = { remaining: '5', cancelled: '0', cancelling: false }

describe('the state of a request', () => {
  it.each([
    ['pending', open, 0n],
    ['claimable', open, 1n],
    ['cancelling', { ...open, cancelling: true }, 0n],
    ['claimable', { ...open, cancelling: true }, 1n],
    ['claimed', { ...open, remaining: '0' }, 0n],
    ['cancelled', { ...open, remaining: '0', cancelled: '5' }, 0n],
  ] as const)('is %s', (state, request, claimable) => {
    expect(requestState(request, claimable)).toBe(state)
  })
})
