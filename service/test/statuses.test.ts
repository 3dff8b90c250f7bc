import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { Operation } from '../src/kernel/operation.js'
import { operations } from '../src/server/operations.js'

const features = fileURLToPath(new URL('../src/features/', import.meta.url))

/** Titles of `describe` in the test files of one operation, however many files it has. */
export async function readTitles(operationId: string): Promise<string[] | undefined> {
  const stem = `${operationId[0]?.toLowerCase()}${operationId.slice(1)}`
  const names = await readdir(features, { recursive: true })
  const files = names.filter((name) => new RegExp(`(^|/)${stem}(\\.[a-zA-Z]+)?\\.test\\.ts$`).test(name))
  if (files.length === 0) return undefined
  const texts = await Promise.all(files.map((name) => readFile(join(features, name), 'utf8')))
  return texts.flatMap((text) => [...text.matchAll(/describe\(\s*['"`]([^'"`]+)/g)].map(([, title]) => title ?? ''))
}

export function findUntested(operation: Pick<Operation<never>, 'responses'>, titles: readonly string[]): string[] {
  const tested = new Set(titles.flatMap((title) => [...title.matchAll(/\b[1-5][0-9]{2}\b/g)].map(([status]) => status)))
  return Object.keys(operation.responses).filter((status) => !tested.has(status))
}

describe('every operation', () => {
  it.each(operations.map((operation) => [operation.operationId, operation] as const))(
    '%s has a test file with a group for each status it declares',
    async (operationId, operation) => {
      const titles = await readTitles(operationId)
      expect(titles, `a test file for ${operationId}`).toBeDefined()
      expect(findUntested(operation, titles ?? [])).toEqual([])
    },
  )
})

describe('this check', () => {
  it('is red on a status without a group, and reads several statuses in one title', () => {
    const responses = { 200: {}, 400: 'x', 404: 'x' }
    expect(findUntested({ responses }, ['200', '400 INVALID_ARGUMENT'])).toEqual(['404'])
    expect(findUntested({ responses }, ['200', '400 and 404'])).toEqual([])
    expect(findUntested({ responses }, ['2000 things', 'the 4040'])).toEqual(['200', '400', '404'])
  })
})
