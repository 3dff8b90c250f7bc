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

  it.each([
    ['', 1, 'expected a value, found the end'],
    ['{"a": 1,\n}', 2, 'expected a member name, found "}"'],
    ['{"a"\n 1}', 2, 'expected ":", found "1"'],
    ['{"a": [1\n\n2]}', 3, 'expected "," or "]", found "2"'],
    ['{"a": {"b": 1\n"c": 2}}', 2, 'expected "," or "}", found "\\""'],
    ['[1,\n]', 2, 'expected a value, found "]"'],
    ['{\n"a": nul}', 2, 'expected a value, found "n"'],
    ['[1]\n[2]', 2, 'expected the end, found "["'],
    ['{\n// no\n}', 2, 'expected no comment, found "/"'],
    ['["a\nb"]', 1, 'a string does not end on its line'],
    ['[\n"\\x"]', 2, 'a string has an escape that is not valid JSON'],
    ['[\n1e999]', 2, 'the number 1e999 is too large'],
  ])('says of %j what line %i lacks', (text, line, message) => {
    expect(() => parseLocatedJson(text)).toThrow(expect.objectContaining({ line, message }))
  })

  it('keeps a member called __proto__ as data', () => {
    expect(Object.keys(parseLocatedJson('{"__proto__": {"x": 1}}').value as object)).toEqual(['__proto__'])
  })

  it('refuses a list of a million entries where it passes 50,000, and millions of values elsewhere', () => {
    const list = (count: number) => `{"tokens": [${'{},\n'.repeat(count - 1)}{}]}`
    expect((parseLocatedJson(list(50_000)).value as { tokens: object[] }).tokens).toHaveLength(50_000)
    expect(() => parseLocatedJson(list(1_000_000))).toThrow(
      expect.objectContaining({
        line: 50_001,
        message:
          'tokens has more than 50,000 entries; import the file in parts, each entry once: an import keeps what it does not name',
      }),
    )
    expect(() => parseLocatedJson(`[${'0,'.repeat(2_000_000)}0]`)).toThrow(
      /^more than 2,000,000 values; import the file/,
    )
  }, 30_000)

  it('refuses nesting deeper than 64', () => {
    expect(() => parseLocatedJson('['.repeat(100_000))).toThrow(/nested deeper/)
  })
})
