import type { TSchema } from 'typebox'
import { expect, it } from 'vitest'
import { operations } from '../operations.js'
import { compileInput } from './input.js'
import { findSentence } from './sentences.js'

function listPatterns(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const { pattern } = schema as { pattern?: unknown }
  return [...(typeof pattern === 'string' ? [pattern] : []), ...Object.values(schema).flatMap(listPatterns)]
}

it('every pattern a caller can fail has a sentence that says what to write', () => {
  const inputs = operations.flatMap(({ params, query, body }): (TSchema | undefined)[] => [params, query, body])
  const patterns = new Set(inputs.flatMap(listPatterns))
  expect(patterns.size).toBeGreaterThan(5)
  expect([...patterns].filter((pattern) => findSentence(pattern) === undefined)).toEqual([])
})

it('a pattern of no input has none', () => {
  expect(findSentence('toString')).toBeUndefined()
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
