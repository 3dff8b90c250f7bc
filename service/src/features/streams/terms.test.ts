import { maxUint256 } from 'viem'
import { describe, expect, it } from 'vitest'
import {
  computeFee,
  isZeroAddress,
  readAdapter,
  readAdmin,
  readAmount,
  readStrategy,
  readTerms,
  type TermsInput,
} from './terms.js'

const now = new Date('2026-11-20T12:00:00Z')
const wallet = `0x${'aB'.repeat(20)}`
const target = `8453:0x${'Cd'.repeat(20)}`

/** A stream of 100 units a day for ten days, changed in the members given. */
const stream = (changed: Partial<TermsInput> = {}): TermsInput => ({
  type: 3,
  startTimestamp: '2026-11-20T12:00:00Z',
  endTimestamp: '2026-11-30T12:00:00Z',
  rewardTokenId: 'token',
  customArgs: { targetTokenId: target, tokensPerDay: '100' },
  ...changed,
})
const fixedRate = (changed: Partial<TermsInput> = {}): TermsInput =>
  stream({ type: 1, totalAmount: '1000', customArgs: { targetTokenId: target, tokensPerUSD: '7' }, ...changed })
const fixedApr = (apr: string | number): TermsInput =>
  stream({ type: 2, totalAmount: '1000', customArgs: { targetTokenId: target, apr } })

describe('the terms of a new stream', () => {
  it('are kept as they were given, instants in whole seconds and addresses in lower case', () => {
    const adapters = [{ type: 'min-balance', params: { shares: '5' } }]
    expect(readTerms(stream({ startTimestamp: '2026-11-20T12:00:00.999Z', adapters }), now)).toEqual({
      type: 3,
      startsAt: now,
      endsAt: new Date('2026-11-30T12:00:00Z'),
      total: 1_000n,
      rewardTokenId: 'token',
      pointId: undefined,
      customArgs: { targetTokenId: target.toLowerCase(), tokensPerDay: '100' },
      adapters,
    })
  })

  it('take null for a member that is not given', () => {
    const nulls = { endTimestamp: null, pointId: null, adapters: null }
    const args = { targetTokenId: target, tokensPerUSD: 7, apr: null, tokensPerDay: null }
    expect(readTerms(fixedRate({ ...nulls, customArgs: args }), now)).toMatchObject({
      endsAt: null,
      total: 1_000n,
      customArgs: { targetTokenId: target.toLowerCase(), tokensPerUSD: 7 },
      adapters: [],
    })
  })

  it('may begin an hour ago and end in a second', () => {
    const input = stream({ startTimestamp: '2026-11-20T11:00:00Z', endTimestamp: '2026-11-20T12:00:01Z' })
    expect(readTerms(input, now)).toMatchObject({ total: 4n })
  })

  it('of a daily budget come to what is due in its seconds, cut to a unit', () => {
    expect(readTerms(stream({ endTimestamp: '2026-11-20T18:00:00Z' }), now).total).toBe(25n)
    expect(readTerms(stream({ endTimestamp: '2026-11-20T17:59:59Z' }), now).total).toBe(24n)
  })

  it('of points need no total, and may have one', () => {
    const points = { rewardTokenId: null, pointId: 'point' }
    expect(readTerms(fixedRate({ ...points, totalAmount: null }), now)).toMatchObject({ total: null, pointId: 'point' })
    expect(readTerms(fixedRate(points), now).total).toBe(1_000n)
  })

  it.each<[TermsInput, string]>([
    [stream({ type: 4 }), 'type must be 1, 2 or 3'],
    [stream({ startTimestamp: 'soon' }), 'startTimestamp must be an RFC 3339 date-time with Z or an offset'],
    [stream({ endTimestamp: 'later' }), 'endTimestamp must be an RFC 3339 date-time with Z or an offset'],
    [stream({ endTimestamp: '' }), 'endTimestamp must be an RFC 3339 date-time with Z or an offset'],
    [stream({ startTimestamp: '2026-11-20T10:59:59Z' }), 'startTimestamp must be at most 1 hour in the past'],
    [stream({ endTimestamp: '2026-11-20T12:00:00Z' }), 'endTimestamp must be after startTimestamp'],
    [
      stream({ startTimestamp: '2026-11-20T11:30:00Z', endTimestamp: '2026-11-20T12:00:00Z' }),
      'endTimestamp must be in the future',
    ],
    [stream({ pointId: 'point' }), 'give either rewardTokenId or pointId, and not both'],
    [stream({ rewardTokenId: null }), 'give either rewardTokenId or pointId, and not both'],
    [stream({ totalAmount: '5' }), 'totalAmount of a daily budget follows from tokensPerDay and the time'],
    [stream({ endTimestamp: null }), 'endTimestamp is required for a daily budget'],
    [stream({ endTimestamp: '2026-11-20T12:10:00Z' }), 'what tokensPerDay comes to must be more than 0'],
    [fixedRate({ totalAmount: null }), 'totalAmount is required for a stream that pays a token'],
    [fixedRate({ totalAmount: '0' }), 'totalAmount must be more than 0'],
    [fixedRate({ totalAmount: '1.5' }), 'totalAmount must be more than 0'],
    [
      { ...fixedApr('0.1'), rewardTokenId: null, pointId: 'point' },
      'a stream of a fixed APR pays a token: points have no price',
    ],
    [
      stream({ customArgs: { targetTokenId: target, tokensPerDay: '1', apr: '0.1' } }),
      'customArgs.apr is of another type of stream: one of type 3 has tokensPerDay',
    ],
    [stream({ customArgs: { targetTokenId: target } }), 'customArgs.tokensPerDay is required for a stream of type 3'],
    [stream({ adapters: [{ type: 'tax', params: {} }] }), 'adapters: there is no type "tax"'],
  ])('are refused with a sentence: %#', (input, sentence) => {
    expect(() => readTerms(input, now)).toThrow(sentence)
  })
})

describe('the rate of a stream', () => {
  it.each(['0', '-1', '1.5', '', `${10n ** 60n + 1n}`, 1.5, 2 ** 53])(
    'of tokens is a whole number of smallest units from 1 to 10^60, not %s',
    (tokensPerUSD) => {
      expect(() => readTerms(fixedRate({ customArgs: { targetTokenId: target, tokensPerUSD } }), now)).toThrow(
        'customArgs.tokensPerUSD must be a whole number of smallest units, from 1 to 10^60',
      )
    },
  )

  it.each(['1', `${10n ** 60n}`, 5, 2 ** 53 - 1])('of tokens may be %s', (tokensPerUSD) => {
    const input = fixedRate({ customArgs: { targetTokenId: target, tokensPerUSD } })
    expect(readTerms(input, now).customArgs.tokensPerUSD).toBe(tokensPerUSD)
  })

  it.each([
    '0',
    '0.0',
    '1000.000000000000000001',
    '0.0000000000000000001',
    '.1',
    '1.',
    '1e-3',
    ' 1',
    '1 ',
    '-1',
    1001,
    1e-19,
  ])('of a fixed APR is a fraction above 0 and at most 1000 in 18 digits, not %s', (apr) => {
    expect(() => readTerms(fixedApr(apr), now)).toThrow(
      'customArgs.apr must be a fraction above 0 and at most 1000, with at most 18 digits after the point',
    )
  })

  it.each(['1000', '0.000000000000000001', '0.5', 0.5, 1e-7, 1.25e-10, 1e-18, 12])(
    'of a fixed APR may be %s',
    (apr) => {
      expect(readTerms(fixedApr(apr), now).customArgs.apr).toBe(apr)
    },
  )
})

describe('a fixed APR given as a number', () => {
  it.each<[number, bigint]>([
    [1e-7, 10n ** 11n],
    [1.25e-10, 125_000_000n],
    [1e-18, 1n],
    [0.25, 25n * 10n ** 16n],
  ])('%s is read to its last digit', (apr, aprE18) => {
    expect(readStrategy(2, { targetTokenId: target, apr })).toEqual({ type: 2, aprE18 })
  })
})

describe('the fee of a stream', () => {
  it('is 1.5 %, rounded up, and nothing for a premium distributor', () => {
    expect([0n, 1n, 66n, 67n, 1_000n, 1_001n].map((net) => computeFee(net, false))).toEqual([0n, 1n, 1n, 2n, 15n, 16n])
    expect(computeFee(1_000n, true)).toBe(0n)
  })

  it('fits a token together with the amount it is added to', () => {
    const largest = (maxUint256 * 1_000n) / 1_015n
    expect(readAmount(largest, 'amount')).toBe(largest)
    expect(() => readAmount(largest + 1n, 'amount')).toThrow('amount with its fee must be below 2^256')
    expect(() => readAmount(0n, 'amount')).toThrow('amount must be more than 0')
    expect(() => readAmount(undefined, 'amount')).toThrow('amount must be more than 0')
  })
})

describe('the admin of a token stream', () => {
  it('is named, in lower case, and is not the zero address', () => {
    expect(readAdmin(wallet)).toBe(wallet.toLowerCase())
    for (const none of [null, undefined])
      expect(() => readAdmin(none)).toThrow('walletAddress, the admin of the stream, is required')
    expect(() => readAdmin(`0x${'0'.repeat(40)}`)).toThrow('walletAddress must not be the zero address')
    expect(isZeroAddress(`0X${'0'.repeat(40)}`)).toBe(true)
    expect(isZeroAddress(wallet)).toBe(false)
  })
})

describe('an adapter', () => {
  const wallets = (count: number) => Array.from({ length: count }, (_, i) => `0x${i.toString(16).padStart(40, '0')}`)
  const ids = (count: number) => Array.from({ length: count }, (_, i) => `id-${i}`)

  it('is read with wallets in lower case, each once', () => {
    expect(readAdapter({ type: 'allowlist', params: { wallets: [wallet, wallet, wallets(1)[0]] } })).toEqual({
      type: 'allowlist',
      wallets: [wallet.toLowerCase(), `0x${'0'.repeat(40)}`],
    })
    expect(readAdapter({ type: 'blocklist', params: { wallets: [wallet] } })).toEqual({
      type: 'blocklist',
      wallets: [wallet.toLowerCase()],
    })
    expect(readAdapter({ type: 'min-balance', params: { shares: '12' } })).toEqual({ type: 'min-balance', shares: 12n })
  })

  it('of a boost is for everybody, for wallets, or for distributors', () => {
    const boost = (params: Record<string, unknown>) => readAdapter({ type: 'boost', params })
    for (const multiplierBps of [1, 100_000])
      expect(boost({ multiplierBps })).toEqual({
        type: 'boost',
        multiplierBps,
        wallets: undefined,
        distributorIds: undefined,
      })
    expect(boost({ multiplierBps: 2, wallets: [wallet], distributorIds: ['a_B-9'] })).toMatchObject({
      wallets: [wallet.toLowerCase()],
      distributorIds: ['a_B-9'],
    })
  })

  it('names at most 1,000 wallets and 200 distributors', () => {
    expect(readAdapter({ type: 'allowlist', params: { wallets: wallets(1_000) } })).toMatchObject({ type: 'allowlist' })
    const most = { multiplierBps: 1, distributorIds: ids(200) }
    expect(readAdapter({ type: 'boost', params: most })).toMatchObject({ type: 'boost' })
  })

  const list = (name: string, max: number) =>
    `adapters: ${name} must be a list of 1 to ${max} of them, each well-formed`
  const whole = 'adapters: multiplierBps of boost must be a whole number from 1 to 100000'
  it.each<[string, Record<string, unknown>, string]>([
    ['toString', {}, 'adapters: there is no type "toString"; use allowlist, blocklist, boost, min-balance'],
    ['allowlist', { wallets: [wallet], shares: '1' }, 'adapters: allowlist has no member "shares"'],
    ['allowlist', {}, 'adapters: allowlist needs wallets'],
    ['blocklist', {}, 'adapters: blocklist needs wallets'],
    ['allowlist', { wallets: [] }, list('wallets', 1_000)],
    ['allowlist', { wallets: wallets(1_001) }, list('wallets', 1_000)],
    ['allowlist', { wallets: wallet }, list('wallets', 1_000)],
    ['allowlist', { wallets: [wallet, 5] }, list('wallets', 1_000)],
    ['allowlist', { wallets: [wallet, `${wallet}0`] }, list('wallets', 1_000)],
    ['allowlist', { wallets: [`0${wallet}`] }, list('wallets', 1_000)],
    ['boost', { multiplierBps: 1, wallets: [`${wallet}0`] }, list('wallets', 1_000)],
    ['boost', { multiplierBps: 1, distributorIds: ids(201) }, list('distributorIds', 200)],
    ['boost', { multiplierBps: 1, distributorIds: ['x'.repeat(33)] }, list('distributorIds', 200)],
    ['boost', { multiplierBps: 1, distributorIds: ['a b'] }, list('distributorIds', 200)],
    ['boost', {}, whole],
    ['boost', { multiplierBps: 0 }, whole],
    ['boost', { multiplierBps: 100_001 }, whole],
    ['boost', { multiplierBps: 1.5 }, whole],
    ['boost', { multiplierBps: '2' }, whole],
    ['min-balance', {}, 'adapters: shares of min-balance must be a text of decimal digits'],
    ['min-balance', { shares: 5 }, 'adapters: shares of min-balance must be a text of decimal digits'],
    ['min-balance', { shares: '-5' }, 'adapters: shares of min-balance must be a text of decimal digits'],
  ])('of type %s is refused with a sentence: %j', (type, params, sentence) => {
    expect(() => readAdapter({ type, params })).toThrow(sentence)
  })
})
