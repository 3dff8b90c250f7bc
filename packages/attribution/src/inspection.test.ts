import type { Address, Hex } from 'viem'
import { getAddress } from 'viem'
import { describe, expect, test } from 'vitest'
import { chainId, only, schema0, schema2, signed, signers, tracker } from '../test/suffixes.js'
import {
  account,
  deposit,
  entryPoint7,
  entryPoints,
  execute,
  handleOps7,
  operation7,
  owner,
  vault,
} from '../test/wrapping.js'
import { attribute } from './attribute.js'
import { concatBytes } from './bytes.js'
import { formatHex, parseHex } from './calldata.js'
import { marker } from './erc8021.js'
import { emptyInspection, inspect } from './inspection.js'
import { signatureErrors } from './signature.js'

function inspectInput(input: string, { from = account, to = vault }: { from?: Address; to?: Address } = {}) {
  return inspect(attribute({ chainId, from, to, input: input as Hex, signers, entryPoints }))
}

const nothing = {
  found: false,
  schema: null,
  placement: null,
  app: null,
  wallet: null,
  services: [],
  codes: [],
  registries: null,
  metadata: null,
  suffix: null,
  start: null,
  end: null,
  signature: { present: false, valid: false, signer: null },
  problems: [],
  stacked: [],
}

describe('what is served about calldata', () => {
  test('is every member, empty, when nothing is there', () => {
    expect(inspectInput(deposit)).toEqual(nothing)
    expect(emptyInspection('chain unavailable')).toEqual({ ...nothing, problems: ['chain unavailable'] })
  })

  test('of a signed suffix shows its metadata, offsets and signer', () => {
    const suffix = signed({ referralCode: 'friend-1' })
    expect(inspectInput(`${deposit}${suffix}`)).toEqual({
      ...nothing,
      found: true,
      schema: 'erc8021-2',
      placement: 'transaction',
      app: 'ours',
      codes: ['ours'],
      metadata: {
        i: '0x248df4b7aa7047b8a03633ac447e668d',
        r: 'friend-1',
        g: expect.stringMatching(/^0x[0-9a-f]{130}$/),
      },
      suffix: `0x${suffix}`,
      start: 68,
      end: 68 + suffix.length / 2,
      signature: { present: true, valid: true, signer: getAddress(signers[0]?.address ?? expect.fail()) },
    })
  })

  test('of a copied suffix says why the signature does not count, and names no signer', () => {
    expect(inspectInput(`${deposit}${signed()}`, { from: owner })).toMatchObject({
      found: true,
      codes: ['ours'],
      signature: { present: true, valid: false, signer: null },
      problems: [signatureErrors.mismatch],
    })
  })

  test('of schema 2 shows wallet, services and registries with checksummed addresses', () => {
    const address = '0xbcf2b9598ec0781ee49230caacf0fb3c881b5195'
    const map = { a: 'app', w: 'wallet', s: ['one', 'two'], r: { a: { c: '0x2105', a: address } } }
    expect(inspectInput(`${deposit}${schema2(map)}`)).toMatchObject({
      app: 'app',
      wallet: 'wallet',
      services: ['one', 'two'],
      codes: ['app', 'wallet', 'one', 'two'],
      registries: { app: { chainId: '8453', address: getAddress(address) } },
    })
  })

  test('of schema 1 shows its registry', () => {
    const suffix = `${'cc'.repeat(20)}210502616203${'01'}${formatHex(marker).slice(2)}`.replace(
      '02616203',
      '0261620201'.slice(0, 8),
    )
    expect(inspectInput(`${deposit}${suffix}`)).toMatchObject({
      schema: 'erc8021-1',
      codes: ['ab'],
      registries: { codes: { chainId: '8453', address: getAddress(`0x${'cc'.repeat(20)}`) } },
    })
  })

  test('of a legacy tracker shows its fields', () => {
    expect(inspectInput(`${deposit}${tracker('turtle:v1:abc:ref')}`)).toMatchObject({
      found: true,
      schema: 'legacy',
      codes: ['abc'],
      metadata: { distributorId: 'abc', referralCode: 'ref' },
      start: 68,
    })
  })

  test('of an inner call has offsets into the whole transaction input', () => {
    const suffix = signed()
    const input = execute(vault, `${deposit}${suffix}`)
    const { start, end, placement } = inspectInput(input, { from: owner, to: account })
    expect(placement).toBe('innerCall')
    expect(formatHex(parseHex(input) ?? expect.fail(), start ?? 0, end ?? 0)).toBe(`0x${suffix}`)
  })
})

describe('stacked suffixes', () => {
  test('stand below the outermost, outermost first, without stacks of their own', () => {
    const { codes, stacked } = inspectInput(`${deposit}${schema0('inner')}${signed()}${schema0('outer')}`)
    expect(codes).toEqual(['outer'])
    expect(stacked.map(({ codes }) => codes)).toEqual([['ours'], ['inner']])
    for (const one of stacked) expect(one).not.toHaveProperty('stacked')
    expect(stacked[0]?.signature.valid).toBe(true)
  })

  test('of which none names a code have the outermost in front', () => {
    const [inner, outer] = [schema2({ m: { x: 'in' } }), schema2({ m: { x: 'out' } })]
    const { codes, metadata, stacked } = inspectInput(`${deposit}${inner}${outer}`)
    expect([codes, metadata, stacked.map((one) => one.metadata)]).toEqual([[], { x: 'out' }, [{ x: 'in' }]])
  })

  test('of several user operations are all shown, each with its place', () => {
    const call = (code: string): Hex => `${execute(vault, deposit)}${schema0(code)}`
    const input = handleOps7(operation7(account, call('first')), operation7(account, call('second')))
    const { codes, stacked, placement } = inspectInput(input, { from: owner, to: entryPoint7 })
    expect([codes, placement, stacked[0]?.codes]).toEqual([['first'], 'userOperation', ['second']])
  })

  test('a malformed outer one stands behind an inner call’s that names a code', () => {
    const input = `${execute(vault, `${deposit}${schema0('inner')}`)}${schema0('a b')}`
    const { codes, stacked, found } = inspectInput(input, { from: owner, to: account })
    expect([found, codes]).toEqual([true, ['inner']])
    expect(stacked).toMatchObject([
      { found: false, codes: [], problems: [expect.stringMatching(/^bad-code-character: /)] },
    ])
  })
})

describe('problems', () => {
  test('of a malformed suffix are named, and nothing is attributed', () => {
    expect(inspectInput(`${deposit}${schema2({ a: 7 })}`)).toMatchObject({
      found: false,
      schema: 'erc8021-2',
      app: null,
      codes: [],
      problems: ['field-a-not-text: the application code (a) is not text'],
    })
  })

  test('of an unknown schema, of no code, of an unreadable tracker', () => {
    const later = formatHex(concatBytes(Uint8Array.of(1, 0, 1, 9), marker)).slice(2)
    expect(inspectInput(`${deposit}${later}`)).toMatchObject({
      found: true,
      schema: null,
      problems: ['unknown-schema: schema 9 is not known'],
    })
    expect(inspectInput(`${deposit}${schema2({})}`)).toMatchObject({
      found: true,
      problems: ['empty: it names no code'],
    })
    expect(inspectInput(`${deposit}${tracker('turtle:v1:no such id:')}`)).toMatchObject({
      found: false,
      schema: 'legacy',
      problems: [expect.stringMatching(/^tracker-unreadable: /)],
    })
  })

  test('a bundler’s suffix is not found, and why is said', () => {
    const input = `${handleOps7(operation7(account, execute(vault, deposit)))}${schema0('bundler')}`
    expect(inspectInput(input, { from: owner, to: entryPoint7 })).toMatchObject({
      found: false,
      codes: [],
      problems: [
        "the suffix at the end of the bundle (bundler) is the bundler's and counts for none of its operations",
      ],
    })
  })

  test('calls that were not read are mentioned', () => {
    const nest = (depth: number): Hex =>
      depth === 0 ? `${deposit}${schema0('abc')}` : execute(account, nest(depth - 1))
    expect(inspectInput(nest(9), { to: account }).problems).toEqual([
      'some inner calls were too many or too deep to be read',
    ])
  })
})

describe('foreign metadata', () => {
  const metadataOf = (m: unknown) => inspectInput(`${deposit}${schema2({ a: 'x', m: m as object })}`)

  test('is plain JSON: bytes as hex, big integers and odd numbers as text', () => {
    const { metadata } = metadataOf({
      big: 2n ** 63n,
      negative: -(2n ** 62n),
      bytes: Uint8Array.of(1, 255),
      list: [1, null, true, { deep: 'x' }],
      half: 1.5,
      infinite: Number.POSITIVE_INFINITY,
      none: undefined,
    })
    expect(JSON.parse(JSON.stringify(metadata))).toEqual({
      big: '9223372036854775808',
      negative: '-4611686018427387904',
      bytes: '0x01ff',
      list: [1, null, true, { deep: 'x' }],
      half: 1.5,
      infinite: 'Infinity',
      none: null,
    })
  })

  test('cannot reach a prototype', () => {
    const { metadata } = inspectInput(
      `${deposit}a261616178616da1695f5f70726f746f5f5fa167697341646d696ef5001c02${formatHex(marker).slice(2)}`,
    )
    expect(JSON.stringify(metadata)).toBe('{"__proto__":{"isAdmin":true}}')
    expect(Object.getPrototypeOf(metadata)).toBeNull()
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined()
  })

  test('keys that are not text are written as text; the first of two that read the same stays', () => {
    const { metadata, problems } = metadataOf(
      new Map<unknown, unknown>([
        [1, 'number'],
        ['1', 'text'],
        [Uint8Array.of(9), 'bytes'],
        [true, 'yes'],
      ]),
    )
    expect({ ...metadata }).toEqual({ '1': expect.any(String), '0x09': 'bytes', true: 'yes' })
    expect(problems).toEqual(['some metadata is left out'])
  })

  test('holds no NUL and no half character, which a database refuses', () => {
    const halves = tracker('{"distributorId":"abc","x":"\\ud800\\u0000","referralCode":"\\u0000","actionId":"\\ud800"}')
    const { metadata } = inspectInput(`${deposit}${halves}`)
    expect(metadata).toMatchObject({ x: '\uFFFD\uFFFD', referralCode: '\uFFFD' })
    const [reading] = only(`${deposit}${halves}`).readings
    expect(reading).toMatchObject({ codes: ['abc'], referralCode: undefined, actionId: undefined })
  })

  test('is bounded in depth, number and length', () => {
    let deep: unknown = 'end'
    for (let i = 0; i < 100; i++) deep = [deep]
    const all = [
      metadataOf({ deep }),
      metadataOf({ many: Array.from({ length: 5000 }, (_, i) => i) }),
      metadataOf({ long: 'x'.repeat(60_000) }),
    ]
    for (const { metadata, problems } of all) {
      expect(problems).toEqual(['some metadata is left out'])
      expect(JSON.stringify(metadata).length).toBeLessThan(4_000)
    }
  })
})
