import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Authenticate, type AuthenticatedKey, assertAccess, assertOrigin } from '../features/auth/index.js'
import type { Allowance, Charge, Limits } from '../features/limits/index.js'
import { EarnError, resourceExhausted } from '../kernel/errors.js'
import type { Operation } from '../kernel/operation.js'
import { readAuthorization } from './head.js'

/** The key a request came with, and whether its limit headers are set. */
export type Admission = { key: AuthenticatedKey; charged: boolean }

export type Gate = { authenticate: Authenticate; limits: Limits; onRefused?: (limit: string) => void }

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
  const { headers } = request
  try {
    const key = await gate.authenticate({
      apiKey: single(headers['x-api-key']),
      authorization: readAuthorization(request.raw),
    })
    request.admission = { key, charged: false }
    assertOrigin(key, headers.origin)
    assertAccess(key.caller, operation.access, operation.permission)
    if (operation.addressLimited && key.caller.kind === 'publishable') takeToken(gate, request, reply)
  } catch (error) {
    if (error instanceof EarnError && error.code === 401) takeToken(gate, request, reply)
    throw error
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

/** Takes from the bucket of an address what a call to an open operation turned out to cost beside its own token. */
export function spendTokens({ limits }: Gate, request: FastifyRequest, reply: FastifyReply, workMs: number): void {
  const tokens = Math.floor(workMs / tokenMs)
  const headers = tokens > 0 ? limits.ipBuckets.spend(request.ip, tokens) : undefined
  if (headers) reply.headers(headers)
}

/** Charges the key of a request, sets its limit headers and X-Request-Cost, throws 429 when the budget is used up. */
export async function chargeRequest(
  { limits, onRefused }: Gate,
  admission: Admission,
  units: number,
  reply: FastifyReply,
): Promise<void> {
  const charge = await limits.budgets.charge(toAllowance(admission.key), units)
  admission.charged = true
  reply.headers(charge.headers)
  if (charge.granted) {
    reply.header('X-Request-Cost', units)
    return
  }
  onRefused?.(charge.limit)
  throw exhausted(charge.limit, charge.retryAfterSeconds)
}

/** Limit headers for an answer of a keyed request that ended before it was charged. */
export async function addLimitHeaders(gate: Gate, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { admission } = request
  if (!admission || admission.charged) return
  const charge: Charge = await gate.limits.budgets.charge(toAllowance(admission.key), 0)
  admission.charged = true
  reply.headers(charge.headers)
}

/** What a key may use. */
export function toAllowance({ caller, hourlyUnits, monthlyUnits }: AuthenticatedKey): Allowance {
  return { keyId: caller.keyId, hourlyUnits, monthlyUnits }
}

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
