import fc from 'fast-check'
import { bytesToHex, encodeErrorResult, parseAbi } from 'viem'
import { describe, expect, it } from 'vitest'
import { describeRevert, failing, findMeaning } from './revert.js'

const standard = parseAbi(['error Error(string)', 'error Panic(uint256)'])
const wallet = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

describe('a revert in words', () => {
  it('quotes the text a contract gave', () => {
    const data = encodeErrorResult({ abi: standard, errorName: 'Error', args: ['Paused'] })
    expect(describeRevert(data)).toBe('with "Paused"')
  })

  it.each([
    [200, 'x'.repeat(200)],
    [201, `${'x'.repeat(200)}…`],
    [5_000, `${'x'.repeat(200)}…`],
  ])('quotes no more than 200 characters of a text of %i', (length, quoted) => {
    const data = encodeErrorResult({ abi: standard, errorName: 'Error', args: ['x'.repeat(length)] })
    expect(describeRevert(data)).toBe(`with "${quoted}"`)
  })

  it.each([
    [0x01n, 'an assertion failed'],
    [0x11n, 'arithmetic overflow or underflow'],
    [0x12n, 'division by zero'],
    [0x32n, 'an index out of bounds'],
    [0x99n, 'code 153'],
  ])('names panic %s', (code, meaning) => {
    const data = encodeErrorResult({ abi: standard, errorName: 'Panic', args: [code] })
    expect(describeRevert(data)).toBe(`with a panic: ${meaning}`)
  })

  it('names common custom errors, and those of a vault kind, with their arguments', () => {
    const common = parseAbi(['error ERC4626ExceededMaxDeposit(address receiver, uint256 assets, uint256 max)'])
    const data = encodeErrorResult({ abi: common, errorName: 'ERC4626ExceededMaxDeposit', args: [wallet, 5n, 4n] })
    expect(describeRevert(data)).toBe(
      `with ERC4626ExceededMaxDeposit(${wallet}, 5, 4): the vault takes at most that much of this wallet at present`,
    )
    const own = failing('error RequestsPaused()', 'the vault takes no requests at present', 'closed')
    const paused = encodeErrorResult({ abi: [own.error], errorName: 'RequestsPaused' })
    expect(describeRevert(paused, [own])).toBe('with RequestsPaused(): the vault takes no requests at present')
    expect(findMeaning(paused, [own])).toBe('closed')
    expect(describeRevert(paused)).toBe(`with the custom error ${paused}, which is not known here`)
    expect(findMeaning(paused)).toBeUndefined()
  })

  it('says so when there is nothing to read', () => {
    expect(describeRevert('0x')).toBe('without a reason')
    expect(describeRevert('0x1234')).toBe('with data that is no error')
  })

  it('cuts what a stranger wrote and takes control characters out', () => {
    const text = `${'\u001b[31m'}${'x'.repeat(500)}`
    const data = encodeErrorResult({ abi: standard, errorName: 'Error', args: [text] })
    const words = describeRevert(data)
    expect(words).not.toContain('\u001b')
    expect(words.length).toBeLessThan(220)
  })

  it('never throws, whatever comes back', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        fc.constantFrom('0x', '0x08c379a0', '0x4e487b71'),
        (bytes, start) => {
          expect(typeof describeRevert(`${start}${bytesToHex(bytes).slice(2)}` as `0x${string}`)).toBe('string')
        },
      ),
    )
  })
})
