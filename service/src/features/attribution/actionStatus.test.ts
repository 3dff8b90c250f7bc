import { describe, expect, it } from 'vitest'
import { decideActionStatus, decideTransactionState, isConfirmed, type TransactionState } from './actionStatus.js'

const statusOf = (states: readonly TransactionState[], isLookedThrough = true) =>
  decideActionStatus(
    states.map((state) => ({ state, isMain: true })),
    { isLookedThrough },
  )

describe('an action', () => {
  it('is built as long as nobody sends it, and expired only once it was looked for after its time', () => {
    expect(statusOf([], false)).toBe('built')
    expect(statusOf([])).toBe('expired')
  })

  it.each<[TransactionState[], ReturnType<typeof decideActionStatus>]>([
    [['pending'], 'submitted'],
    [['mined'], 'submitted'],
    [['confirmed'], 'verified'],
    [['reverted'], 'reverted'],
    [['reverted', 'pending'], 'submitted'],
    [['pending', 'mined', 'reverted'], 'submitted'],
    [['reverted', 'confirmed', 'pending'], 'verified'],
  ])('with transactions %j is %s, looked for or not', (states, status) => {
    expect(statusOf(states)).toBe(status)
    expect(statusOf(states, false)).toBe(status)
  })

  it('is not verified by the swap beside the call it is about', () => {
    const swap = { state: 'confirmed', isMain: false } as const
    expect(decideActionStatus([swap], { isLookedThrough: true })).toBe('submitted')
    expect(decideActionStatus([swap, { state: 'reverted', isMain: true }], { isLookedThrough: true })).toBe('reverted')
    expect(decideActionStatus([swap, { state: 'confirmed', isMain: true }], { isLookedThrough: true })).toBe('verified')
  })

  it('is confirmed when its block is as deep as the chain asks for; the head is one deep', () => {
    expect(isConfirmed(100, 100, 1)).toBe(true)
    expect(isConfirmed(100, 110, 12)).toBe(false)
    expect(isConfirmed(100, 111, 12)).toBe(true)
    expect(isConfirmed(100, -1, 1)).toBe(false)
  })
})

describe('a transaction', () => {
  it('waits, then reverted at whatever depth, or is mined and at last confirmed', () => {
    expect(decideTransactionState(undefined, true)).toBe('pending')
    for (const isDeepEnough of [true, false])
      expect(decideTransactionState({ success: false }, isDeepEnough)).toBe('reverted')
    expect(decideTransactionState({ success: true }, false)).toBe('mined')
    expect(decideTransactionState({ success: true }, true)).toBe('confirmed')
  })
})
