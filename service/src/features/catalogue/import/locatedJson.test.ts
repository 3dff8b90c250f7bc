import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JsonSyntaxError, parseLocatedJson } from './locatedJson.js'

describe('parseLocatedJson', () => {
  it('reads every JSON value as JSON.parse does, whatever its layout', () => {
    fc.assert(
      fc.property(fc.jsonValue({ depthSize: 'medium' }), fc.integer({ min: 0, max: 4 }), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        expect(parseLocatedJson(text).value).toEqual(JSON.parse(text))
      }),
    )
  })

  it('refuses exactly the texts JSON.parse refuses', () => {
    const fragments = [
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"',
      '1',
      '-',
      '0',
      '.5',
      'e-3',
      'true',
      'nul',
      ' ',
      '\n',
      '\\',
    ]
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...fragments), { maxLength: 8 }), (parts) => {
        const text = parts.join('')
        const accepts = (parse: (text: string) => unknown) => {
          try {
            parse(text)
            return true
          } catch (error) {
            if (error instanceof JsonSyntaxError && error.message.includes('given twice')) return true
            return false
          }
        }
        expect(accepts(parseLocatedJson)).toBe(accepts(JSON.parse))
      }),
      { numRuns: 2_000 },
    )
  })

  it('knows the line of every member', () => {
    const { lineOf } = parseLocatedJson('{\n"a": [1,\n2, {"b/c": \n3}]\n}')
    expect([lineOf(''), lineOf('/a'), lineOf('/a/0'), lineOf('/a/1'), lineOf('/a/2/b~1c')]).toEqual([1, 2, 2, 3, 4])
    expect(lineOf('/a/2/missing')).toBe(3)
  })

  it('keeps a member called __proto__ as data', () => {
    expect(Object.keys(parseLocatedJson('{"__proto__": {"x": 1}}').value as object)).toEqual(['__proto__'])
  })

  it('refuses nesting deeper than 64', () => {
    expect(() => parseLocatedJson('['.repeat(100_000))).toThrow(/nested deeper/)
  })
})
