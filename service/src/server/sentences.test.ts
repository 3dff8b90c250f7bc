import type { TSchema } from 'typebox'
import { expect, it } from 'vitest'
import { operations } from './operations.js'
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
