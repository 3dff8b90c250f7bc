import fc from 'fast-check'
import { bytesToHex } from 'viem'
import { describe, expect, it } from 'vitest'
import { computeGasLimit } from './gas.js'

describe('a gas limit', () => {
  it('is what was measured, the intrinsic cost, 100,000 and three tenths more', () => {
    // 21,000 + 4 zero bytes × 4 + 2 others × 16 + 100,000 = 121,048; (+ 100,000) × 1.3 = 287,362.4
    expect(computeGasLimit(100_000n, '0x000001000002', 0)).toBe(287_363n)
  })

  it('takes a byte for zero only where both its digits are', () => {
    // 21,000 + 2 others × 16 + 1,000 + 100,000 = 122,032; × 1.3 = 158,641.6
    expect(computeGasLimit(1_000n, '0x1001', 0)).toBe(158_642n)
    expect(computeGasLimit(1_000n, '0x0000', 0)).toBe(158_611n)
  })

  it('pays the calldata floor of EIP-7623 where the call itself does little', () => {
    // 1,000 bytes that are not zero: standard 21,000 + 16,000 + 100, floor 21,000 + 40,000; (+ 100,000) × 1.3
    const data = bytesToHex(new Uint8Array(1000).fill(1))
    expect(computeGasLimit(100n, data, 0)).toBe(209_300n)
    // 1,000 zero bytes: floor 21,000 + 10,000
    expect(computeGasLimit(100n, bytesToHex(new Uint8Array(1000)), 0)).toBe(170_300n)
  })

  it('is 157,300 for an empty call, rounded up where it does not divide', () => {
    expect(computeGasLimit(0n, '0x', 0)).toBe(157_300n)
    expect(computeGasLimit(1n, '0x', 0)).toBe(157_302n)
  })

  it('allows a later call of a plan to find its storage cold', () => {
    expect(computeGasLimit(50_000n, '0x', 1) - computeGasLimit(50_000n, '0x', 0)).toBe(15_600n)
  })

  it('never falls when a call uses more or carries more', () => {
    const bytes = fc.uint8Array({ maxLength: 300 })
    fc.assert(
      fc.property(bytes, bytes, fc.bigInt(0n, 10n ** 7n), fc.bigInt(0n, 10n ** 6n), (a, b, gas, more) => {
        const base = computeGasLimit(gas, bytesToHex(a), 0)
        expect(computeGasLimit(gas + more, bytesToHex(a), 0)).toBeGreaterThanOrEqual(base)
        expect(computeGasLimit(gas, bytesToHex(new Uint8Array([...a, ...b])), 0)).toBeGreaterThanOrEqual(base)
      }),
    )
  })
})
