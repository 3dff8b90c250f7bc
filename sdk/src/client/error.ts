import type { ResponseInfo } from './client.js'
import type { Error as ErrorBody } from './generated/types.js'

/** Why a program may act differently on a refusal; a service of a later version may send others. */
export type Reason = NonNullable<ErrorBody['reason']>

/** The status word of the error body, and three of the client's own where no such body came. */
export type ErrorStatus = ErrorBody['status'] | 'UNREACHABLE' | 'TIMEOUT' | 'UNREADABLE'

/**
 * A call that failed. `code`, `status`, `reason` and `context` are those of the error body, `message` is its sentence.
 * Without an answer `code` is 0 and `status` is `UNREACHABLE` or `TIMEOUT`; an answer that is not the service's JSON has
 * its own code and `UNREADABLE`.
 */
export class EarnError extends Error {
  override readonly name = 'EarnError'
  declare readonly operation: string
  declare readonly code: number
  declare readonly status: ErrorStatus
  declare readonly reason: Reason | undefined
  declare readonly context: Readonly<Record<string, unknown>>
  /** Names this call in the service's log; null where no answer came. */
  declare readonly requestId: string | null
  /** Seconds after which the same call may succeed. */
  declare readonly retryAfter: number | undefined

  constructor(message: string, told: ResponseInfo & Pick<EarnError, 'status' | 'reason' | 'context'>, cause?: unknown) {
    super(message, { cause })
    Object.assign(this, told)
  }
}

/** Whether the same request, sent again, may succeed: no answer, a twin that still runs, or a service that is not well. */
export function mayRetry({ code, context }: Pick<EarnError, 'code' | 'context'>): boolean {
  const { retryable } = context
  if (code === 409) return !!retryable
  return retryable !== false && (!code || code === 408 || code === 429 || code >= 500)
}
