import type { EarnClient } from './client.js'
import { EarnError, type ErrorStatus, mayRetry } from './error.js'
import type { Error as ErrorBody } from './generated/types.js'

/** Options of one call. */
export type CallOptions = {
  signal?: AbortSignal | undefined
  headers?: Readonly<Record<string, string>> | undefined
  /**
   * Names the intent of a POST: the service does its work once, however often the call is repeated. A new one is made for
   * each call unless given.
   */
  idempotencyKey?: string | undefined
}

export type Request = {
  name: string
  method: string
  path: string
  body: string | null
  headers?: Record<string, string>
}

/** A `Retry-After` above it, in milliseconds, is for the caller to wait for. */
const longestWait = 10_000

/**
 * Sends one request and returns the body of its response. A failure that may pass is retried: every POST carries an
 * `Idempotency-Key`, so that a retry has the same effect as the first request.
 */
export async function send(client: EarnClient, request: Request, options: CallOptions = {}): Promise<unknown> {
  const { apiKey, retries = 2 } = client
  const { signal } = options
  const headers: Record<string, string> = { ...client.headers, ...options.headers, ...request.headers }
  if (apiKey) headers['x-api-key'] = apiKey
  for (let attempt = 0; ; attempt++) {
    const result = await exchange(client, request, headers, signal, attempt)
    if (!(result instanceof EarnError)) return result
    // A date instead of seconds is no number: it counts as not given.
    const wait = (result.retryAfter || 2 ** attempt * Math.random()) * 1000
    if (attempt >= retries || wait > longestWait || !mayRetry(result)) throw result
    signal?.throwIfAborted()
    await pause(wait, signal)
  }
}

/** One request and the whole of its answer. Throws the signal's reason where the caller ended it. */
async function exchange(
  client: EarnClient,
  { name, method, path, body }: Request,
  headers: Record<string, string>,
  signal: AbortSignal | undefined,
  attempt: number,
): Promise<unknown> {
  const { fetch = globalThis.fetch, timeoutMs = 30_000, onResponse } = client
  const timeout = AbortSignal.timeout(timeoutMs)
  let response: Response | undefined
  let text = ''
  let cause: unknown
  try {
    // A redirect is not followed: the key would travel on with it.
    response = await fetch(client.baseUrl + path, {
      method,
      headers,
      body,
      signal: signal ? AbortSignal.any([timeout, signal]) : timeout,
      redirect: 'manual',
    })
    text = await response.text()
  } catch (error) {
    signal?.throwIfAborted()
    response = undefined
    cause = error
  }
  const code = response?.status ?? 0
  const told = response?.headers ?? new Headers()
  const numberOf = (header: string) => (told.has(header) ? Number(told.get(header)) : undefined)
  const info = {
    operation: name,
    code,
    attempt,
    cost: numberOf('x-request-cost'),
    remaining: numberOf('x-ratelimit-remaining'),
    retryAfter: numberOf('retry-after'),
    requestId: told.get('x-request-id'),
    headers: told,
  }
  onResponse?.(info)
  const value: Partial<ErrorBody> | undefined = parse(text)
  if (response?.ok && value) return value
  const none: ErrorStatus = code ? 'UNREADABLE' : timeout.aborted ? 'TIMEOUT' : 'UNREACHABLE'
  const { status = none, error = '', reason, context = {} } = (code >= 400 && value) || noBody
  return new EarnError(`${name}: ${code} ${status} ${error}`, { ...info, status, reason, context }, cause)
}

const noBody: Partial<ErrorBody> = {}

/** The object that a text is in JSON, or nothing. */
function parse(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value ? value : undefined
  } catch {
    return undefined
  }
}

/** Ends early where the caller ends the call: the next attempt throws the signal's reason. */
const pause = (milliseconds: number, signal: AbortSignal | undefined) =>
  new Promise<unknown>((resolve) => {
    setTimeout(resolve, milliseconds)
    signal?.addEventListener('abort', resolve)
  })
