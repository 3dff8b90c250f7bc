import type { FastifyReply, FastifyRequest } from 'fastify'
import { computeFingerprint, type Limits, parseIdempotencyKey, readHeldUntil } from '../../features/limits/index.js'
import { type EarnError, invalidInput } from '../../kernel/errors.js'
import type { Caller, Operation, Write } from '../../kernel/operation.js'
import type { Transaction } from '../../postgres/pool.js'
import { parseJson, type RawInput } from './input.js'

export type Call = {
  operation: Pick<Operation<never>, 'operationId' | 'hidden'>
  caller: Caller
  raw: RawInput
  /** Throws where the input does not fit its schema. */
  parse(): void
  /** Charges the whole cost, or 1 unit where there is room for the whole. */
  charge(cost: 'whole' | 'one'): Promise<unknown>
  /** Throws if the caller may not have the response, whichever caller got it first. */
  assertMayRepeat(): void
  /** Does the work; nothing is written yet. */
  run(): Promise<{ body: unknown; bytes: Buffer; write: Write<Transaction> | undefined }>
  /** Runs a write in a transaction and commits it. */
  commit(write: Write<Transaction>): Promise<void>
}

/**
 * Serves a request with an Idempotency-Key. An invalid request is refused and charged before the key is reserved: a refusal
 * writes only its cost.
 */
export async function answerIdempotent(
  records: Limits['idempotency'],
  call: Call,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { organizationId, kind: keyKind } = call.caller
  const { key, body } = await orCharge(call, 'one', () => {
    call.parse()
    return { key: readKey(request), body: call.raw.body === undefined ? {} : parseJson(call.raw.body) }
  })
  const fingerprint = computeFingerprint({ ...call.raw, operationId: call.operation.operationId, body })
  const named = { organizationId, keyKind, key, fingerprint }
  const found = await records.find(named)
  if (found?.kind === 'answered') {
    await orCharge(call, 'whole', call.assertMayRepeat)
    await call.charge('one')
    const { status, body: kept } = found.answer
    return reply.code(status).header('Idempotency-Replayed', 'true').send(Buffer.from(kept))
  }
  await call.charge('whole')
  if (found) throw found.error
  const bytes = await records.run(named, async (keep) => {
    const answer = await call.run()
    await call.commit(async (tx) => {
      await answer.write?.(tx)
      const body = withoutHidden(call.operation.hidden, answer)
      await keep(tx, { status: 200, body, heldUntil: readHeldUntil(answer.body) })
    })
    return answer.bytes
  })
  return reply.send(bytes)
}

/** The response as it is stored: without the members that are shown once. */
function withoutHidden(hidden: readonly string[] = [], { body, bytes }: { body: unknown; bytes: Buffer }): string {
  if (hidden.length === 0) return bytes.toString()
  return JSON.stringify({ ...(body as object), ...Object.fromEntries(hidden.map((name) => [name, ''])) })
}

/** Charges for what is refused before there is work to do. */
async function orCharge<T>(call: Call, cost: 'whole' | 'one', check: () => T): Promise<T> {
  try {
    return check()
  } catch (error) {
    await call.charge(cost)
    throw error
  }
}

function readKey({ raw }: FastifyRequest): string {
  const given = raw.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'idempotency-key').length
  if (given > 1) throw refuseKey('must be given once')
  const key = parseIdempotencyKey(String(raw.headers['idempotency-key'] ?? ''))
  if (key === undefined) throw refuseKey('must be 1 to 255 printable characters, bare or in double quotes')
  return key
}

function refuseKey(message: string): EarnError {
  return invalidInput([{ path: 'Idempotency-Key', message }])
}
