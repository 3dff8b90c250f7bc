/** The closed set of reasons clients switch on. */
export const reasons = [
  'INDEXING_NOT_STARTED',
  'INDEXING_STALLED',
  'PROTOCOL_UNSUPPORTED',
  'INSUFFICIENT_BALANCE',
  'BELOW_MINIMUM',
  'CAP_EXCEEDED',
  'TOKEN_NOT_ACCEPTED',
  'TOKEN_UNSUPPORTED',
  'DEPOSIT_DISABLED',
  'WITHDRAW_DISABLED',
  'NOT_CLAIMABLE',
  'NOTHING_PENDING',
  'SIMULATION_REVERTED',
  'NO_ROUTE',
  'QUOTE_EXPIRED',
  'INSUFFICIENT_ALLOWANCE',
  'NOTHING_WITHDRAWABLE',
  'ADMIN_OPERATION_ACTIVE',
  'STREAM_ENDED',
  'CURSOR_GONE',
  'WALLET_NOT_ALLOWED',
  'QUEUE_PAUSED',
  'SHARES_LOCKED',
  'REQUEST_NOT_CANCELLABLE',
] as const

export type Reason = (typeof reasons)[number]

export type Violation = { path: string; message: string }

/** The four-member body every error has, plus `reason` where one is named. */
export type ErrorBody = {
  code: number
  status: string
  error: string
  context: Record<string, unknown>
  reason?: Reason
}

type Details = {
  context?: Record<string, unknown>
  reason?: Reason
  /** Seconds the caller should wait; sent as `Retry-After`. */
  retryAfterSeconds?: number
  /** For our logs; never leaves the service. */
  cause?: unknown
}

/** A failure meant for the caller: `message` is a sentence they can act on. */
export class EarnError extends Error {
  readonly code: number
  readonly status: string
  readonly context: Record<string, unknown>
  readonly reason: Reason | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(code: number, status: string, message: string, details: Details = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'EarnError'
    this.code = code
    this.status = status
    this.context = details.context ?? {}
    this.reason = details.reason
    this.retryAfterSeconds = details.retryAfterSeconds
  }

  toBody(): ErrorBody {
    const body = { code: this.code, status: this.status, error: this.message, context: this.context }
    return this.reason === undefined ? body : { ...body, reason: this.reason }
  }
}

/** One constructor per row of the error table; `errorTable` is what docs/errors.md is checked against. */
export const errorTable = {
  invalidArgument: [400, 'INVALID_ARGUMENT'],
  unauthorized: [401, 'UNAUTHORIZED'],
  permissionDenied: [403, 'PERMISSION_DENIED'],
  notFound: [404, 'NOT_FOUND'],
  deadlineExceeded: [408, 'DEADLINE_EXCEEDED'],
  conflict: [409, 'CONFLICT'],
  gone: [410, 'GONE'],
  failedPrecondition: [412, 'FAILED_PRECONDITION'],
  payloadTooLarge: [413, 'PAYLOAD_TOO_LARGE'],
  unsupportedMediaType: [415, 'UNSUPPORTED_MEDIA_TYPE'],
  resourceExhausted: [429, 'RESOURCE_EXHAUSTED'],
  headTooLarge: [431, 'INVALID_ARGUMENT'],
  internal: [500, 'INTERNAL'],
  unavailable: [503, 'UNAVAILABLE'],
} as const

const make =
  (row: keyof typeof errorTable, always?: Details) =>
  (message: string, details?: Details): EarnError =>
    new EarnError(errorTable[row][0], errorTable[row][1], message, { ...always, ...details })

export const invalidArgument = make('invalidArgument')
export const unauthorized = make('unauthorized')
export const permissionDenied = make('permissionDenied')
export const notFound = make('notFound')
export const deadlineExceeded = make('deadlineExceeded')
export const conflict = make('conflict')
export const gone = make('gone')
export const failedPrecondition = make('failedPrecondition')
export const payloadTooLarge = make('payloadTooLarge')
export const unsupportedMediaType = make('unsupportedMediaType')
export const resourceExhausted = make('resourceExhausted')
export const headTooLarge = make('headTooLarge')
export const internal = make('internal')
/** A 503 always says when to come back. */
export const unavailable = make('unavailable', { retryAfterSeconds: 30 })

/** A 400 for input that does not fit its schema; every violation is named. */
export function invalidInput(violations: Violation[]): EarnError {
  const first = violations[0]
  const text = first ? `${first.path || 'request'} ${first.message}` : 'the request does not fit its schema'
  return invalidArgument(violations.length > 1 ? `${text} (and ${violations.length - 1} more)` : text, {
    context: { violations },
  })
}
