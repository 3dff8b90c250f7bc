import { describe, expect, it } from 'vitest'
import { EarnError } from '../../kernel/errors.js'
import type { Offer } from '../../vaults/index.js'
import {
  type Asked,
  assertMinimumShares,
  assertMinimumUsd,
  assertOutcome,
  assertUnsimulated,
  explainRevert,
} from './checks.js'

/** The reason a check refuses with; undefined: it does not. */
function reasonOf(check: () => void): string | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    if (error instanceof EarnError) return error.reason
    throw error
  }
}

const asked = (offer: Partial<Offer>, amount = 100n): Asked => ({
  offer: { closed: undefined, mismatch: undefined, max: undefined, quoted: undefined, ...offer } as Offer,
  capability: { enabled: true, reason: '', observed: false },
  ...{ closed: 'DEPOSIT_DISABLED', amount, decimals: 6 },
})

describe('a minimum', () => {
  it('of a withdrawal is taken as it stands, to the last unit of the receipt token', () => {
    const reason = (shares: bigint) => reasonOf(() => assertMinimumShares('50.5', shares, 6))
    expect([reason(50_499_999n), reason(50_500_000n)]).toEqual(['BELOW_MINIMUM', undefined])
  })

  it('of a deposit is taken as it stands, and refuses nothing that has no price', () => {
    const reason = (usd: string | undefined) => reasonOf(() => assertMinimumUsd('10.5', usd))
    expect([reason('10.499999'), reason('10.5'), reason(undefined)]).toEqual(['BELOW_MINIMUM', undefined, undefined])
  })
})

describe('a simulated outcome', () => {
  const gains = (change: bigint | undefined) =>
    reasonOf(() => assertOutcome({ spends: undefined, gains: '0xf0' }, () => change))

  it('that gives the wallet nothing is refused, though the vault quoted some', () => {
    expect([gains(0n), gains(undefined), gains(-1n)]).toEqual(Array(3).fill('BELOW_MINIMUM'))
    expect(gains(1n)).toBeUndefined()
  })

  it('that spends more, less or another token than was asked for is refused', () => {
    const spends = (change: bigint | undefined) =>
      reasonOf(() => assertOutcome({ spends: { token: '0xa5', amount: 9n }, gains: undefined }, () => change))
    expect([spends(-10n), spends(-8n), spends(undefined), spends(9n)]).toEqual(Array(4).fill('TOKEN_UNSUPPORTED'))
    expect(spends(-9n)).toBeUndefined()
  })
})

describe('a call that reverts', () => {
  const explained = (max: bigint | undefined, amount: bigint, quoted = 1n) =>
    reasonOf(() => explainRevert(asked({ max, quoted }, amount))('it reverts', { transactionIndex: 0 }, undefined))

  it('is explained by the maximum of the vault above it only: exactly as much may be taken', () => {
    expect(explained(100n, 101n)).toBe('CAP_EXCEEDED')
    expect(explained(100n, 100n)).toBeUndefined()
    expect(explained(undefined, 100n)).toBeUndefined()
    expect(explained(0n, 1n)).toBe('DEPOSIT_DISABLED')
  })

  it('is explained by a quote of 0', () => {
    expect(explained(undefined, 100n, 0n)).toBe('BELOW_MINIMUM')
  })
})

describe('what nothing could be simulated of', () => {
  it('is refused where the vault quotes 0, and built where it quotes some or says nothing', () => {
    const judged = (quoted: bigint | undefined) => reasonOf(() => assertUnsimulated(asked({ quoted }))())
    expect([judged(0n), judged(1n), judged(undefined)]).toEqual(['BELOW_MINIMUM', undefined, undefined])
  })

  it('is refused where the vault was last seen to refuse it', () => {
    const seen = { ...asked({ quoted: 1n }), capability: { enabled: false, reason: 'closed', observed: true } }
    expect(reasonOf(assertUnsimulated(seen))).toBe('DEPOSIT_DISABLED')
  })
})
