import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readVectors } from '../../../test/vectors.js'
import { computeFingerprint, formatCanonicalJson, parseIdempotencyKey, readHeldUntil } from './idempotency.js'

describe('Idempotency-Key', () => {
  for (const vector of readVectors('api.json').idempotencyKey)
    if (vector.structuredFieldResult.ok && vector.structuredFieldResult.key !== '' && !vector.header.includes(';'))
      it(`vector: ${vector.header}`, () => {
        expect(parseIdempotencyKey(vector.header)).toBe(vector.structuredFieldResult.key)
      })

  it('is the same bare and quoted', () => {
    const printable = fc.string({
      unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
      minLength: 1,
      maxLength: 255,
    })
    fc.assert(
      fc.property(printable, (key) => {
        const quoted = `"${key.replace(/["\\]/g, '\\$&')}"`
        expect(parseIdempotencyKey(quoted)).toBe(key)
        if (!key.startsWith('"')) expect(parseIdempotencyKey(key)).toBe(key)
      }),
    )
  })

  it.each([
    ['nothing', ''],
    ['empty quotes', '""'],
    ['an open quote', '"unterminated'],
    ['parameters after the quotes', '"a"; x=1'],
    ['256 characters', 'a'.repeat(256)],
    ['a control character', 'a\tb'],
    ['a letter outside ASCII', 'é'],
  ])('refuses %s', (_name, header) => {
    expect(parseIdempotencyKey(header)).toBeUndefined()
  })
})

describe('the fingerprint of a request', () => {
  const request = {
    operationId: 'Post',
    params: { id: 'a' },
    query: new Map([['x', ['1', '2']]]),
    body: { a: 1, b: [{ c: 2, d: 3 }] },
  }
  const same = (other: object) => computeFingerprint({ ...request, ...other }).equals(computeFingerprint(request))

  it('does not depend on the order of members or query names, only on what is said', () => {
    expect(same({ body: { b: [{ d: 3, c: 2 }], a: 1 } })).toBe(true)
    expect(same({ body: { a: 1, b: [{ c: 2, d: '3' }] } })).toBe(false)
    expect(same({ operationId: 'Other' })).toBe(false)
    expect(same({ params: { id: 'b' } })).toBe(false)
    expect(same({ query: new Map([['x', ['2', '1']]]) })).toBe(false)
    expect(same({ query: new Map() })).toBe(false)
  })

  it('is over JSON that reads back as the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(formatCanonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })
})

describe('how long an answer is kept', () => {
  it('is until the time it names itself', () => {
    const at = new Date('2026-11-20T12:10:00Z')
    expect(readHeldUntil({ validUntil: '2026-11-20T12:10:00Z', actionId: 'x' })).toEqual(at)
    expect(readHeldUntil({ quote: { expiresAt: '2026-11-20T12:01:00Z' }, expiresAt: '2026-11-20T12:10:00Z' })).toEqual(
      at,
    )
    for (const answer of [null, 'text', {}, { validUntil: 5 }, { expiresAt: 'soon' }, { quote: { expiresAt: at } }])
      expect(readHeldUntil(answer)).toBeUndefined()
  })
})
