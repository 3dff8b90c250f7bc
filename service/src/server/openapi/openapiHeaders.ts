import type { Operation } from '../../kernel/operation.js'

const count = (description: string) => ({ description, schema: { type: 'integer', minimum: 0 } })

/** Headers of responses, as components of the document. */
export const headers: Record<string, unknown> = {
  'X-Request-Id': { description: 'Names this request in our logs', schema: { type: 'string', format: 'uuid' } },
  'X-Request-Cost': count('Units this answer cost'),
  'X-RateLimit-Limit': count(
    'Units an hour: of the key, or of the address where a key limits it and less is left to it; calls a minute where no key is asked for',
  ),
  'X-RateLimit-Remaining': count('What is left of them'),
  'X-RateLimit-Used': count('What is used of them, this answer included'),
  'X-Monthly-Limit': count('Units a calendar month, for keys with a cap'),
  'X-Monthly-Usage': count('What is used of the month'),
  'X-Monthly-Remaining': count('What is left of the month'),
  'Retry-After': count('Seconds to wait before trying again'),
  'Idempotency-Replayed': {
    description: 'true: the stored response of an earlier request with this Idempotency-Key',
    schema: { type: 'string', enum: ['true'] },
  },
  ETag: { description: 'Names this version of the response', schema: { type: 'string' } },
}

/** Header parameters, as components of the document. */
export const parameters: Record<string, unknown> = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'Makes it safe to send the same request again: a response of 200 is stored and repeated, for 1 unit, until the `validUntil` or `expiresAt` it names, else for 24 hours. A refusal is not stored. Publishable and secret keys of an organization do not share names. Bare or in double quotes, once.',
    schema: { type: 'string', minLength: 1, maxLength: 257 },
  },
  LastEventID: {
    name: 'Last-Event-ID',
    in: 'header',
    required: false,
    description: 'The `id` of the last event that was read: the stream goes on after it. Absent: from now on.',
    schema: { type: 'string' },
    example: '1042-6f1c2a9e3b7d',
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    required: false,
    description: 'The ETag of a stored response; 304 if it is unchanged.',
    schema: { type: 'string' },
    example: '"5f2b-br"',
  },
}

const limitHeaders = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Used']
const monthlyHeaders = ['X-Monthly-Limit', 'X-Monthly-Usage', 'X-Monthly-Remaining']

/** The headers an operation's answer of this status may have, as references. */
export function headerRefs(
  operation: Pick<Operation<never>, 'access' | 'method' | 'cacheable'>,
  status: number,
): Record<string, unknown> {
  const names = ['X-Request-Id', 'X-Request-Cost', ...limitHeaders]
  if (operation.access !== 'public' && status !== 401) names.push(...monthlyHeaders)
  if (status === 429 || status === 503 || status === 409) names.push('Retry-After')
  if (operation.cacheable && (status === 200 || status === 304)) names.push('ETag')
  if (operation.method === 'POST' && status === 200) names.push('Idempotency-Replayed')
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
