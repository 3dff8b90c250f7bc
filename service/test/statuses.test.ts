import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import type { Operation } from '../src/kernel/operation.js'
import { operations } from '../src/server/operations.js'

const features = fileURLToPath(new URL('../src/features/', import.meta.url))

/** A `describe` with how many tests stand in it. */
type Group = { title: string; tests: number }

/** Every group of the test files of one operation, however many files it has. */
async function readGroups(operationId: string): Promise<Group[] | undefined> {
  const stem = `${operationId[0]?.toLowerCase()}${operationId.slice(1)}`
  const names = await readdir(features, { recursive: true })
  const files = names.filter((name) => new RegExp(`(^|/)${stem}(\\.[a-zA-Z]+)?\\.test\\.ts$`).test(name))
  if (files.length === 0) return undefined
  const texts = await Promise.all(files.map((name) => readFile(join(features, name), 'utf8')))
  return texts.flatMap(findGroups)
}

/** The groups of a file; a test counts for every group around it, one that is skipped for none. */
function findGroups(text: string): Group[] {
  const groups: Group[] = []
  const visit = (node: ts.Node, around: readonly Group[]): void => {
    const call = ts.isCallExpression(node) ? node : undefined
    const [name, ...modifiers] = call ? namesOf(call.expression) : []
    if (!call || modifiers.some((each) => each === 'skip' || each === 'todo')) {
      if (!call) ts.forEachChild(node, (child) => visit(child, around))
      return
    }
    // Of `it.each(rows)(…)` the outer call is the test.
    const isCalled = ts.isCallExpression(node.parent) && node.parent.expression === node
    if ((name === 'it' || name === 'test') && !isCalled) for (const group of around) group.tests += 1
    const [title] = call.arguments
    const isGroup = name === 'describe' && title !== undefined && ts.isStringLiteralLike(title)
    const group = isGroup ? { title: title.text, tests: 0 } : undefined
    if (group) groups.push(group)
    ts.forEachChild(node, (child) => visit(child, group ? [...around, group] : around))
  }
  visit(ts.createSourceFile('x.ts', text, ts.ScriptTarget.Latest, true), [])
  return groups
}

/** `it.each(rows)('…', run)` is called as `it` with `each`. */
function namesOf(called: ts.Expression): string[] {
  if (ts.isIdentifier(called)) return [called.text]
  if (ts.isPropertyAccessExpression(called)) return [...namesOf(called.expression), called.name.text]
  return ts.isCallExpression(called) ? namesOf(called.expression) : []
}

function findUntested(operation: Pick<Operation<never>, 'responses'>, groups: readonly Group[]): string[] {
  const titles = groups.filter(({ tests }) => tests > 0).map(({ title }) => title)
  const tested = new Set(titles.flatMap((title) => [...title.matchAll(/\b[1-5][0-9]{2}\b/g)].map(([status]) => status)))
  return Object.keys(operation.responses).filter((status) => !tested.has(status))
}

describe('every operation', () => {
  it.each(operations.map((operation) => [operation.operationId, operation] as const))(
    '%s has a test file with a group for each status it declares, and a test in each',
    async (operationId, operation) => {
      const groups = await readGroups(operationId)
      expect(groups, `a test file for ${operationId}`).toBeDefined()
      expect(findUntested(operation, groups ?? [])).toEqual([])
    },
  )
})

describe('this check', () => {
  const responses = { 200: {}, 400: 'x', 404: 'x' }
  const find = (text: string) => findUntested({ responses }, findGroups(text))

  it('is red on a status without a group, and reads several statuses in one title', () => {
    expect(find("describe('200', () => { it('a') }); describe('400 INVALID_ARGUMENT', () => { it('b') })")).toEqual([
      '404',
    ])
    expect(find("describe('200', () => it('a')); describe('400 and 404', () => it('b'))")).toEqual([])
    expect(find("describe('2000 things', () => it('a')); describe('the 4040', () => it('b'))")).toEqual([
      '200',
      '400',
      '404',
    ])
  })

  it('is red on a group without a test: empty, skipped, only described, or with its test outside', () => {
    const whole = "describe('200', () => it('a')); describe('404', () => { describe('inside', () => { it('b') }) });"
    expect(find(`${whole} describe('400', () => {})`)).toEqual(['400'])
    expect(find(`${whole} describe('400', () => { it.skip('c', () => {}) })`)).toEqual(['400'])
    expect(find(`${whole} describe.skip('400', () => { it('c', () => {}) })`)).toEqual(['400'])
    expect(find(`${whole} describe('400', () => { it.todo('c') })`)).toEqual(['400'])
    expect(find(`${whole} describe('400', () => { /* it('c') */ }); it('d', () => {})`)).toEqual(['400'])
  })

  it('counts tests made of a list', () => {
    const [group] = findGroups("describe('400', () => { it.each([1])('%s', () => {}); for (const a of b) it(a, c) })")
    expect(group).toEqual({ title: '400', tests: 2 })
  })
})
