import type { TObject, TSchema } from 'typebox'
import T from 'typebox'
import { errorTable, reasons } from '../kernel/errors.js'
import type { Operation } from '../kernel/operation.js'

const ErrorSchema = T.Object({
  code: T.Integer({ description: 'The HTTP status' }),
  status: T.Enum([...new Set(Object.values(errorTable).map(([, status]) => status))]),
  error: T.String({ description: 'A sentence for the caller' }),
  context: T.Object({}, { additionalProperties: true, description: 'Details; `{}` when there are none' }),
  reason: T.Optional(T.Enum([...reasons], { description: 'What clients switch on, where one is named' })),
})

const always = {
  401: 'The API key is missing, malformed, unknown, revoked or expired',
  429: 'A limit is exceeded; see Retry-After',
  500: 'Our failure; try again with backoff',
}

/** The OpenAPI 3.1 document of a list of operations. */
export function buildOpenApi<C>(operations: readonly Operation<C>[]): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {}
  const schemas: Record<string, unknown> = { Error: ErrorSchema }
  for (const operation of [...operations].sort((a, b) => (a.path < b.path ? -1 : 1))) {
    const item = paths[operation.path] ?? {}
    paths[operation.path] = item
    item[operation.method.toLowerCase()] = describe(operation, schemas)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'OpenEarn',
      version: 'v2.0.0',
      description: 'Yield vaults, ready-to-sign deposits and withdrawals, and attribution anyone can check.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas,
      securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' } },
    },
  }
}

function describe<C>(operation: Operation<C>, schemas: Record<string, unknown>): Record<string, unknown> {
  const { 200: ok, ...own } = operation.responses
  const failures = { ...(operation.access === 'public' ? { 429: always[429], 500: always[500] } : always), ...own }
  const responseName = `${operation.operationId}Response`
  schemas[responseName] = ok
  const described: Record<string, unknown> = {
    operationId: operation.operationId,
    summary: operation.summary,
    description: operation.description,
    tags: [operation.tag],
    'x-access': operation.access,
    'x-cost': typeof operation.cost === 'number' ? operation.cost : 'by query',
    security: operation.access === 'public' ? [] : [{ apiKey: [] }],
    parameters: [...parameters(operation.params, 'path'), ...parameters(operation.query, 'query')],
    responses: {
      200: json('The answer', responseName),
      ...Object.fromEntries(Object.entries(failures).map(([status, text]) => [status, json(text, 'Error')])),
    },
  }
  if (operation.permission) described['x-permission'] = operation.permission
  if (operation.body) {
    const name = operation.bodyName ?? `${operation.operationId}Input`
    schemas[name] = operation.body
    described.requestBody = {
      required: requiredOf(operation.body).length > 0,
      content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } },
    }
  }
  return described
}

function requiredOf(schema: TSchema): readonly string[] {
  return 'required' in schema && Array.isArray(schema.required) ? schema.required : []
}

function parameters(schema: TObject | undefined, where: 'path' | 'query'): Record<string, unknown>[] {
  if (!schema) return []
  const required = requiredOf(schema)
  return Object.entries<TSchema>(schema.properties).map(([name, property]) => {
    const {
      description,
      nullable: _nullable,
      ...rest
    } = property as TSchema & { description?: string; nullable?: true }
    const list = 'type' in property && property.type === 'array' ? { style: 'form', explode: false } : {}
    return {
      name,
      in: where,
      required: where === 'path' || required.includes(name),
      ...(description ? { description } : {}),
      ...list,
      schema: rest,
    }
  })
}

function json(description: string, name: string): Record<string, unknown> {
  return { description, content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } } }
}
