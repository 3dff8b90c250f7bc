import { Check } from 'typebox/value'
import { describe, expect, it } from 'vitest'
// Sets the format of an amount.
import '../../kernel/wire.js'
import { DistributorId, positiveRaw, slippageBounds, tokenInput } from './inputs.js'

const address = `0x${'aB'.repeat(20)}`

describe('an input of a plan', () => {
  it('that is an amount is digits above 0 and below 2^256', () => {
    const schema = positiveRaw('What is given')
    const most = String(2n ** 256n - 1n)
    expect(['1', '10', '007', most].filter((text) => !Check(schema, text))).toEqual([])
    const not = ['', '0', '000', '-1', '1.5', '1e3', ' 1', 'x1', '1x', String(2n ** 256n), `${'0'.repeat(78)}1`]
    expect(not.filter((text) => Check(schema, text))).toEqual([])
    expect(schema).toMatchObject({
      says: "must be a text of decimal digits, an integer above 0 in the token's smallest unit",
      description: 'What is given',
    })
  })

  it('that is a token is an address or native', () => {
    const schema = tokenInput({ examples: ['native'] })
    expect([address, address.replace('x', 'X'), 'native'].filter((text) => !Check(schema, text))).toEqual([])
    const not = ['', 'Native', 'natives', 'xnative', `${address}0`, address.slice(0, -1), `x${address}`, '0x']
    expect(not.filter((text) => Check(schema, text))).toEqual([])
    expect(schema).toMatchObject({
      says: 'must be a token address (0x and 40 hex digits) or native',
      ...{ description: 'Token, or native', examples: ['native'] },
    })
    expect(tokenInput()).not.toHaveProperty('examples')
  })

  it('that is a distributor has 1 to 64 characters', () => {
    expect([1, 64].map((length) => Check(DistributorId, 'x'.repeat(length)))).toEqual([true, true])
    expect([0, 65].map((length) => Check(DistributorId, 'x'.repeat(length)))).toEqual([false, false])
    expect(DistributorId).toMatchObject({ description: 'Builder code' })
  })

  it('that is a slippage is from a hundredth of a percent to half', () => {
    expect(slippageBounds).toEqual({ minimum: 1, maximum: 5_000 })
  })
})
