import { describe, expect, it } from 'vitest'
import { compose, createSql, encode, type Row, type Rows, type Sql, type Statement } from './sql.js'

/** A call form that runs nothing, and what it was asked to run. */
function recording(): { sql: Sql; asked: Statement[] } {
  const asked: Statement[] = []
  const none = Object.assign([] as Row[], { count: 0, columns: [] }) as Rows<Row[]>
  const sql = createSql({
    run: async (statement) => {
      asked.push(statement)
      return none
    },
    cursor: async function* () {
      yield []
    },
    copyIn: async () => ({ write: async () => undefined, end: async () => undefined }),
  })
  return { sql, asked }
}

/** Templates seen at one place of the code, as callers write them. */
const composed = (strings: TemplateStringsArray, ...parts: Parameters<typeof compose>[1]) => compose(strings, parts)

describe('a template', () => {
  it('becomes text with numbered values, named by its place in the code', () => {
    const at = (id: number) => composed`select * from t where a = ${id} and b = ${'x'}`
    const first = at(1)
    expect(first).toEqual({
      text: 'select * from t where a = $1 and b = $2',
      values: ['1', 'x'],
      name: expect.stringMatching(/^s[0-9]+$/),
    })
    expect(at(2)).toEqual({ ...first, values: ['2', 'x'] })
    expect(composed`select * from t where a = ${1} and b = ${'x'}`.name).not.toBe(first.name)
  })

  it('takes up fragments, lists of them, names and lists of names, and then has no name', () => {
    const { sql, asked } = recording()
    const where = sql`where ${sql('odd"name')} = ${1} ${sql``}`
    const more = ['a', 'b'].map((word, index) => sql`and ${sql(word)} = ${index}`)
    const { text, values, name } = composed`select ${sql(['x', 'y'])} from t ${where} ${more} limit ${9}`
    expect(text.replace(/ +/g, ' ')).toBe(
      'select "x", "y" from t where "odd""name" = $1 and "a" = $2 and "b" = $3 limit $4',
    )
    expect(values).toEqual(['1', '0', '1', '9'])
    expect(name).toBeUndefined()
    expect(asked).toEqual([])
  })

  it('keeps its name with views in it, one for each text', () => {
    const { sql } = recording()
    const some = sql.view`(select a from t)`
    const others = sql.view`(select a from ${some} s)`
    const at = (view: typeof some, a: number) => composed`select a from ${view} v where a = ${a}`
    const first = at(some, 1)
    expect(first).toEqual({
      text: 'select a from (select a from t) v where a = $1',
      values: ['1'],
      name: expect.stringMatching(/^s[0-9]+$/),
    })
    expect(at(some, 2)).toEqual({ ...first, values: ['2'] })
    const second = at(others, 1)
    expect(second.text).toBe('select a from (select a from (select a from t) s) v where a = $1')
    expect(second.name).toMatch(/^s[0-9]+$/)
    expect(second.name).not.toBe(first.name)
    expect(composed`select a from ${some} v ${sql`where true`}`.name).toBeUndefined()
  })

  it('refuses a view that holds more than text', () => {
    const { sql } = recording()
    expect(() => sql.view`(select a from t ${sql`where true`})`).toThrow('nothing but text')
  })
})

describe('a statement', () => {
  it('runs once, when it is first waited for; a fragment, or what nobody waits for, never', async () => {
    const { sql, asked } = recording()
    void sql`delete from t`
    const statement = sql`select 1 ${sql`where true`}`
    expect(asked).toEqual([])
    await Promise.all([statement, statement, statement.finally(() => undefined)])
    await statement
    expect(asked.map(({ text }) => text)).toEqual(['select 1 where true'])
  })

  it('rejects, and does not throw, for a value that cannot be sent', async () => {
    const { sql } = recording()
    const missing = undefined as unknown as null
    await expect(sql`select ${missing}`).rejects.toThrow('undefined as a value')
    await expect(sql`select ${[missing]}`).rejects.toThrow('undefined as a value')
    await expect(sql`select ${new Date(Number.NaN)}`).rejects.toThrow(RangeError)
  })
})

describe('a value', () => {
  it('travels in the text form of its type', () => {
    expect(encode(null)).toBeNull()
    expect([encode('x'), encode(1.5), encode(2n ** 70n), encode(true)]).toEqual([
      'x',
      '1.5',
      '1180591620717411303424',
      'true',
    ])
    expect(encode(new Date('2026-01-02T03:04:05.678Z'))).toBe('2026-01-02T03:04:05.678Z')
    expect(encode(Uint8Array.of(1, 255))).toEqual(Buffer.from([1, 255]))
    expect(encode(recording().sql.json({ a: [1, null] }))).toBe('{"a":[1,null]}')
    expect(encode([1, null, 'a"b\\c,{}', Uint8Array.of(10), [true]])).toBe('{1,NULL,"a\\"b\\\\c,{}","\\\\x0a",{true}}')
  })
})
