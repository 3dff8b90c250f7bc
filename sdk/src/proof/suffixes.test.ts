import { buildSuffix } from '@openearn/attribution'
import fc from 'fast-check'
import { hexToBytes } from 'viem'
import { expect, it } from 'vitest'
import { decodeSuffixes, encodeCbor, readCbor, readSuffixes } from '../codec.js'

const suffixOf = (cbor: Uint8Array): Uint8Array =>
  Uint8Array.from([
    ...cbor,
    cbor.length >> 8,
    cbor.length & 255,
    2,
    ...Array.from({ length: 16 }, (_, i) => (i % 2 ? 0x21 : 0x80)),
  ])

/** What decides an entry: all of a suffix but members of its metadata that are floats. */
const meaning = (bytes: Uint8Array, isOwn: boolean) =>
  JSON.stringify(isOwn ? readSuffixes(readCbor, bytes, bytes.length, 0) : decodeSuffixes(bytes), (_, value) =>
    value instanceof Map
      ? [...value]
      : typeof value === 'bigint'
        ? String(value)
        : typeof value === 'number' && !Number.isSafeInteger(value)
          ? 'float'
          : value instanceof Uint8Array
            ? [...value]
            : value,
  )

const written = hexToBytes(
  buildSuffix({
    ...{ code: 'acme', actionId: '00112233-4455-6677-8899-aabbccddeeff', chainId: 1, data: '0x', referralCode: 'x' },
    ...{ wallet: `0x${'1'.repeat(40)}`, target: `0x${'2'.repeat(40)}`, privateKey: `0x${'3'.repeat(64)}` },
  }),
)

it('reads suffixes that are bent at any place as the codec does', () => {
  fc.assert(
    fc.property(fc.nat(written.length - 20), fc.nat(255), fc.nat(2), (at, byte, way) => {
      const cbor = [...written.subarray(0, written.length - 19)]
      if (way === 0) cbor[at % cbor.length] = byte
      else if (way === 1) cbor.splice(at % cbor.length, 0, byte)
      else cbor.splice(at % cbor.length, 1)
      const bytes = suffixOf(Uint8Array.from(cbor))
      expect(meaning(bytes, true)).toBe(meaning(bytes, false))
    }),
    { numRuns: 10_000 },
  )
})

it('reads any bytes, and any values a map may hold, as the codec does', () => {
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { depthSize: 'small' },
      fc.string(),
      fc.uint8Array({ maxLength: 40 }),
      fc.constantFrom(null, true, false, undefined, 0, -1, 23, 24, 256, 65_536, 2 ** 40, 2n ** 63n, 1.5),
      fc.array(tie('any'), { maxLength: 5 }),
      fc.dictionary(fc.constantFrom('a', 'w', 's', 'r', 'm', 'i', 'g', 'x'), tie('any'), { maxKeys: 6 }),
    ),
  })).any
  const codes = fc.dictionary(fc.constantFrom('a', 'w', 's', 'm', 'x'), fc.oneof(value, fc.constant('acme')), {
    maxKeys: 4,
  })
  fc.assert(
    fc.property(fc.oneof(value, codes), fc.uint8Array({ maxLength: 4 }), (item, more) => {
      for (const cbor of [encodeCbor(item), more, Uint8Array.from([...encodeCbor(item), ...more])]) {
        if (cbor.length > 65_535) continue
        const bytes = suffixOf(cbor)
        expect(meaning(bytes, true)).toBe(meaning(bytes, false))
      }
    }),
    { numRuns: 5_000 },
  )
})
