import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { concatBytes, formatUtf8 } from './bytes.js'
import { lowerAddress, parseHex } from './calldata.js'
import { isCanonicalSignature } from './canonicalSignature.js'
import { decodeLegacy, legacyMarker } from './legacy.js'
import { hashPersonalMessage } from './personalMessage.js'
import { recoverAddress } from './recover.js'
import { renderMetadata } from './render.js'
import { readTails } from './tails.js'

type Vector = {
  name: string
  calldata: string
  expected: {
    status: 'ok' | 'none'
    tag?: string
    metadata?: Record<string, unknown>
    signed?: boolean
    signatureValid?: boolean
    offset?: number
  }
}

const file = new URL('../../../service/test/vectors/legacy-tracker.json', import.meta.url)
const { vectors, count, attributionSigner } = JSON.parse(readFileSync(file, 'utf8')) as {
  vectors: Vector[]
  count: number
  attributionSigner: string
}

const bytesOf = (hex: string) => parseHex(hex) ?? expect.fail(`not hex: ${hex}`)
const deposit = bytesOf(`0x6e553f65${'11'.repeat(64)}`)
const withTracker = (payload: string | Uint8Array, ...more: Uint8Array[]) =>
  concatBytes(deposit, legacyMarker, typeof payload === 'string' ? formatUtf8(payload) : payload, ...more)
const read = (payload: string | Uint8Array, ...more: Uint8Array[]) => decodeLegacy(withTracker(payload, ...more))

describe('each vector of the legacy tracker reads as it says', () => {
  test(`all ${count} are here`, () => expect(vectors).toHaveLength(count))

  test.each(vectors.map((v) => [v.name, v] as const))('%s', (_name, { calldata, expected }) => {
    const legacy = readTails(bytesOf(calldata)).tails.find((tail) => tail.kind === 'legacy')?.suffix
    if (expected.status === 'none') return expect(legacy).toBeUndefined()
    if (!legacy || legacy.status === 'malformed') return expect.fail(`not read: ${legacy?.reason}`)

    expect(legacy.tag).toBe(expected.tag)
    expect({ ...renderMetadata(legacy.metadata).value }).toEqual(expected.metadata)
    expect(legacy.start).toBe(expected.offset)
    const { signature, payload } = legacy
    expect(signature !== undefined).toBe(expected.signed)
    const signer =
      signature && isCanonicalSignature(signature) ? recoverAddress(hashPersonalMessage(payload), signature) : undefined
    expect(signer === lowerAddress(attributionSigner)).toBe(expected.signatureValid)
  })
})

describe('the tag', () => {
  test('takes any namespace of lower-case letters, digits and dashes', () => {
    expect(read('open-earn2:v1:Y2Zi7KWy:ref')).toMatchObject({ distributorId: 'Y2Zi7KWy', referralCode: 'ref' })
    expect(read('Turtle:v1:Y2Zi7KWy:ref')).toBeUndefined()
    expect(read(':v1:Y2Zi7KWy:ref')).toBeUndefined()
  })

  test('keeps a referral code as it is written, colons and all', () => {
    expect(read('turtle:v1:abc:a:b é')).toMatchObject({ referralCode: 'a:b é' })
  })

  test.each([
    ['a distributor that cannot be one', 'turtle:v1:no spaces:ref'],
    ['33 characters', `turtle:v1:${'x'.repeat(33)}:ref`],
    ['no distributor', 'turtle:v1::ref'],
    ['no referral part', 'turtle:v1:abc'],
    ['a control character', 'turtle:v1:abc:re\nf'],
    ['65 more characters that are no signature', `turtle:v1:abc:\n${'x'.repeat(65)}`],
    ['bytes that are not UTF-8', Uint8Array.from([...formatUtf8('turtle:v1:abc:'), 0xff])],
  ])('with %s is malformed and names nobody', (_name, payload) => {
    expect(read(payload)).toMatchObject({ status: 'malformed', reason: 'tracker-unreadable', start: deposit.length })
  })
})

describe('the JSON object', () => {
  test('without a distributor is readable and names nobody', () => {
    expect(read('{"action":"deposit"}')).toMatchObject({ status: 'empty', tag: '{"action":"deposit"}' })
    expect(read('{"distributorId":7}')).toMatchObject({ status: 'empty' })
    expect(read('{"distributorId":"no spaces"}')).not.toHaveProperty('distributorId')
  })

  test.each([
    ['a name twice', '{"distributorId":"a","distributorId":"b"}'],
    ['a name twice, once escaped', '{"distributorId":"a","\\u0064istributorId":"b"}'],
    ['text after it', '{"distributorId":"a"} '],
    ['two objects', '{"a":1}{"b":2}'],
    ['a cut end', '{"distributorId":"a"'],
  ])('with %s is malformed', (_name, payload) => expect(read(payload)).toMatchObject({ status: 'malformed' }))

  test('may repeat names inside nested objects and hold braces and colons in text', () => {
    const payload = '{"distributorId":"abc","x":{"distributorId":"d","y":[{"y":1}]},"z":"}:{\\":"}'
    expect(read(payload)).toMatchObject({ status: 'ok', distributorId: 'abc' })
  })

  test('cannot reach a prototype', () => {
    const legacy = read('{"__proto__":{"distributorId":"evil"}}')
    expect(legacy).toMatchObject({ status: 'empty' })
    expect(legacy).not.toHaveProperty('distributorId')
  })
})

describe('hostile bytes', () => {
  test('thousands of markers cost a bounded look', () => {
    const piece = formatUtf8('{"a":"')
    const data = concatBytes(deposit, ...Array.from({ length: 20_000 }, () => concatBytes(legacyMarker, piece)))
    const parse = vi.spyOn(JSON, 'parse')
    expect(decodeLegacy(data)).toMatchObject({ status: 'malformed' })
    expect(parse.mock.calls.length).toBeLessThanOrEqual(2 * 16)
    parse.mockRestore()
  })

  test('a payload beyond 2,048 bytes is not read', () => {
    expect(read(`turtle:v1:abc:${'x'.repeat(2000)}`)).toMatchObject({ status: 'ok' })
    expect(read(`turtle:v1:abc:${'x'.repeat(2048)}`)).toMatchObject({ status: 'malformed' })
    expect(read(`turtle:v1:abc:${'x'.repeat(4096)}`)).toBeUndefined()
  })

  test('never make the reader throw, and what it finds lies inside the bytes', () => {
    const payload = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc
        .string({ unit: fc.constantFrom('a', ':', '"', '\n', '\0', 'é', '€', '𐀀', '\uFEFF') })
        .map((text) => formatUtf8(`t:v1:${text}`)),
      fc.json().map(formatUtf8),
    )
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), payload, fc.boolean(), (before, payload, signed) => {
        const tail = signed ? new Uint8Array(65).fill(27) : new Uint8Array(0)
        const data = concatBytes(before, legacyMarker, payload, tail)
        const legacy = decodeLegacy(data)
        if (legacy) {
          expect(legacy.start).toBeGreaterThanOrEqual(4)
          expect(legacy.end).toBe(data.length)
        }
      }),
      { numRuns: 500 },
    )
  })
})
