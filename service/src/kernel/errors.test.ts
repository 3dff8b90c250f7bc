import { describe, expect, it } from 'vitest'
import * as errors from './errors.js'

const makers = { ...errors }

describe('an error', () => {
  it.each<[keyof typeof errors.errorTable, number, string]>([
    ['invalidArgument', 400, 'INVALID_ARGUMENT'],
    ['unauthorized', 401, 'UNAUTHORIZED'],
    ['permissionDenied', 403, 'PERMISSION_DENIED'],
    ['notFound', 404, 'NOT_FOUND'],
    ['deadlineExceeded', 408, 'DEADLINE_EXCEEDED'],
    ['conflict', 409, 'CONFLICT'],
    ['gone', 410, 'GONE'],
    ['failedPrecondition', 412, 'FAILED_PRECONDITION'],
    ['payloadTooLarge', 413, 'PAYLOAD_TOO_LARGE'],
    ['unsupportedMediaType', 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['resourceExhausted', 429, 'RESOURCE_EXHAUSTED'],
    ['headTooLarge', 431, 'INVALID_ARGUMENT'],
    ['internal', 500, 'INTERNAL'],
    ['unavailable', 503, 'UNAVAILABLE'],
  ])('%s has its code and its status', (name, code, status) => {
    expect(makers[name]('it fails').toBody()).toStrictEqual({ code, status, error: 'it fails', context: {} })
  })

  it('tells its context and its reason, where it has one, and keeps its cause to itself', () => {
    const cause = new Error('a secret')
    const error = errors.notFound('gone', { context: { id: 1 }, reason: 'NO_ROUTE', retryAfterSeconds: 5, cause })
    expect(error.toBody()).toEqual({
      ...{ code: 404, status: 'NOT_FOUND', error: 'gone', context: { id: 1 }, reason: 'NO_ROUTE' },
    })
    expect(error).toMatchObject({ name: 'EarnError', message: 'gone', retryAfterSeconds: 5, cause })
    expect('cause' in errors.notFound('gone')).toBe(false)
  })

  it('of a service that is not there says when to come back, as told or in half a minute', () => {
    expect(errors.unavailable('late').retryAfterSeconds).toBe(30)
    expect(errors.unavailable('late', { retryAfterSeconds: 4 }).retryAfterSeconds).toBe(4)
    expect(errors.internal('broken').retryAfterSeconds).toBeUndefined()
  })

  it('of input that does not fit names the first violation in words, and all of them in its context', () => {
    const violations = [
      { path: 'amount', message: 'must be a number' },
      { path: '', message: 'must be an object' },
    ]
    const told = (...of: typeof violations) => errors.invalidInput(of)
    expect(told(...violations)).toMatchObject({
      ...{ code: 400, message: 'amount must be a number (and 1 more)', context: { violations } },
    })
    expect(told(...violations.slice(1)).message).toBe('request must be an object')
    expect(told().message).toBe('the request does not fit its schema')
  })
})
