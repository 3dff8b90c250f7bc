import { describe, expect, it } from 'vitest'
import { decideActionStatus, isConfirmed, type TransactionState, toSighting } from './actionState.js'

const validUntil = new Date('2026-11-20T12:10:00Z')
const before = new Date('2026-11-20T12:09:59Z')
const after = new Date('2026-11-20T12:10:01Z')

describe('an action', () => {
  it('is built until its time is over, then expired, as long as nobody sends it', () => {
    expect(decideActionStatus({ seen: 'nowhere' }, validUntil, before)).toBe('built')
    expect(decideActionStatus({ seen: 'nowhere' }, validUntil, validUntil)).toBe('built')
    expect(decideActionStatus({ seen: 'nowhere' }, validUntil, after)).toBe('expired')
  })

  it('is submitted from the pool until it is confirmed, then verified, however late', () => {
    expect(decideActionStatus({ seen: 'pending' }, validUntil, after)).toBe('submitted')
    const mined = { seen: 'mined', success: true } as const
    expect(decideActionStatus({ ...mined, confirmed: false }, validUntil, after)).toBe('submitted')
    expect(decideActionStatus({ ...mined, confirmed: true }, validUntil, after)).toBe('verified')
  })

  it('is reverted as soon as its transaction is', () => {
    const mined = { seen: 'mined', success: false } as const
    for (const confirmed of [true, false])
      expect(decideActionStatus({ ...mined, confirmed }, validUntil, before)).toBe('reverted')
  })

  it.each<[TransactionState[], ReturnType<typeof decideActionStatus>]>([
    [[], 'expired'],
    [['reverted'], 'reverted'],
    [['reverted', 'pending'], 'submitted'],
    [['pending', 'mined', 'reverted'], 'submitted'],
    [['reverted', 'confirmed', 'pending'], 'verified'],
  ])('with transactions %j is %s after its time', (states, status) => {
    expect(decideActionStatus(toSighting(states), validUntil, after)).toBe(status)
  })

  it('is confirmed when its block is as deep as the chain asks for; the head is one deep', () => {
    expect(isConfirmed(100, 100, 1)).toBe(true)
    expect(isConfirmed(100, 110, 12)).toBe(false)
    expect(isConfirmed(100, 111, 12)).toBe(true)
    expect(isConfirmed(100, -1, 1)).toBe(false)
  })
})
