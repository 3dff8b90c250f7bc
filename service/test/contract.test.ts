import T from 'typebox'
import { describe, expect, it } from 'vitest'
import { defineOperation, type Operation } from '../src/kernel/operation.js'
import { Nullable, Ts, Uuid } from '../src/kernel/wire.js'
import { openContract, type Seen } from './contract.js'

const operation: Operation<never> = defineOperation({
  operationId: 'Get',
  method: 'GET',
  path: '/v2/things/{id}',
  summary: '',
  description: '',
  tag: 'test',
  access: 'publishable',
  cost: 1,
  responses: {
    200: T.Object({
      id: Uuid,
      at: Ts,
      count: T.Number(),
      list: T.Array(T.Object({ name: T.String(), note: T.Optional(T.String()), owner: Nullable(T.String()) })),
      free: T.Object({}, { additionalProperties: true }),
    }),
    404: 'no',
  },
  run: async () => ({}),
}) as Operation<never>

const contract = openContract([operation, { ...operation, operationId: 'Fixed', path: '/v2/things/fixed/' }])
const headers = {
  'content-type': 'application/json',
  'x-request-id': '8e03978e-40d5-43e8-bc93-6894a57f9324',
  'x-request-cost': '1',
  'x-ratelimit-limit': '100',
  'x-ratelimit-remaining': '99',
  'x-ratelimit-used': '1',
}
const good = {
  id: '8e03978e-40d5-43e8-bc93-6894a57f9324',
  at: '2026-11-20T12:00:00Z',
  count: 1,
  list: [{ name: '', owner: null }],
  free: { anything: [1] },
}
const check = (change: Partial<Seen>) => contract.check('Get', { status: 200, headers, body: good, ...change })
const error = { code: 404, status: 'NOT_FOUND', error: 'no such thing', context: {} }

describe('the contract check', () => {
  it('finds the operation of a request, fixed segments first', () => {
    expect(contract.find('GET', '/v2/things/fixed?x=1')?.operationId).toBe('Fixed')
    expect(contract.find('GET', '/v2/things/other/')?.operationId).toBe('Get')
    expect(contract.find('POST', '/v2/things/other')).toBeUndefined()
  })

  it('lets good answers pass', () => {
    expect(check({})).toEqual([])
    expect(check({ status: 404, body: error })).toEqual([])
    expect(check({ status: 304, body: undefined })).toEqual([])
  })

  const bad: [string, Partial<Seen>, RegExp][] = [
    ['null where it is not allowed', { body: { ...good, count: null } }, /count/],
    ['a missing member', { body: { ...good, at: undefined } }, /at/],
    ['a member nobody declared', { body: { ...good, extra: 1 } }, /additional/],
    ['one deeper', { body: { ...good, list: [{ name: '', owner: null, extra: 1 }] } }, /additional/],
    ['null for an optional member', { body: { ...good, list: [{ name: '', owner: null, note: null }] } }, /note/],
    ['an instant with an offset', { body: { ...good, free: { at: '2026-11-20T12:00:00+00:00' } } }, /not UTC/],
    ['a uuid without a version', { body: { ...good, id: '8e03978e-40d5-03e8-bc93-6894a57f9324' } }, /uuid/],
    ['an upper-case uuid', { body: { ...good, id: '8E03978E-40D5-43E8-BC93-6894A57F9324' } }, /uuid/],
    ['an integer beyond 2^53', { body: { ...good, count: 2 ** 60 } }, /2\^53/],
    [
      'an undeclared status',
      { status: 412, body: { ...error, code: 412, status: 'FAILED_PRECONDITION' } },
      /not declared/,
    ],
    ['an error of another code', { status: 404, body: { ...error, code: 400 } }, /code 400/],
    ['an error with a stack', { status: 404, body: { ...error, stack: '' } }, /unknown members/],
    ['an error without context', { status: 404, body: { ...error, context: null } }, /context/],
    ['a reason outside the set', { status: 404, body: { ...error, reason: 'NO_IDEA' } }, /unknown reason/],
    ['a missing limit header', { headers: { ...headers, 'x-ratelimit-used': undefined } }, /x-ratelimit-used/],
    ['limit headers that do not add up', { headers: { ...headers, 'x-ratelimit-used': '5' } }, /add up/],
    ['a refusal that costs', { status: 401, body: { ...error, code: 401, status: 'UNAUTHORIZED' } }, /401 cost 1/],
    ['no request id', { headers: { ...headers, 'x-request-id': 'x' } }, /x-request-id/],
    ['another content type', { headers: { ...headers, 'content-type': 'text/html' } }, /content-type/],
  ]
  it.each(bad)('is red on %s', (_name, change, expected) => {
    expect(check(change).join('\n')).toMatch(expected)
  })
})
