import { decode } from 'cborg'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { concatBytes } from './bytes.js'
import { formatHex, parseHex } from './calldata.js'
import { decodeCbor, encodeCbor } from './cbor.js'

const item: fc.Memo<unknown> = fc.memo<unknown>(
  (depth): fc.Arbitrary<unknown> =>
    depth <= 1
      ? fc.oneof(
          fc.string({ unit: fc.constantFrom('a', '"', '\0', 'é', '€', '𐀀') }),
          fc.boolean(),
          fc.constantFrom(null, undefined),
          fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n - 1n }),
          fc.double(),
          fc.uint8Array({ maxLength: 40 }),
        )
      : fc.oneof(
          fc.array(item(depth - 1), { maxLength: 4 }),
          fc.array(fc.tuple(fc.string(), item(depth - 1)), { maxLength: 4 }).map((entries) => new Map(entries)),
        ),
)

/** So many arrays, each the only item of the next one. */
const nested = (depth: number): unknown[] => (depth === 1 ? [] : [nested(depth - 1)])

const options = { useMaps: true, rejectDuplicateMapKeys: true }

function decodeWithCborg(bytes: Uint8Array): unknown {
  try {
    return { value: decode(bytes, options) }
  } catch (error) {
    return error instanceof Error ? undefined : expect.fail()
  }
}

describe('decodeCbor', () => {
  test('reads back what encodeCbor writes', () => {
    const { any } = fc.letrec<{ any: unknown }>((tie) => ({
      any: fc.oneof(
        { depthSize: 'small' },
        fc.string(),
        fc.maxSafeInteger(),
        fc.uint8Array({ maxLength: 300 }),
        fc.array(tie('any'), { maxLength: 30 }),
        fc.dictionary(fc.string(), tie('any'), { maxKeys: 30, noNullPrototype: true }),
      ),
    }))
    const asRead = (value: unknown): unknown => {
      if (value instanceof Uint8Array || typeof value !== 'object' || value === null) return value
      if (Array.isArray(value)) return value.map(asRead)
      return new Map(Object.entries(value).map(([key, inner]) => [key, asRead(inner)]))
    }
    fc.assert(
      fc.property(any, (value) => {
        expect(decodeCbor(encodeCbor(value))?.value).toEqual(asRead(value))
      }),
    )
  })

  test('reads whatever an encoder writes, as cborg does', () => {
    fc.assert(
      fc.property(item(4), (value) => {
        const bytes = encodeCbor(value)
        expect(decodeCbor(bytes)).toEqual({ value: decode(bytes, options) })
      }),
      { numRuns: 200 },
    )
  })

  test('never accepts what cborg refuses, and never reads it differently', () => {
    fc.assert(
      fc.property(item(3), fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 3 }), (value, changes) => {
        const bytes = concatBytes(encodeCbor(value))
        for (const [at, byte] of changes) bytes[at % bytes.length] = byte
        const read = decodeCbor(bytes)
        // A byte order mark is the one thing both take and read apart: we keep it.
        if (read && !formatHex(bytes).includes('efbbbf')) expect(read).toEqual(decodeWithCborg(bytes))
      }),
      { numRuns: 1_500 },
    )
  })

  test.each<[string, string, unknown]>([
    ['the largest integers', '0x821bffffffffffffffff3bffffffffffffffff', [2n ** 64n - 1n, -(2n ** 64n)]],
    [
      'indefinite containers inside each other',
      '0x9f9fff bf6161bfffff ff'.replaceAll(' ', ''),
      [[], new Map([['a', new Map()]])],
    ],
    ['512 arrays inside each other', `0x${'81'.repeat(511)}80`, nested(512)],
    ['lengths longer than they need be', '0x9b0000000000000001 7a00000001 61'.replaceAll(' ', ''), ['a']],
  ])('reads %s', (_name, hex, value) => {
    expect(decodeCbor(parseHex(hex) ?? expect.fail())).toEqual({ value })
  })

  test.each([
    ['no bytes', '0x'],
    ['513 open arrays', `0x${'81'.repeat(513)}80`],
    ['an indefinite array that never ends', '0x9f01'],
    ['a break after one key of an indefinite map', '0xbf6161ff'],
    ['a break in a counted map', '0xa16161ff'],
    ['a second break', '0x9fffff'],
    ['a tag', '0xc001'],
    ['a simple value', '0xe0'],
  ])('refuses %s', (_name, hex) => expect(decodeCbor(parseHex(hex) ?? expect.fail())).toBeUndefined())
})
