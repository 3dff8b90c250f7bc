import T, { type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { describe, expect, it } from 'vitest'
import type { EarnError } from '../../kernel/errors.js'
import { describeViolation } from '../../kernel/wire.js'
import { buildOpenApi } from '../openapi/openapi.js'
import { operations } from '../operations.js'
import { compileInput, parseJson } from './input.js'

type Part = { pattern: string; says?: unknown }

function listPatterns(schema: unknown): Part[] {
  if (typeof schema !== 'object' || schema === null) return []
  const own = 'pattern' in schema && typeof schema.pattern === 'string' ? [schema as Part] : []
  return [...own, ...Object.values(schema).flatMap(listPatterns)]
}

it('every pattern a caller can fail has a sentence that says what to write', () => {
  const inputs = operations.flatMap(({ params, query, body }): (TSchema | undefined)[] => [params, query, body])
  const parts = inputs.flatMap(listPatterns)
  expect(new Set(parts.map(({ pattern }) => pattern)).size).toBeGreaterThan(5)
  expect(parts.filter(({ says }) => typeof says !== 'string' || says === '')).toEqual([])
})

it('no document shows the sentences', () => {
  expect(JSON.stringify(buildOpenApi(operations))).not.toContain('"says"')
})

it('a pattern without a sentence is told in the words of the check, and one deep inside in its own', () => {
  const schema = T.Object({
    a: T.String({ pattern: '^x$' }),
    b: T.Union([T.Array(T.Object({ 'c/d': T.String({ pattern: '^y$', says: 'must be y' }) })), T.Null()]),
  })
  const check = Compile(schema)
  const messages = check.Errors({ a: 'z', b: [{ 'c/d': 'z' }] }).map((error) => describeViolation(schema, error))
  expect(messages).toContain('must be y')
  expect(messages).toContain('must match pattern "^x$"')
})

const refusalOf = (
  operationId: string,
  input: { query?: [string, string][]; body?: object; params?: Record<string, string> },
) => {
  const operation = operations.find((one) => one.operationId === operationId)
  if (!operation) throw new Error(`no operation ${operationId}`)
  const body = input.body === undefined ? undefined : Buffer.from(JSON.stringify(input.body))
  const query = new Map((input.query ?? []).map(([name, value]) => [name, [value]]))
  try {
    compileInput(operation)({ params: input.params ?? {}, query, body, contentType: 'application/json' })
  } catch (error) {
    return error
  }
  return undefined
}

it('a value outside of a list is told the list', () => {
  const error = refusalOf('ListOpportunities', { query: [['sortOrder', 'up']] })
  expect(error).toMatchObject({ code: 400, message: 'sortOrder must be one of asc, desc' })
})

it.each([
  ['-1', "must be a text of decimal digits, an integer above 0 in the token's smallest unit"],
  ['1e18', "must be a text of decimal digits, an integer above 0 in the token's smallest unit"],
  [String(2n ** 256n), 'must be an integer below 2^256'],
])('an amount of %s is told once what to write', (amount, text) => {
  const address = `0x${'1'.repeat(40)}`
  const error = refusalOf('CreateDepositInteraction', {
    params: { opportunityId: '11111111-1111-4111-8111-111111111111' },
    body: { userAddress: address, tokenIn: address, amount, distributorId: 'x' },
  })
  expect(error).toMatchObject({ code: 400, context: { violations: [{ path: 'body.amount', message: text }] } })
})

describe('a body', () => {
  const text = (value: unknown) => Buffer.from(JSON.stringify(value))

  it('is refused with a NUL character in the name of a member, or in its text, at any depth', () => {
    const refused = { code: 400, message: 'the body must not contain NUL characters' }
    for (const value of [{ 'a\0': 1 }, { a: [{ '\0': 1 }] }, { a: 'b\0' }, ['\0']])
      expect(() => parseJson(text(value))).toThrow(expect.objectContaining(refused))
    expect(parseJson(text({ a: [{ b: 'c' }] }))).toEqual({ a: [{ b: 'c' }] })
  })

  it('that lacks more than 20 members is told of 20 of them', () => {
    const names = Array.from({ length: 25 }, (_, at) => `m${at}`)
    const body = T.Object(Object.fromEntries(names.map((name) => [name, T.Integer()])))
    const countTold = (lacking: number) => {
      const given = Object.fromEntries(names.slice(lacking).map((name) => [name, 1]))
      try {
        compileInput({ body })({ params: {}, query: new Map(), body: text(given), contentType: 'application/json' })
        return 0
      } catch (error) {
        return ((error as EarnError).context['violations'] as unknown[]).length
      }
    }
    expect([0, 1, 20, 21, 25].map(countTold)).toEqual([0, 1, 20, 20, 20])
  })
})
