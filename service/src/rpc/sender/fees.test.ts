import { describe, expect, it } from 'vitest'
import { decideFees, raiseFees } from './fees.js'

describe('fees', () => {
  it('leave room for the base fee to double, and never pass the cap', () => {
    expect(decideFees({ baseFee: 100n, tip: 3n }, 1_000n)).toEqual({ maxFee: 203n, tip: 3n })
    expect(decideFees({ baseFee: 100n, tip: 3n }, 150n)).toEqual({ maxFee: 150n, tip: 3n })
    expect(decideFees({ baseFee: 100n, tip: 3n }, 103n)).toEqual({ maxFee: 103n, tip: 3n })
    expect(decideFees({ baseFee: 100n, tip: 4n }, 103n)).toBeUndefined()
  })

  it('that take the place of others are a tenth more, both, or the present ones where these are more', () => {
    expect(raiseFees({ maxFee: 200n, tip: 10n }, { baseFee: 50n, tip: 1n }, 1_000n)).toEqual({ maxFee: 225n, tip: 12n })
    expect(raiseFees({ maxFee: 1n, tip: 1n }, { baseFee: 50n, tip: 1n }, 1_000n)).toEqual({ maxFee: 101n, tip: 2n })
    expect(raiseFees({ maxFee: 200n, tip: 10n }, { baseFee: 50n, tip: 1n }, 224n)).toBeUndefined()
    for (let fee = 1n; fee < 1_000n; fee += 7n) {
      const raised = raiseFees({ maxFee: fee, tip: fee }, { baseFee: 0n, tip: 0n }, 10_000n)
      expect(raised && raised.maxFee * 10n >= fee * 11n && raised.tip * 10n >= fee * 11n).toBe(true)
    }
  })
})
