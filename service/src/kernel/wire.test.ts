import T from 'typebox'
import { describe, expect, it } from 'vitest'
import { readVectors } from '../../test/vectors.js'
import { parseTs } from './clock.js'
import { decodeQuery, List, pageQuery, parseQueryString } from './wire.js'

describe('RFC 3339 date-times', () => {
  for (const vector of readVectors('api.json').dates)
    it(`vector: ${JSON.stringify(vector.input)}`, () => {
      expect(parseTs(vector.input)?.toISOString() ?? null).toBe(vector.rfc3339 ?? null)
    })

  it('reads a space where a raw + stood in a query', () => {
    expect(parseTs('2026-11-20T12:00:00 02:00')?.toISOString()).toBe('2026-11-20T10:00:00.000Z')
  })
})

describe('query values', () => {
  const schema = T.Object({
    count: T.Optional(T.Integer()),
    page: T.Optional(pageQuery.page),
    ratio: T.Optional(T.Number()),
    flag: T.Optional(T.Boolean()),
    text: T.Optional(T.String()),
    items: T.Optional(List()),
    maybe: T.Optional(T.Boolean({ nullable: true })),
  })
  const decode = (text: string) => decodeQuery(schema, parseQueryString(text))

  it('are typed by the schema; unknown names are ignored', () => {
    expect(decode('count=3&ratio=1.5&flag=true&text=a+b&items=a,b&items=%20c%20,,&other=1')).toEqual({
      value: { count: 3, ratio: 1.5, flag: true, text: 'a b', items: ['a', 'b', 'c'] },
      violations: [],
    })
  })

  it('are absent when empty, and when null where null is allowed', () => {
    expect(decode('count=&flag=&text=&items=,&maybe=null')).toEqual({ value: {}, violations: [] })
    expect(decode('flag=null').violations).toEqual([{ path: 'flag', message: 'must be true or false' }])
    expect(decode('text=null').value).toEqual({ text: 'null' })
    expect(
      decodeQuery(T.Object({ never: T.Boolean({ nullable: false }) }), parseQueryString('never=null')).value,
    ).toEqual({})
  })

  it('are true or false for a truth, and nothing else', () => {
    expect([decode('flag=true').value, decode('flag=false').value, decode('maybe=false').value]).toEqual([
      { flag: true },
      { flag: false },
      { maybe: false },
    ])
    for (const word of ['yes', 'True', '0'])
      expect(decode(`maybe=${word}`).violations).toEqual([{ path: 'maybe', message: 'must be true or false' }])
  })

  it.each(['1.5', '1e3', '0x10', ' 1', '9007199254740993', 'NaN', '+1'])('refuse %s as an integer', (text) => {
    const violations = [{ path: 'count', message: 'must be an integer' }]
    expect(decode(`count=${encodeURIComponent(text)}`)).toEqual({ value: {}, violations })
  })

  it.each([
    ['9007199254740993', Number.MAX_SAFE_INTEGER],
    ['92233720368547759', Number.MAX_SAFE_INTEGER],
    [`-${'9'.repeat(400)}`, -Number.MAX_SAFE_INTEGER],
    ['0012', 12],
  ])('are the nearest safe integer for %s of a page', (text, value) => {
    expect(decode(`page=${text}`)).toEqual({ value: { page: value }, violations: [] })
  })

  it.each([
    ['1e21', 1e21],
    ['1e+21', 1e21],
    ['1e-7', 1e-7],
    ['-2.5E3', -2500],
    ['0', 0],
    ['-0', -0],
    [String(Number.MAX_VALUE), Number.MAX_VALUE],
    ['0.1', 0.1],
  ])('are a number for %s: JSON has it so, and a client sends it so', (text, value) => {
    expect(decode(`ratio=${encodeURIComponent(text)}`)).toEqual({ value: { ratio: value }, violations: [] })
  })

  it.each(['Infinity', '.5', '1.', '--1', '+1', '01', '1e', '1e1.5', '0x1', '1e999', '1_000', ' 1', '1,5'])(
    'refuse %s as a number',
    (text) => {
      const violations = [{ path: 'ratio', message: 'must be a number as JSON has it, like 0.5 or 1e-7' }]
      expect(decode(`ratio=${encodeURIComponent(text)}`)).toEqual({ value: {}, violations })
    },
  )

  it.each(['limit', 'pageSize', 'pageLimit'])('saturate for a %s beyond the safe integers: it is above 100', (name) => {
    expect(decodeQuery(T.Object(pageQuery), parseQueryString(`${name}=99999999999999999999`))).toEqual({
      value: { [name]: Number.MAX_SAFE_INTEGER },
      violations: [],
    })
  })

  it('refuse a scalar given twice, and NUL characters', () => {
    expect(decode('count=1&count=1').violations).toEqual([{ path: 'count', message: 'must be given once' }])
    const nul = [{ path: 'items', message: 'must not contain NUL characters' }]
    expect(decode('items=a&items=b%00').violations).toEqual(nul)
    expect(decode('text=a%00b').violations).toEqual([{ path: 'text', message: 'must not contain NUL characters' }])
  })
})
