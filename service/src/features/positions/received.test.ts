import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Claim, computeReceived } from './received.js'

const word = (value: bigint) => value.toString(16).padStart(64, '0')
/** What a claim took of a request, and the data of its event: assets, shares. */
const claim = (logIndex: number, taken: bigint, assets: bigint, shares: bigint): Claim => ({
  blockNumber: 5,
  logIndex,
  taken: String(taken),
  data: `0x${word(assets)}${word(shares)}`,
})
const base = { chainId: 1, kind: 'deposit' as const }

describe('what claims gave', () => {
  it('is divided among the requests of one claim in proportion, the whole of it given', () => {
    // 10 shares for 12 assets: 7 of 12 are 5.83, rounded down; the other has the rest.
    const requests = [
      { ...base, id: 'a', claims: [claim(3, 7n, 12n, 10n)] },
      { ...base, id: 'b', claims: [claim(3, 5n, 12n, 10n)] },
    ]
    expect(computeReceived(requests)).toEqual(
      new Map([
        ['a', 5n],
        ['b', 5n],
      ]),
    )
  })

  it('adds up over several claims of one request, and of a redemption is assets', () => {
    const claims = [claim(3, 4n, 8n, 4n), claim(9, 6n, 13n, 6n)]
    expect(computeReceived([{ ...base, kind: 'redeem', id: 'a', claims }])).toEqual(new Map([['a', 21n]]))
  })

  it('is not known where the log of a claim is not kept or has another shape, and nothing where nothing was claimed', () => {
    const lost = { ...claim(9, 1n, 1n, 1n), data: null }
    const requests = [
      { ...base, id: 'a', claims: [claim(3, 1n, 1n, 1n), lost] },
      { ...base, id: 'b', claims: [{ ...lost, data: '0x12' }] },
      { ...base, id: 'c', claims: [claim(4, 1n, 0n, 1n)] },
      { ...base, id: 'd', claims: [] },
    ]
    expect(computeReceived(requests)).toEqual(new Map())
  })

  it('is never more than the claim gave, nor loses a unit where requests cover it', () => {
    const amount = fc.bigInt({ min: 1n, max: 2n ** 200n })
    fc.assert(
      fc.property(fc.array(amount, { minLength: 1, maxLength: 8 }), amount, amount, (taken, beyond, shares) => {
        const sum = taken.reduce((a, b) => a + b, 0n)
        const received = (assets: bigint) => {
          const requests = taken.map((one, i) => ({ ...base, id: String(i), claims: [claim(0, one, assets, shares)] }))
          return [...computeReceived(requests).values()].reduce((a, b) => a + b, 0n)
        }
        expect(received(sum)).toBe(shares)
        expect(received(sum + beyond)).toBeLessThanOrEqual(shares)
      }),
    )
  })
})
