import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { Attribution } from 'ox/erc8021'
import { describe, expect, test } from 'vitest'
import { concatBytes } from './bytes.js'
import { formatHex, parseHex } from './calldata.js'
import { encodeCbor } from './cbor.js'
import { decodeSuffix, decodeSuffixes, encodeSuffix, marker, type Suffix, suffixCodes } from './erc8021.js'
import { renderMetadata } from './render.js'

type Expected = Record<string, unknown> & { status: string; txData?: string; note?: string }
type Vector = {
  name: string
  calldata: `0x${string}`
  expected: Expected
  expectedAll?: Expected[]
  ox: { result?: unknown; error?: string }
  encodedBy?: string
}

const file = new URL('../../../service/test/vectors/erc8021.json', import.meta.url)
const { vectors, count } = JSON.parse(readFileSync(file, 'utf8')) as { vectors: Vector[]; count: number }

const bytesOf = (hex: string) => parseHex(hex.toLowerCase()) ?? expect.fail(`not hex: ${hex}`)

/** Our reading in the words of the vectors. */
function asExpected(suffix: Suffix | undefined, data: Uint8Array): unknown {
  if (!suffix) return { status: 'none' }
  const { start, end: _end, ...rest } = suffix
  if (rest.status === 'malformed') return rest
  const txData = formatHex(data, 0, start)
  if (rest.status === 'unknown-schema' || rest.schemaId !== 2 || !rest.metadata) return { ...rest, txData }
  return { ...rest, metadata: renderMetadata(rest.metadata).value, txData }
}

const sorted = (value: unknown): string =>
  JSON.stringify(value, (_key, v: unknown) =>
    v !== null && typeof v === 'object' && !Array.isArray(v)
      ? Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1))
      : v,
  )

describe('each published ERC-8021 vector reads as the strict profile says', () => {
  test(`all ${count} are here`, () => expect(vectors).toHaveLength(count))

  test.each(vectors.map((v) => [v.name, v] as const))('%s', (_name, { calldata, expected, expectedAll }) => {
    const data = bytesOf(calldata)
    const { note: _note, ...wanted } = expected
    expect(sorted(asExpected(decodeSuffix(data), data))).toBe(sorted(wanted))

    const all = decodeSuffixes(data)
    const wantedAll = expectedAll ?? (wanted.status === 'none' ? [] : [wanted])
    expect(sorted(all.map((suffix) => asExpected(suffix, data)))).toBe(sorted(wantedAll))
  })
})

describe('suffix offsets', () => {
  test('index the bytes that were read, start to end, stacked ones touching', () => {
    const { calldata } =
      vectors.find((v) => v.name.startsWith('multi/schema 2 under schema 0')) ?? expect.fail('no vector')
    const data = bytesOf(calldata)
    const [outer, inner] = decodeSuffixes(data)
    expect(outer).toMatchObject({ start: data.length - 25, end: data.length })
    expect(inner).toMatchObject({ start: 4, end: outer?.start })
  })

  test('a suffix is not read across the floor it is given', () => {
    const data = bytesOf('0xdddddddd62617365617070070080218021802180218021802180218021')
    expect(decodeSuffix(data, data.length, 4)).toMatchObject({ status: 'ok', start: 4 })
    expect(decodeSuffix(data, data.length, 5)).toMatchObject({ status: 'malformed', reason: 'codes-length-overruns' })
    expect(decodeSuffix(data, data.length, data.length - 15)).toBeUndefined()
  })
})

describe('what the reader of CBOR alone would let through is refused', () => {
  const schema2 = (cbor: Uint8Array) =>
    decodeSuffix(concatBytes(cbor, Uint8Array.of(cbor.length >> 8, cbor.length & 0xff, 2), marker))
  const reason = (hex: string) => {
    const suffix = schema2(bytesOf(hex))
    return suffix?.status === 'malformed' ? suffix.reason : suffix?.status
  }

  test.each([
    ['a break as the value of a map entry', '0xa16161ff'],
    ['a break as a value inside metadata', '0xa26161617861 6da1616bff'.replaceAll(' ', '')],
    ['a break as the value in an indefinite map', '0xbf61616178616dff'],
    ['a break inside a counted array', '0xa1617382ff6178'],
    ['a break at the top', '0xff'],
    ['text that is not UTF-8', '0xa2616161786 16da1616bc0'.replaceAll(' ', '')],
    ['short text that is not UTF-8', '0xa1616161ff'],
    ['text with a lone surrogate', '0xa161616 3eda080'.replaceAll(' ', '')],
    ['a tagged value', '0xa1616dc1a0'],
    ['a repeated key inside metadata', '0xa1616da2616b01616b02'],
    ['two items', '0xa0a0'],
    ['an array longer than the bytes', '0xa161739b001fffffffffffff'],
    ['a byte string longer than the bytes', '0xa1616d5b001fffffffffffff'],
  ])('%s', (_name, hex) => expect(reason(hex)).toBe('cbor-invalid'))

  test('a byte order mark stays part of a code, so it cannot pass for the code without it', () => {
    expect(reason(formatHex(encodeCbor({ a: '﻿Y2Zi7KWy' })))).toBe('non-ascii-code')
    expect(reason(formatHex(encodeCbor({ a: '﻿'.padEnd(40, 'x') })))).toBe('non-ascii-code')
  })

  test.each([
    ['0xa16161f6', 'field-a-not-text'],
    ['0xa16161f7', 'field-a-not-text'],
    ['0xa16177f7', 'field-w-not-text'],
    ['0xa16173f7', 'field-s-not-text-array'],
    ['0xa16172f7', 'field-r-not-map'],
    ['0xa16172a16161f7', 'field-r-not-map'],
    ['0xa16172a16161a0', 'registry-address'],
    ['0xa1616df7', 'field-m-not-map'],
    ['0xa16172a16161a161617830'.slice(0, -2), 'cbor-invalid'],
  ])('null and undefined are wrong types, not absence: %s', (hex, wanted) => expect(reason(hex)).toBe(wanted))

  test('a registry chain id is hex text or a whole number, nothing else', () => {
    const address = `0x${'cc'.repeat(20)}`
    for (const c of ['2105', '0x', `0x${'1'.repeat(65)}`, -1, 1.5, null, new Uint8Array(1)]) {
      expect(reason(formatHex(encodeCbor({ r: { a: { a: address, c } } })))).toBe('registry-chain-id')
    }
  })

  test('a code is at most 255 bytes', () => {
    expect(reason(formatHex(encodeCbor({ a: 'x'.repeat(255) })))).toBe('ok')
    expect(reason(formatHex(encodeCbor({ a: 'x'.repeat(256) })))).toBe('code-too-long')
  })

  test('65,000 arrays inside each other are malformed, quickly', () => {
    const deep = concatBytes(bytesOf('0xa1616d'), new Uint8Array(65_000).fill(0x81))
    const suffix = schema2(deep)
    expect(suffix).toMatchObject({ status: 'malformed', reason: 'cbor-invalid' })
  })
})

describe('stacked suffixes', () => {
  const schema0 = (code: string) => bytesOf(Attribution.toDataSuffix({ codes: [code] }))

  test('eight are read and no more', () => {
    const data = concatBytes(...Array.from({ length: 12 }, (_, i) => schema0(`c${i}`)))
    expect(decodeSuffixes(data).map((s) => suffixCodes(s)[0])).toEqual([
      'c11',
      'c10',
      'c9',
      'c8',
      'c7',
      'c6',
      'c5',
      'c4',
    ])
  })

  test('a later schema is stepped over by its length', () => {
    const later = concatBytes(Uint8Array.of(1, 2, 3, 0, 3, 9), marker)
    const data = concatBytes(schema0('inner'), later, schema0('outer'))
    expect(decodeSuffixes(data).map((s) => s.status)).toEqual(['ok', 'unknown-schema', 'ok'])
  })

  test('nothing is read below a malformed one', () => {
    const data = concatBytes(schema0('inner'), bytesOf('0x612062030080218021802180218021802180218021'))
    expect(decodeSuffixes(data)).toMatchObject([{ status: 'malformed', reason: 'bad-code-character' }])
    // A whole suffix right before the schema id of the malformed one, where reading it backwards would go on.
    const stacked = concatBytes(schema0('inner'), Uint8Array.of(0), marker)
    expect(decodeSuffixes(stacked)).toMatchObject([{ status: 'malformed', reason: 'codes-length-overruns' }])
  })
})

describe('codes of a suffix', () => {
  test('schema 2 names application, wallet, services, in that order', () => {
    const data = bytesOf(
      Attribution.toDataSuffix({ serviceCodes: ['s1', 's2'], walletCode: 'w', appCode: 'a' } as never),
    )
    const suffix = decodeSuffix(data) ?? expect.fail('no suffix')
    expect(suffixCodes(suffix)).toEqual(['a', 'w', 's1', 's2'])
  })
})

const code = fc.stringMatching(/^[A-Za-z0-9_-]{1,32}$/)
const calldata = fc.uint8Array({ maxLength: 200 })

describe('encoding', () => {
  test('what we write reads back the same, whatever lies below it', () => {
    const input = fc.record({
      code,
      actionId: fc.uint8Array({ minLength: 16, maxLength: 16 }),
      signature: fc.uint8Array({ minLength: 65, maxLength: 65 }),
      referralCode: fc.option(fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/), { nil: undefined }),
    })
    fc.assert(
      fc.property(calldata, input, (data, { code, actionId, signature, referralCode }) => {
        const suffix = encodeSuffix({ code, actionId, signature, referralCode })
        const read = decodeSuffix(concatBytes(data, suffix))
        const metadata: [string, unknown][] = [
          ['i', actionId],
          ['g', signature],
        ]
        if (referralCode) metadata.push(['r', referralCode])
        const span = { start: data.length, end: data.length + suffix.length }
        expect(read).toEqual({ status: 'ok', schemaId: 2, appCode: code, metadata: new Map(metadata), ...span })
      }),
    )
  })

  test.each([
    ['an empty code', { code: '' }],
    ['a code of 33 characters', { code: 'x'.repeat(33) }],
    ['a code with a blank', { code: 'a b' }],
    ['an action id of 15 bytes', { actionId: new Uint8Array(15) }],
    ['a signature of 64 bytes', { signature: new Uint8Array(64) }],
    ['a referral code of 65 characters', { referralCode: 'x'.repeat(65) }],
  ])('refuses %s', (_name, wrong) => {
    const right = { code: 'abc', actionId: new Uint8Array(16), signature: new Uint8Array(65) }
    expect(() => encodeSuffix({ ...right, ...wrong })).toThrow(RangeError)
  })
})

describe('ox, an independent implementation, agrees on well-formed suffixes', () => {
  const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((b) => formatHex(b))
  const codes = fc.array(code, { minLength: 1, maxLength: 7 })
  const chainId = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })
  const registry = fc.record({ address, chainId })

  test('schemas 0 and 1', () => {
    fc.assert(
      fc.property(calldata, codes, fc.option(registry, { nil: undefined }), (data, codes, codeRegistry) => {
        const written = Attribution.toDataSuffix(codeRegistry ? { codes, codeRegistry, id: 1 } : { codes })
        const suffix = decodeSuffix(concatBytes(data, bytesOf(written)))
        expect(suffix).toMatchObject({ status: 'ok', codes, schemaId: codeRegistry ? 1 : 0, start: data.length })
        if (codeRegistry) {
          expect(suffix).toHaveProperty('codeRegistry', { ...codeRegistry, chainId: String(codeRegistry.chainId) })
        }
      }),
    )
  })

  test('schema 2', () => {
    const fields = fc.record(
      {
        appCode: code,
        walletCode: code,
        serviceCodes: codes,
        registries: fc.record({ app: registry, wallet: registry }, { requiredKeys: [] }),
        metadata: fc.dictionary(
          fc.string({ maxLength: 8 }).filter((key) => key !== '__proto__'),
          fc.oneof(fc.string(), fc.boolean(), fc.integer()),
        ),
      },
      { requiredKeys: ['appCode'] },
    )
    fc.assert(
      fc.property(calldata, fields, (data, fields) => {
        const written = concatBytes(data, bytesOf(Attribution.toDataSuffix({ ...fields, id: 2 } as never)))
        const suffix = decodeSuffix(written)
        if (suffix?.status !== 'ok' || suffix.schemaId !== 2) return expect.fail(JSON.stringify(suffix))
        const oracle = Attribution.fromData(formatHex(written)) as typeof fields
        expect(suffix.appCode).toBe(oracle.appCode)
        expect(suffix.walletCode).toBe(oracle.walletCode)
        expect(suffix.serviceCodes ?? []).toEqual(oracle.serviceCodes ?? [])
        for (const name of ['app', 'wallet'] as const) {
          const wanted = oracle.registries?.[name]
          expect(suffix.registries?.[name]).toEqual(wanted && { ...wanted, chainId: String(wanted.chainId) })
        }
        const metadata = suffix.metadata ? renderMetadata(suffix.metadata).value : {}
        expect({ ...metadata }).toEqual(oracle.metadata ?? {})
      }),
    )
  })
})

describe('hostile bytes', () => {
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    // Whole CBOR items with a byte changed: close to right is where readers break.
    fc.tuple(fc.anything({ withNullPrototype: false, maxDepth: 3 }), fc.nat(), fc.nat(255)).map(([value, at, byte]) => {
      const cbor = encodeCbor({ a: 'x', m: JSON.parse(JSON.stringify(value ?? null) ?? 'null') as unknown })
      cbor[at % cbor.length] = byte
      return cbor
    }),
  )

  test('never make the reader throw, and every span lies inside what was read', () => {
    fc.assert(
      fc.property(body, fc.nat(4), fc.boolean(), fc.nat(), (bytes, schema, exact, random) => {
        const length = exact ? bytes.length : random % 70_000
        const data = concatBytes(bytes, Uint8Array.of((length >> 8) & 0xff, length & 0xff, schema), marker)
        let end = data.length
        for (const suffix of decodeSuffixes(data)) {
          expect(suffix.end).toBe(end)
          expect(suffix.start).toBeGreaterThanOrEqual(0)
          expect(suffix.start).toBeLessThan(end)
          end = suffix.start
        }
      }),
      { numRuns: 1_000 },
    )
  })

  test('the shortest and longest lengths are checked at every size of data', () => {
    for (let size = 0; size < 40; size++) {
      for (const schema of [0, 1, 2, 3, 255]) {
        for (const fill of [0x00, 0x01, 0x20, 0xff]) {
          const data = concatBytes(new Uint8Array(size).fill(fill), Uint8Array.of(schema), marker)
          expect(() => decodeSuffixes(data)).not.toThrow()
        }
      }
    }
  })
})
