import type { TObject, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { invalidArgument, invalidInput, type Violation } from '../../kernel/errors.js'
import type { Operation, RawQuery } from '../../kernel/operation.js'
import { decodeQuery, describeViolation } from '../../kernel/wire.js'

export type RawInput = {
  params: Readonly<Record<string, string>>
  query: RawQuery
  /** Absent when empty. */
  body: Uint8Array | undefined
  contentType: string | undefined
}

export type ParseInput = (raw: RawInput) => Record<string, unknown>

type Check = (value: unknown, at: string) => Violation[]

/** Compiles an operation's schemas once; the result parses a raw request or throws the 400 (415) that names it all. */
export function compileInput(operation: Pick<Operation<never>, 'params' | 'query' | 'body'>): ParseInput {
  const checkParams = operation.params && compileCheck(operation.params)
  const checkQuery = operation.query && compileCheck(operation.query)
  const checkBody = operation.body && compileCheck(operation.body)
  return (raw) => {
    const violations: Violation[] = []
    const input: Record<string, unknown> = {}
    const read = (schema: TObject, check: Check, query: RawQuery) => {
      const decoded = decodeQuery(schema, query)
      violations.push(...decoded.violations)
      const refused = new Set(decoded.violations.map((violation) => violation.path))
      violations.push(
        ...check(decoded.value, '').filter((violation) => !refused.has(violation.path.split('.')[0] ?? '')),
      )
      Object.assign(input, decoded.value)
    }
    if (operation.params && checkParams)
      read(operation.params, checkParams, new Map(Object.entries(raw.params).map(([name, value]) => [name, [value]])))
    if (operation.query && checkQuery) read(operation.query, checkQuery, raw.query)
    if (checkBody) {
      const body = parseBody(raw)
      violations.push(...checkBody(body, 'body'))
      if (violations.length === 0) Object.assign(input, pickDeclared(operation.body, body))
    }
    if (violations.length > 0) throw invalidInput(violations)
    return input
  }
}

function parseBody(raw: RawInput): unknown {
  if (raw.body === undefined) return {}
  return parseJson(raw.body)
}

/** The members of a body its schema names: any other could take the place of one in path or query. */
function pickDeclared(schema: TSchema | undefined, body: unknown): Record<string, unknown> {
  const declared = schema && 'properties' in schema ? Object.keys(schema.properties ?? {}) : []
  return Object.fromEntries(Object.entries(body ?? {}).filter(([name]) => declared.includes(name)))
}

/** True for a Content-Type of JSON, whatever its parameters. */
export function isJson(contentType: string | undefined): boolean {
  return /^application\/json\s*(;|$)/i.test(contentType ?? '')
}

/** Parses UTF-8 JSON; anything else, NUL characters and deep nesting are 400. */
export function parseJson(bytes: Uint8Array): unknown {
  const value = parseUtf8Json(bytes)
  assertPlain(value, 0)
  return value
}

function parseUtf8Json(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    throw invalidArgument('the body is not valid JSON', { cause: error })
  }
}

/** Deeper than any known body; code that walks a body by recursion needs a limit. */
const depthMax = 32

/** PostgreSQL text cannot hold NUL, so no text member may. */
function assertPlain(value: unknown, depth: number): void {
  if (typeof value === 'string') {
    if (value.includes('\0')) throw invalidArgument('the body must not contain NUL characters')
    return
  }
  if (typeof value !== 'object' || value === null) return
  if (depth >= depthMax) throw invalidArgument(`the body is nested deeper than ${depthMax} levels`)
  for (const [name, member] of Object.entries(value)) {
    assertPlain(name, depth)
    assertPlain(member, depth + 1)
  }
}

const violationsMax = 20

function compileCheck(schema: TSchema): Check {
  const validator = Compile(schema)
  return (value, at) => {
    if (validator.Check(value)) return []
    const errors = validator.Errors(value)
    // A value that is not a number needs no message about its size.
    const malformed = new Set(
      errors.flatMap(({ keyword, instancePath }) => (keyword === 'pattern' ? instancePath : [])),
    )
    const violations = errors.flatMap((error) => {
      if (error.keyword === 'format' && malformed.has(error.instancePath)) return []
      const path = [at, ...error.instancePath.split('/').slice(1)].filter(Boolean).join('.')
      const missing = 'requiredProperties' in error.params ? error.params.requiredProperties : undefined
      if (Array.isArray(missing))
        return missing.map((name) => ({ path: [path, String(name)].filter(Boolean).join('.'), message: 'is required' }))
      return [{ path: path || at || 'request', message: describeViolation(schema, error) }]
    })
    // Union members report twice; one line a place is enough for a reader.
    const seen = new Set<string>()
    return violations
      .filter(({ path, message }) => !seen.has(path + message) && seen.add(path + message))
      .slice(0, violationsMax)
  }
}
