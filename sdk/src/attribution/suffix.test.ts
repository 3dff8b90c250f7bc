import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { bytesToHex, concat, type Hex, slice } from 'viem'
import { describe, expect, it } from 'vitest'
import { decode, encode, listCodes, readOwnMetadata } from './suffix.js'

type Vector = { name: string; calldata: Hex; expected: Record<string, unknown>; expectedAll?: unknown[] }
const { vectors }: { vectors: Vector[] } = JSON.parse(
  readFileSync(new URL('../../test/vectors/erc8021.json', import.meta.url), 'utf8'),
)

const toJson = (value: unknown): unknown =>
  value instanceof Map ? Object.fromEntries([...value].map(([key, item]) => [key, toJson(item)])) : value

describe('decoding', () => {
  it.each(vectors.map((vector) => [vector.name, vector] as const))('reads the vector %s', (_name, vector) => {
    const [suffix] = decode(vector.calldata)
    const { txData, note, ...expected } = vector.expected
    if (!suffix) {
      expect(expected).toEqual({ status: 'none' })
      return
    }
    const { start, end, ...read } = suffix
    expect(end).toBe((vector.calldata.length - 2) / 2)
    expect({ ...read, ...('metadata' in read ? { metadata: toJson(read.metadata) } : {}) }).toEqual(expected)
    if (txData !== undefined)
      expect(vector.calldata.slice(2, 2 + 2 * start).toLowerCase()).toBe(String(txData).slice(2).toLowerCase())
    expect(note === undefined || typeof note === 'string').toBe(true)
  })

  it('never throws, whatever the bytes before the marker', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.constantFrom('00', '01', '02', '03'), (bytes, schema) => {
        const data = concat([bytesToHex(bytes), `0x${schema}80218021802180218021802180218021`])
        for (const suffix of decode(data)) expect(suffix.start).toBeLessThan(suffix.end)
      }),
      { numRuns: 2000 },
    )
  })
})

const code = fc.stringMatching(/^[A-Za-z0-9_-]{1,32}$/)
const bytes = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((value) => bytesToHex(value))

describe('encoding', () => {
  it('is read back as it was written, whatever the calldata before it', () => {
    const own = fc.record({ code, actionId: bytes(16), signature: bytes(65), referralCode: code })
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), own, fc.boolean(), (call, given, withReferral) => {
        const { referralCode, ...rest } = given
        const input = withReferral ? given : rest
        const suffix = encode(input)
        const [read] = decode(concat([bytesToHex(call), suffix]))
        expect(read && readOwnMetadata(read)).toEqual(input)
        expect(read?.start).toBe(call.length)
        expect(slice(concat([bytesToHex(call), suffix]), call.length)).toBe(suffix)
        expect(referralCode.length).toBeGreaterThan(0)
      }),
    )
  })

  it('writes codes alone as schema 0', () => {
    fc.assert(
      fc.property(fc.array(code, { minLength: 1, maxLength: 7 }), (codes) => {
        const [read] = decode(encode({ codes }))
        expect(read && listCodes(read)).toEqual(codes)
      }),
    )
    for (const codes of [[], [''], ['a b'], ['a,b'], ['é'], ['x'.repeat(256)]])
      expect(() => encode({ codes })).toThrow(RangeError)
  })
})
