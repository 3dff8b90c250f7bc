import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { errorTable, reasons } from '../src/kernel/errors.js'
import type { Operation } from '../src/kernel/operation.js'

/** An answer as a client sees it. `body` is undefined when it is empty or compressed. */
export type Seen = { status: number; headers: Record<string, unknown>; body: unknown }

export type Contract = {
  /** Everything about this answer that the contract does not allow; `operationId` undefined: of an unknown route. */
  check(operationId: string | undefined, seen: Seen): string[]
  /** The operation a request reaches. */
  find(method: string, url: string): Operation<never> | undefined
}

const always = [401, 403, 429, 431, 500, 503]
const ofPosts = [409, 413, 415]

/**
 * The value rules of the wire, checked on whole answers: the body fits its schema and has no member the schema does not
 * name; instants are UTC and end in Z; uuids are lower-case with version and variant; integers are safe; an error is
 * the four members, and `reason` from its set; the status is one the operation declares; the headers are there.
 */
export function openContract(operations: readonly Operation<never>[]): Contract {
  const known = new Map(operations.map((operation) => [operation.operationId, compile(operation)]))
  const routes = operations.map((operation) => ({
    operation,
    pattern: toPattern(
      operation.path,
      operations.map(({ path }) => path),
    ),
  }))
  return {
    find: (method, url) => {
      const path = url.split('?')[0] ?? ''
      if (!canDecode(path)) return undefined
      // HEAD is answered as its GET.
      const asked = method === 'HEAD' ? 'GET' : method
      const found = routes.filter(({ operation, pattern }) => operation.method === asked && pattern.test(path))
      // A fixed segment wins over a parameter, as in the router.
      return found.sort((a, b) => countParams(a.operation) - countParams(b.operation))[0]?.operation
    },
    check: (operationId, seen) => {
      const operation = operationId === undefined ? undefined : known.get(operationId)
      return [...checkHeaders(operation?.operation, seen), ...checkBody(operation, seen), ...findBadValues(seen.body)]
    },
  }
}

type Compiled = { operation: Operation<never>; check(body: unknown): string[] }

function compile(operation: Operation<never>): Compiled {
  const validator = Compile(makeStrict(operation.responses[200]))
  return {
    operation,
    check: (body) =>
      validator.Check(body)
        ? []
        : validator
            .Errors(body)
            .map((error) => `${error.instancePath || 'body'} ${error.message} ${JSON.stringify(error.params)}`),
  }
}

/**
 * Like the router: a parameter may be empty, except at the end, where the slash before it is an optional one. A word that
 * another path has in its place is none.
 */
function toPattern(path: string, all: readonly string[]): RegExp {
  const bare = (text: string) => text.replace(/\/$/, '').replace(/\{[a-zA-Z]+\}/g, '{}')
  const segments = bare(path).split('/')
  const inner = segments.map((segment, at) => {
    if (segment !== '{}') return segment
    const begin = `${segments.slice(0, at).join('/')}/`
    const words = all.map(bare).flatMap((other) => (other.startsWith(begin) ? (other.split('/')[at] ?? []) : []))
    const others = words.filter((word) => word !== '{}')
    return `${others.length > 0 ? `(?!(?:${others.join('|')})(?:/|$))` : ''}[^/]${at === segments.length - 1 ? '+' : '*'}`
  })
  return new RegExp(`^${inner.join('/')}/?$`)
}

/** A path with a broken escape reaches no route. */
function canDecode(path: string): boolean {
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}

function countParams(operation: Operation<never>): number {
  return operation.path.split('{').length
}

/** The same schema, closed: an object may have no member that is not named, unless it says otherwise. */
export function makeStrict(schema: TSchema): TSchema {
  const copy: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'properties')
      copy[key] = Object.fromEntries(
        Object.entries(value as Record<string, TSchema>).map(([name, member]) => [name, makeStrict(member)]),
      )
    else if (key === 'items') copy[key] = makeStrict(value as TSchema)
    else if (key === 'anyOf' || key === 'allOf') copy[key] = (value as TSchema[]).map(makeStrict)
    else copy[key] = value
  }
  const members = Object.keys((copy['properties'] ?? {}) as object)
  if (copy['type'] === 'object' && members.length > 0 && copy['additionalProperties'] === undefined)
    copy['additionalProperties'] = false
  return copy as TSchema
}

function checkHeaders(operation: Operation<never> | undefined, { status, headers, body }: Seen): string[] {
  const problems: string[] = []
  const need = (name: string, pattern: RegExp) => {
    if (!pattern.test(String(headers[name]))) problems.push(`header ${name} is ${headers[name]}`)
  }
  need('x-request-id', /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  need('x-request-cost', /^[0-9]+$/)
  if (status !== 204 && status !== 304 && body !== undefined) need('content-type', /^application\/json$/)
  if (operation && operation.access !== 'public' && status !== 401 && status !== 503 && status !== 204) {
    for (const name of ['limit', 'remaining', 'used']) need(`x-ratelimit-${name}`, /^[0-9]+$/)
    const [limit, remaining, used] = ['limit', 'remaining', 'used'].map((name) =>
      Number(headers[`x-ratelimit-${name}`]),
    )
    if (remaining !== Math.max(0, (limit ?? 0) - (used ?? 0))) problems.push('the limit headers do not add up')
  }
  // 403 is free when the key is refused; an operation's own 403 comes after the budget and is charged.
  const free = [401, 413, 415, 429, 431]
  if (free.includes(status) && headers['x-request-cost'] !== '0' && headers['x-request-cost'] !== 0)
    problems.push(`${status} cost ${headers['x-request-cost']}`)
  if (status === 429 || status === 503) need('retry-after', /^[1-9][0-9]*$/)
  return problems
}

function checkBody(compiled: Compiled | undefined, { status, body }: Seen): string[] {
  if (status === 200) {
    if (!compiled) return ['200 for an unknown route']
    return body === undefined ? [] : compiled.check(body)
  }
  if (status === 304 || status === 204) return body === undefined ? [] : [`${status} has a body`]
  const declared = compiled ? declaredStatuses(compiled.operation) : [404, 400, 413, 431]
  const problems = declared.includes(status) ? [] : [`status ${status} is not declared`]
  return [...problems, ...(body === undefined ? [] : checkError(status, body))]
}

function declaredStatuses({ responses, method }: Operation<never>): number[] {
  return [...Object.keys(responses).map(Number), ...always, ...(method === 'POST' ? ofPosts : [])]
}

const statuses = new Map<number, string>(Object.values(errorTable).map(([code, status]) => [code, status]))

/** What is wrong with an error body. */
export function checkError(status: number, body: unknown): string[] {
  if (typeof body !== 'object' || body === null) return ['the error body is no object']
  const { code, status: name, error, context, reason, ...rest } = body as Record<string, unknown>
  const problems: string[] = []
  if (code !== status) problems.push(`code ${code} under ${status}`)
  if (name !== statuses.get(status)) problems.push(`status ${name} under ${status}`)
  if (typeof error !== 'string' || error === '') problems.push('error is no sentence')
  if (typeof context !== 'object' || context === null || Array.isArray(context)) problems.push('context is no object')
  if (reason !== undefined && !reasons.some((one) => one === reason)) problems.push(`unknown reason ${reason}`)
  if ('reason' in body && reason === undefined) problems.push('reason is empty')
  if (Object.keys(rest).length > 0) problems.push(`unknown members ${Object.keys(rest)}`)
  return problems
}

const uuidShape = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const uuidExact = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** Every instant, uuid and number of a body that breaks the value rules. */
export function findBadValues(value: unknown, path = 'body'): string[] {
  if (Array.isArray(value)) return value.flatMap((one, i) => findBadValues(one, `${path}[${i}]`))
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([name, member]) => findBadValues(member, `${path}.${name}`))
  if (typeof value === 'string') {
    // What a caller calls a point is his to choose.
    const isName = /\.(symbol|name)$/.test(path)
    if (!isName && value[4] === '-' && /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}/.test(value) && !value.endsWith('Z'))
      return [`${path} is not UTC: ${value}`]
    if (value.length === 36 && uuidShape.test(value) && !uuidExact.test(value))
      return [`${path} is no RFC 9562 uuid: ${value}`]
  }
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value))
    return [`${path} is beyond 2^53: ${value}`]
  return []
}
