import type { Clock } from './clock.js'
import { redactUrls } from './log.js'

/** The class of an outbound failure; it decides whether to retry. */
export type OutboundClass =
  | 'timeout'
  | 'network'
  | 'rate-limited'
  | 'server'
  | 'client'
  | 'malformed'
  | 'too-large'
  | 'open'
  | 'busy'

/** A failed call to another system. The message names the host only. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError'
  constructor(
    readonly kind: OutboundClass,
    message: string,
    readonly retryAfterMs: number | undefined = undefined,
    options?: ErrorOptions,
    /** The HTTP status, where one was answered. */
    readonly httpStatus: number | undefined = undefined,
  ) {
    super(redactUrls(message), options)
  }
  /** True when the same call may succeed later. */
  get retryable(): boolean {
    return this.kind !== 'client' && this.kind !== 'too-large'
  }
}

export type OutboundRequest = {
  url: string
  method?: 'GET' | 'POST'
  body?: string
  headers?: Readonly<Record<string, string>>
  timeoutMs?: number
  /** Tries after the first; only for failures that may pass. Default 2. */
  retries?: number
  maxBytes?: number
  /** A deadline over all tries. */
  signal?: AbortSignal
}

/** The one way out of the process over HTTP. */
export type Outbound = { fetchText(request: OutboundRequest): Promise<string> }

const defaults = { timeoutMs: 10_000, retries: 2, maxBytes: 64 * 1024 * 1024 }

/**
 * HTTP with a timeout, retries with backoff and jitter, and `Retry-After`. Urls never appear in errors beyond their
 * host. The caller keeps the circuit (`circuit.ts`) of the url and purpose.
 */
export function createOutbound(clock: Clock, random: () => number = Math.random): Outbound {
  return {
    fetchText: async (request) => {
      const host = new URL(request.url).host
      const retries = request.retries ?? defaults.retries
      for (let attempt = 0; ; attempt++) {
        try {
          return await fetchOnce(request, host)
        } catch (error) {
          if (!(error instanceof OutboundError) || !error.retryable) throw error
          if (attempt >= retries || request.signal?.aborted) throw error
          const backoff = 100 * 2 ** attempt * (0.5 + random())
          await clock.sleep(Math.min(error.retryAfterMs ?? backoff, 10_000), request.signal)
        }
      }
    },
  }
}

async function fetchOnce(request: OutboundRequest, host: string): Promise<string> {
  const timeout = AbortSignal.timeout(request.timeoutMs ?? defaults.timeoutMs)
  const signal = request.signal ? AbortSignal.any([timeout, request.signal]) : timeout
  try {
    const response = await fetch(request.url, {
      method: request.method ?? 'GET',
      redirect: 'error',
      signal,
      ...(request.body === undefined ? {} : { body: request.body }),
      ...(request.headers ? { headers: request.headers } : {}),
    })
    if (!response.ok) {
      await response.body?.cancel()
      throw refusal(response, host)
    }
    return await readLimited(response, request.maxBytes ?? defaults.maxBytes, host)
  } catch (error) {
    if (error instanceof OutboundError) throw error
    if (signal.aborted)
      throw new OutboundError('timeout', `${host} did not answer in time`, undefined, { cause: error })
    throw new OutboundError('network', `${host} could not be reached`, undefined, { cause: error })
  }
}

/** A proxy's words for "too slow": RFC 9110's two, and one that is in use. */
const late = new Set([408, 504, 524])

function refusal({ headers, status }: Response, host: string): OutboundError {
  const after = headers.get('retry-after') ?? ''
  // Seconds or a date (RFC 9110), which is measured by the clock of the host that says it.
  const ms = /^\d+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - Date.parse(headers.get('date') ?? '')
  const kind = status === 429 ? 'rate-limited' : late.has(status) ? 'timeout' : status >= 500 ? 'server' : 'client'
  return new OutboundError(kind, `${host} answered ${status}`, ms >= 0 ? ms : undefined, undefined, status)
}

async function readLimited(response: Response, maxBytes: number, host: string): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    if (size > maxBytes) throw new OutboundError('too-large', `${host} answered more than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
