import { isIP } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Authenticate, type AuthenticatedKey, assertAccess, assertOrigin } from '../../features/auth/index.js'
import { type Allowance, type Charge, isLoopback, type Limits, networkOf } from '../../features/limits/index.js'
import { EarnError, resourceExhausted } from '../../kernel/errors.js'
import type { Operation } from '../../kernel/operation.js'
import type { Context } from '../../postgres/context.js'
import { isDatabaseLate, isDatabaseUnavailable } from '../../postgres/pool.js'
import type { Seen } from '../../postgres/reading.js'
import { readAuthorization } from './head.js'

/** The key a request came with, whether its limit headers are set, and what its charge told of what the key may have seen. */
export type Admission = { key: AuthenticatedKey; charged: boolean; seen?: Seen | undefined }

export type Gate = {
  authenticate: Authenticate
  limits: Limits
  onRefused?: (limit: string) => void
  /** The origin of the pages that this listener serves itself. */
  ownOrigin?: () => string
}

/**
 * Finds who is calling: undefined for operations open to anyone. A call without a good key, a call to an open
 * operation, and one with a publishable key to an operation that says so take a token from the bucket of their address.
 */
export async function admit(
  gate: Gate,
  operation: Pick<Operation<never>, 'access' | 'permission' | 'addressLimited'>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  if (operation.access === 'public') return takeToken(gate, request, reply)
  try {
    const key = await identify(gate, request)
    assertOrigin(key, request.headers.origin, gate.ownOrigin?.())
    assertAccess(key.caller, operation.access, operation.permission)
    if (operation.addressLimited && key.caller.kind === 'publishable') takeToken(gate, request, reply)
  } catch (error) {
    if (error instanceof EarnError && error.code === 401) takeToken(gate, request, reply)
    throw error
  }
}

/** A key by its text; undefined for one that is not good. */
export async function findKey({ authenticate }: Gate, apiKey: string): Promise<AuthenticatedKey | undefined> {
  try {
    return await authenticate({ apiKey, authorization: undefined })
  } catch (error) {
    if (error instanceof EarnError && error.code === 401) return undefined
    throw error
  }
}

/** Finds the key of a request and keeps it with it. Throws 401 for a wrong one. */
async function identify({ authenticate }: Gate, request: FastifyRequest): Promise<AuthenticatedKey> {
  const apiKey = single(request.headers['x-api-key'])
  const key = await authenticate({ apiKey, authorization: readAuthorization(request.raw) })
  request.admission = { key, charged: false }
  return key
}

/**
 * Adds the limit headers of the key that a request for an unknown route came with. With a wrong key, or while the database is
 * away, it is a 404 all the same.
 */
export async function addHeadersNowhere(gate: Gate, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { headers } = request
  if (headers['x-api-key'] === undefined && headers.authorization === undefined) return
  try {
    await identify(gate, request)
    await addLimitHeaders(gate, request, reply)
  } catch (error) {
    const isWrongKey = error instanceof EarnError && error.code === 401
    if (!isWrongKey && !isDatabaseLate(error) && !isDatabaseUnavailable(error)) throw error
  }
}

/** A header sent twice is joined, so that it is never taken for a valid single value. */
export function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value
}

function takeToken({ limits, onRefused }: Gate, request: FastifyRequest, reply: FastifyReply): void {
  const token = limits.ipBuckets.take(request.ip)
  if (!token) return
  reply.headers(token.headers)
  if (token.granted) return
  onRefused?.('ip')
  throw exhausted('ip', token.retryAfterSeconds)
}

/** Milliseconds of computing that a token of an address pays for. */
const tokenMs = 50

/** Takes the additional cost of a call to an open operation from the bucket of its address. */
export function spendTokens({ limits }: Gate, request: FastifyRequest, reply: FastifyReply, workMs: number): void {
  const tokens = Math.floor(workMs / tokenMs)
  const headers = tokens > 0 ? limits.ipBuckets.spend(request.ip, tokens) : undefined
  if (headers) reply.headers(headers)
}

/**
 * Charges the key of a request, sets its limit headers and X-Request-Cost, throws 429 when there is no room for the whole
 * cost, also where only one unit of it is to be paid.
 */
export async function chargeRequest(
  { limits, onRefused }: Gate,
  request: FastifyRequest,
  admission: Admission,
  units: number,
  cost: 'whole' | 'one',
  reply: FastifyReply,
): Promise<void> {
  const taken = cost === 'one' ? Math.min(1, units) : units
  const charge = await limits.budgets.charge(toAllowance(admission.key, request), units, taken)
  admission.charged = true
  reply.headers(charge.headers)
  if (charge.granted) {
    admission.seen = charge.seen
    reply.header('X-Request-Cost', taken)
    return
  }
  onRefused?.(charge.limit)
  throw exhausted(charge.limit, charge.retryAfterSeconds)
}

/** Limit headers for an answer of a keyed request that ended before it was charged. */
export async function addLimitHeaders(gate: Gate, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { admission } = request
  if (!admission || admission.charged) return
  const charge: Charge = await gate.limits.budgets.charge(toAllowance(admission.key, request), 0)
  admission.charged = true
  reply.headers(charge.headers)
}

/** The budget of a key, and the share of the address that the request came from. */
export function toAllowance(key: AuthenticatedKey, request?: FastifyRequest): Allowance {
  const { caller, hourlyUnits, monthlyUnits, addressUnits } = key
  const allowance = { keyId: caller.keyId, hourlyUnits, monthlyUnits }
  if (addressUnits === null || !request) return allowance
  // A proxy we trust may still send something that is no address.
  const ip = isIP(request.ip) ? request.ip : (request.socket.remoteAddress ?? '')
  return { ...allowance, address: { network: networkOf(ip), units: addressUnits } }
}

/** Requests in a row, all forwarded by one address, after which it is taken for a proxy. */
const forwardedMax = 100

/**
 * Watches for a proxy that nobody told us of: one on this machine, behind which no address is limited, or one elsewhere,
 * behind which all callers share the limits of one address. Says so once.
 */
export function createProxyWatch({ config, log }: Pick<Context, 'config' | 'log'>): (request: FastifyRequest) => void {
  let silent = config.trustedProxies.length > 0
  let row = { address: '', count: 0 }
  const warn = (text: string) => {
    silent = true
    log.warn(`${text} if it overwrites or appends X-Forwarded-For`)
  }
  return ({ headers, socket }) => {
    if (silent) return
    const address = socket.remoteAddress ?? ''
    const isForwarded = forwardedHeaders.some((name) => headers[name] !== undefined)
    if (isForwarded && isLoopback(address))
      return warn(
        'a proxy on this machine forwards requests and TRUSTED_PROXIES is not set: all callers seem to be one, and limits ' +
          'per address do not hold; set TRUSTED_PROXIES=127.0.0.1,::1',
      )
    if (!isForwarded || address !== row.address) row = { address, count: 0 }
    if (isForwarded) row.count += 1
    if (row.count >= forwardedMax)
      warn(
        `all requests are forwarded by ${address} and TRUSTED_PROXIES is not set: all callers seem to be one, and share the ` +
          `limits of one address; set TRUSTED_PROXIES=${address}`,
      )
  }
}

const forwardedHeaders = ['x-forwarded-for', 'forwarded', 'x-real-ip']

const limitTexts = {
  hourly: 'the cost units of this hour are used up',
  monthly: 'the cost units of this month are used up',
  ip: 'too many requests from this address',
}

function exhausted(limit: keyof typeof limitTexts, retryAfterSeconds: number): EarnError {
  return resourceExhausted(`${limitTexts[limit]}; try again in ${retryAfterSeconds} s`, {
    context: { limit },
    retryAfterSeconds,
  })
}
