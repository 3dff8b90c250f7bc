import T, { type TSchema } from 'typebox'
import { errorTable, reasons } from '../../kernel/errors.js'
import type { Operation } from '../../kernel/operation.js'
import { buildExample } from './examples.js'
import { leftOut, refusals } from './exampleValues.js'
import { headerRefs, headers, parameters as sharedParameters } from './openapiHeaders.js'
import { shareResponses } from './sharedResponses.js'
import { introduction, tagTexts } from './text.js'

/** The interface version; a breaking difference to the committed document needs another. */
const interfaceVersion = 'v2.0.0'

const ErrorSchema = T.Object(
  {
    code: T.Integer({ description: 'The HTTP status' }),
    status: T.Enum([...new Set(Object.values(errorTable).map(([, status]) => status))]),
    error: T.String({ description: 'A sentence for the caller' }),
    context: T.Object({}, { additionalProperties: true, description: 'Details; `{}` without any' }),
    reason: T.Optional(T.Enum([...reasons], { description: 'The reason, for programs to switch on, if there is one' })),
  },
  {
    title: 'Error',
    description: 'Every failure has this body.',
    examples: [{ code: 404, status: 'NOT_FOUND', error: 'no such opportunity', context: {} }],
  },
)

/** Failures an operation need not declare, by who can meet them. */
const everyone = {
  408: 'The head or the body of the request took longer than its deadline',
  429: 'A budget or a limit is used up; `context.limit` (hourly, monthly or ip) says which, Retry-After when to come back',
  431: 'The request head is larger than 64 KiB',
  500: 'Our failure; try again with backoff',
  503: 'Something we depend on cannot be reached, or the service is overloaded; see Retry-After',
}
const keyed = {
  401: 'The API key is missing, malformed, unknown, revoked or expired',
  403: 'The key may not do this: its kind, its permissions or its origins do not allow it',
}
const posted = {
  409: 'The Idempotency-Key was used for another request, or that request is still running (see Retry-After)',
  413: 'The body is larger than 64 KiB',
  415: 'The body is not sent as application/json, or has a Content-Encoding',
}

type Schemas = Map<string, unknown>

/** The url of an installation without settings. */
const defaultUrl = 'http://127.0.0.1:4020'

/**
 * The OpenAPI 3.1 document of a list of operations, served at a public base url. Schemas with a title become components
 * of that name.
 */
export function buildOpenApi<C>(
  operations: readonly Operation<C>[],
  { url = defaultUrl }: { url?: string } = {},
): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {}
  const schemas: Schemas = new Map()
  const refer = (schema: TSchema, name?: string) => hoist(schema, schemas, name)
  refer(ErrorSchema)
  for (const operation of [...operations].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))) {
    const item = paths[operation.path] ?? {}
    paths[operation.path] = item
    item[operation.method.toLowerCase()] = describe(operation, refer)
  }
  const responses = shareResponses(paths)
  return {
    openapi: '3.1.0',
    info: {
      title: 'OpenEarn',
      version: interfaceVersion,
      description: introduction,
      contact: { name: 'The operator of this service' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url }],
    tags: [...new Set(operations.map(({ tag }) => tag))].sort().map((name) => ({ name, description: tagTexts[name] })),
    paths,
    components: {
      schemas: Object.fromEntries([...schemas].sort(([a], [b]) => (a < b ? -1 : 1))),
      responses,
      parameters: sharedParameters,
      headers,
      securitySchemes: {
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-API-Key',
          description: 'pk_live_… may be used in browsers; sk_live_… belongs on a server.',
        },
      },
    },
  }
}

type Refer = (schema: TSchema, name?: string) => Record<string, unknown>

function describe<C>(operation: Operation<C>, refer: Refer): Record<string, unknown> {
  const { 200: ok, ...own } = operation.responses
  const isPost = operation.method === 'POST'
  const failures = { ...everyone, ...(operation.access === 'public' ? {} : keyed), ...(isPost ? posted : {}), ...own }
  const cacheable = operation.cacheable !== undefined
  const extra = [
    ...(operation.isLive ? ['LastEventID'] : []),
    ...(isPost ? ['IdempotencyKey'] : []),
    ...(cacheable ? ['IfNoneMatch'] : []),
  ]
  const refusal = refusals[operation.operationId]
  const answer = {
    description: 'The response',
    headers: headerRefs(operation, 200),
    content: operation.isLive
      ? { 'text/event-stream': { schema: refer(ok), example: buildExample(ok) } }
      : { 'application/json': { schema: refer(ok), example: buildExample(ok, '', `${operation.operationId} 200`) } },
  }
  return {
    operationId: operation.operationId,
    summary: operation.summary,
    description: operation.description,
    tags: [operation.tag],
    'x-access': operation.access,
    ...(operation.permission ? { 'x-permission': operation.permission } : {}),
    ...describeCost(operation.cost),
    'x-example-status': refusal?.code ?? 200,
    security: operation.access === 'public' ? [] : [{ apiKey: [] }],
    parameters: [
      ...parameters(operation, 'path', refer),
      ...parameters(operation, 'query', refer),
      ...extra.map((name) => ({ $ref: `#/components/parameters/${name}` })),
    ],
    ...(operation.body ? { requestBody: describeBody(operation, operation.body, refer) } : {}),
    responses: {
      200: answer,
      ...(cacheable ? { 304: { description: 'Not changed since the ETag', headers: headerRefs(operation, 304) } } : {}),
      ...Object.fromEntries(
        Object.entries(failures).map(([status, description]) => [
          status,
          {
            description,
            headers: headerRefs(operation, Number(status)),
            content: {
              'application/json': {
                schema: { $ref: '#/components/schemas/Error' },
                ...(refusal?.code === Number(status) ? { example: refusal } : {}),
              },
            },
          },
        ]),
      ),
    },
  }
}

/** `x-cost` is the price of a call; where the query can change it, its price without one. The parameter's text says by how much. */
function describeCost(cost: Operation['cost']): Record<string, unknown> {
  return typeof cost === 'number' ? { 'x-cost': cost } : { 'x-cost': cost(new Map()), 'x-cost-by-query': true }
}

function describeBody<C>(operation: Operation<C>, body: TSchema, refer: Refer): Record<string, unknown> {
  const schema = refer(withoutDefaults(body), operation.bodyName ?? `${operation.operationId}Input`)
  return {
    required: requiredOf(body).length > 0,
    content: { 'application/json': { schema, example: buildExample(body, '', operation.operationId) } },
  }
}

/**
 * A body's schema with its defaults said in words: some generators of clients make a member that has a default a required
 * one.
 */
function withoutDefaults(given: TSchema): TSchema {
  const { default: fallback, properties, ...rest } = given as TSchema & Record<string, unknown>
  const { description } = rest as { description?: string }
  const said = fallback === undefined ? undefined : `${JSON.stringify(fallback)} unless given`
  const members = Object.entries((properties ?? {}) as Record<string, TSchema>)
  return {
    ...rest,
    ...(said ? { description: description ? `${description}; ${said}` : said } : {}),
    ...(properties
      ? { properties: Object.fromEntries(members.map(([name, member]) => [name, withoutDefaults(member)])) }
      : {}),
    ...(rest['items'] ? { items: withoutDefaults(rest['items'] as TSchema) } : {}),
    ...(rest['anyOf'] ? { anyOf: (rest['anyOf'] as TSchema[]).map(withoutDefaults) } : {}),
  } as TSchema
}

function requiredOf(schema: TSchema): readonly string[] {
  return 'required' in schema && Array.isArray(schema.required) ? schema.required : []
}

function parameters<C>(operation: Operation<C>, where: 'path' | 'query', refer: Refer): Record<string, unknown>[] {
  const schema = where === 'path' ? operation.params : operation.query
  if (!schema) return []
  const required = requiredOf(schema)
  return Object.entries<TSchema>(schema.properties).map(([name, property]) => {
    const { description, ...shown } = refer(property) as { description?: string }
    const isLeftOut = leftOut[operation.operationId]?.includes(name)
    const example = isLeftOut ? undefined : buildExample(property, name, operation.operationId)
    const { says, ...rest } = describeParameter(shown)
    const text = [description, says].filter(Boolean).join('; ')
    const isArray = rest['type'] === 'array'
    return {
      name,
      in: where,
      required: where === 'path' || required.includes(name),
      ...(text ? { description: text } : {}),
      ...(isArray ? { style: 'form', explode: true } : {}),
      schema: rest,
      example: Array.isArray(example) && !isArray ? example.join(',') : example,
    }
  })
}

/** A parameter as clients type it: a list is one text or an array, and one that may be null says so. */
function describeParameter(schema: Record<string, unknown>): Record<string, unknown> & { says?: string } {
  const { nullable, 'x-saturates': _, 'x-as-array': asArray, type, items, maxItems, ...rest } = schema
  const most = `at most ${Number(maxItems).toLocaleString('en')}`
  if (type === 'array' && asArray) return { type, items, maxItems, says: `repeated or separated by commas, ${most}` }
  if (type === 'array') return { type: 'string', 'x-list-of': items, says: `separated by commas, ${most}` }
  if (type === undefined) return rest
  return { type: nullable ? [type, 'null'] : type, ...rest }
}

/** Puts schemas with a title (and the given one under `name`) among the components, and a reference in their place. */
function hoist(given: TSchema, schemas: Schemas, name?: string): Record<string, unknown> {
  const schema = withType(withoutValues(given))
  const { title, says: _, ...rest } = schema as TSchema & { title?: string; says?: string }
  const found = name ?? title
  const plain = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, hoistInside(key, value, schemas)]))
  if (found === undefined || (name !== undefined && title !== undefined && name !== title)) {
    return title === undefined ? plain : hoist(schema, schemas)
  }
  const known = schemas.get(found)
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(plain))
    throw new RangeError(`two different schemas are called ${found}`)
  schemas.set(found, plain)
  return { $ref: `#/components/schemas/${found}` }
}

/** A text whose values are few, but not part of its type: clients may hand in any text, and are told what fits. */
function withoutValues(schema: TSchema): TSchema {
  const { 'x-open': open, enum: values, description, ...rest } = schema as TSchema & Record<string, unknown>
  if (open !== true || !Array.isArray(values)) return schema
  const said = `One of ${values.join(', ')}`
  return {
    type: 'string',
    ...rest,
    description: description ? `${description}. ${said}` : said,
    'x-values': values,
  } as TSchema
}

/** A schema of fixed values with the type of these: generators of some languages make `any` of one without. */
function withType(schema: TSchema): TSchema {
  const { type, enum: values, const: constant } = schema as TSchema & Record<string, unknown>
  const fixed = Array.isArray(values) ? values : constant === undefined ? [] : [constant]
  if (type !== undefined || fixed.length === 0) return schema
  const types = [...new Set(fixed.map(typeOfValue))]
  return { type: types.length === 1 ? types[0] : types, ...schema } as TSchema
}

function typeOfValue(value: unknown): string {
  if (value === null) return 'null'
  return Number.isInteger(value) ? 'integer' : typeof value
}

function hoistInside(key: string, value: unknown, schemas: Schemas): unknown {
  if (key === 'items') return hoist(value as TSchema, schemas)
  if (['anyOf', 'allOf', 'oneOf'].includes(key)) return (value as TSchema[]).map((one) => hoist(one, schemas))
  if (key !== 'properties') return value
  const members = Object.entries(value as Record<string, TSchema>)
  return Object.fromEntries(members.map(([name, member]) => [name, hoist(member, schemas)]))
}
