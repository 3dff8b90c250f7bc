import { describe, expect, it } from 'vitest'
import { findBreaking } from './openapiDiff.mjs'

// biome-ignore lint/suspicious/noExplicitAny: the tests change documents of every shape
type Loose = any

describe('the breaking-difference check', () => {
  const schema = (members: object, required: string[] = Object.keys(members)) => ({
    type: 'object',
    properties: members,
    required,
  })
  const text = { type: 'string' }
  const make = (change: (parts: Loose) => void = () => undefined): Loose => {
    const operation: Loose = {
      operationId: 'Do',
      'x-access': 'publishable',
      parameters: [
        { name: 'id', in: 'path', required: true, schema: { type: 'string', pattern: '^[a-z]+$' } },
        { name: 'sort', in: 'query', required: false, schema: { enum: ['a', 'b'] } },
        { name: 'limit', in: 'query', required: false, schema: { type: 'integer', maximum: 100 } },
      ],
      requestBody: {
        required: true,
        content: { 'application/json': { schema: schema({ amount: text, note: text }, ['amount']) } },
      },
      responses: {
        200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Answer' } } } },
        404: {},
      },
    }
    const parts = {
      operation,
      body: operation.requestBody.content['application/json'].schema,
      answer: schema({
        count: { type: 'integer' },
        state: { enum: ['on', 'off'] },
        owner: { anyOf: [text, { type: 'null' }] },
        items: { type: 'array', items: schema({ id: text }) },
      }) as Loose,
      paths: { '/v2/do/{id}': { post: operation } } as Loose,
    }
    change(parts)
    return { paths: parts.paths, components: { schemas: { Answer: parts.answer } } }
  }

  const harmless: [string, (parts: Loose) => void][] = [
    ['nothing', () => undefined],
    ['a new path', ({ paths, operation }) => Object.assign(paths, { '/v2/new': { get: operation } })],
    [
      'a new optional parameter',
      ({ operation }) => operation.parameters.push({ name: 'x', in: 'query', schema: text }),
    ],
    ['a new optional body member', ({ body }) => Object.assign(body.properties, { extra: text })],
    ['a body member no longer required', ({ body }) => Object.assign(body, { required: [] })],
    ['a wider parameter', ({ operation }) => Object.assign(operation.parameters[2].schema, { maximum: 500 })],
    [
      'a parameter that may be null',
      ({ operation }) => Object.assign(operation.parameters[2].schema, { type: ['integer', 'null'] }),
    ],
    ['a new value to ask for', ({ operation }) => operation.parameters[1].schema.enum.push('c')],
    ['a new answer member', ({ answer }) => Object.assign(answer.properties, { extra: text })],
    ['an answer that is never null again', ({ answer }) => Object.assign(answer.properties, { owner: text })],
    ['a value never answered again', ({ answer }) => answer.properties.state.enum.pop()],
    [
      'other words',
      ({ answer, operation }) =>
        Object.assign(answer, { description: 'x' }) && Object.assign(operation, { summary: 'y' }),
    ],
    ['a public operation', ({ operation }) => Object.assign(operation, { 'x-access': 'public' })],
  ]
  it.each(harmless)('lets pass: %s', (_name, change) => {
    expect(findBreaking(make(), make(change))).toEqual([])
  })

  const breaking: [string, (parts: Loose) => void, RegExp][] = [
    ['a path that is gone', ({ paths }) => delete paths['/v2/do/{id}'], /is gone/],
    [
      'another method',
      ({ paths, operation }) => Object.assign(paths, { '/v2/do/{id}': { put: operation } }),
      /is gone/,
    ],
    ['another name', ({ operation }) => Object.assign(operation, { operationId: 'Else' }), /is called Else/],
    ['a secret key', ({ operation }) => Object.assign(operation, { 'x-access': 'secret' }), /needs a secret key/],
    ['a permission', ({ operation }) => Object.assign(operation, { 'x-permission': 'p' }), /needs the permission p/],
    ['a parameter that is gone', ({ operation }) => operation.parameters.pop(), /limit is gone/],
    [
      'a new required parameter',
      ({ operation }) => operation.parameters.push({ name: 'x', in: 'query', required: true, schema: text }),
      /x is now required/,
    ],
    [
      'a narrower parameter',
      ({ operation }) => Object.assign(operation.parameters[2].schema, { maximum: 50 }),
      /maximum changed/,
    ],
    [
      'a new bound',
      ({ operation }) => Object.assign(operation.parameters[2].schema, { minimum: 1 }),
      /minimum changed/,
    ],
    [
      'another pattern',
      ({ operation }) => Object.assign(operation.parameters[0].schema, { pattern: '^x$' }),
      /pattern changed/,
    ],
    ['a value one cannot ask for', ({ operation }) => operation.parameters[1].schema.enum.pop(), /value b changed/],
    ['a new required body member', ({ body }) => body.required.push('note'), /note is now required/],
    ['a body member that is gone', ({ body }) => delete body.properties.note, /note is gone/],
    [
      'a body member of another type',
      ({ body }) => Object.assign(body.properties, { note: { type: 'integer' } }),
      /type string became integer/,
    ],
    ['an answer member that is gone', ({ answer }) => delete answer.properties.count, /count is gone/],
    ['an answer member that may be missing', ({ answer }) => answer.required.shift(), /count may be missing/],
    [
      'an answer that may be null',
      ({ answer }) => Object.assign(answer.properties, { count: { anyOf: [{ type: 'integer' }, { type: 'null' }] } }),
      /alternatives changed/,
    ],
    [
      'an answer of a wider type',
      ({ answer }) => Object.assign(answer.properties, { count: { type: 'number' } }),
      /type integer became number/,
    ],
    ['a new value answered', ({ answer }) => answer.properties.state.enum.push('lost'), /value lost changed/],
    [
      'a change inside a list',
      ({ answer }) => delete answer.properties.items.items.properties.id,
      /items\[\]\.id is gone/,
    ],
    ['no 200 any more', ({ operation }) => delete operation.responses[200], /answers 200 no more/],
  ]
  it.each(breaking)('is red on %s', (_name, change, expected) => {
    expect(findBreaking(make(), make(change)).join('\n')).toMatch(expected)
  })
})
