import type { FastifyReply, FastifyRequest } from 'fastify'
import { computeFingerprint, type Limits, parseIdempotencyKey } from '../features/limits/index.js'
import type { Database } from '../kernel/database.js'
import { EarnError, invalidArgument } from '../kernel/errors.js'
import type { Caller, Operation } from '../kernel/operation.js'
import { single } from './admit.js'
import { errorBody, toEarnError } from './errors.js'
import { parseJson, type RawInput } from './input.js'

export type Call = {
  operation: Pick<Operation<never>, 'operationId'>
  caller: Caller
  raw: RawInput
  /** What the operation costs. */
  units: number
  charge(units: number): Promise<unknown>
  run(db: Database): Promise<Buffer>
}

/** What repeating a kept answer costs. */
const replayUnits = 1

/** Answers a request that carries an Idempotency-Key. */
export async function answerOnce(
  once: Limits['once'],
  call: Call,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const key = parseIdempotencyKey(single(request.headers['idempotency-key']) ?? '')
  const body = readBody(call.raw)
  if (key === undefined || body instanceof EarnError) {
    await call.charge(call.units)
    throw body instanceof EarnError ? body : invalidKey()
  }
  const fingerprint = computeFingerprint({ ...call.raw, operationId: call.operation.operationId, body })
  const claim = await once.claim({ organizationId: call.caller.organizationId, key, fingerprint })
  if (claim.kind === 'refused') {
    await call.charge(call.units)
    throw claim.error
  }
  if (claim.kind === 'answered') {
    await call.charge(replayUnits)
    return reply.code(claim.answer.status).header('Idempotency-Replayed', 'true').send(Buffer.from(claim.answer.body))
  }
  try {
    await call.charge(call.units)
  } catch (error) {
    await once.release(claim.turn)
    throw error
  }
  const answer = await once.run(
    claim.turn,
    async (db) => ({ status: 200, body: (await call.run(db)).toString() }),
    (error) => {
      const known = toEarnError(error, request.id)
      return { status: known.code, body: JSON.stringify(errorBody(known, request)) }
    },
  )
  return reply.send(Buffer.from(answer.body))
}

/** The parsed body, or the refusal of one that is not JSON. */
function readBody(raw: RawInput): unknown {
  try {
    return raw.body === undefined ? {} : parseJson(raw.body)
  } catch (error) {
    if (error instanceof EarnError) return error
    throw error
  }
}

function invalidKey(): EarnError {
  return invalidArgument('Idempotency-Key must be 1 to 255 printable characters, bare or in double quotes')
}
