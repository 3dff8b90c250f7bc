import { describe, expect, it } from 'vitest'
import { operations } from '../operations.js'
import { isLiteral, listLiterals } from './literals.js'

const wordsOf = (path: string) =>
  Object.fromEntries([...listLiterals({ path }, operations)].map(([name, words]) => [name, [...words].sort()]))

describe('words of paths', () => {
  it('are those that other operations have in the place of a parameter, after the same beginning', () => {
    expect(wordsOf('/v2/actions/{actionId}')).toEqual({
      actionId: ['cancel-deposit', 'claim-deposit', 'deposit', 'verify', 'withdraw'],
    })
    expect(wordsOf('/v2/swap/orders/{orderId}')).toEqual({ orderId: ['build'] })
    expect(wordsOf('/v2/streams/{id}/wallets/{address}')).toEqual({
      id: ['bulk', 'merkle_proofs', 'points', 'tokens', 'wallets'],
    })
    expect(wordsOf('/v2/deposit/{distributorId}')).toEqual({})
  })

  it('are no ids', () => {
    const literals = listLiterals({ path: '/v2/actions/{actionId}' }, operations)
    expect(isLiteral(literals, { actionId: 'deposit' })).toBe(true)
    expect(isLiteral(literals, { actionId: 'Deposit' })).toBe(false)
    expect(isLiteral(listLiterals({ path: '/v2/chains/' }, operations), {})).toBe(false)
    expect(isLiteral(undefined, {})).toBe(false)
  })
})
