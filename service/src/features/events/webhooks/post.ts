import { type ClientRequest, Agent as HttpAgent, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { LookupFunction } from 'node:net'
import { type Allowed, findUrlProblem, isAllowed, lookupPublic, NotPublic } from './addresses.js'

/** The result of one try. `error` is empty where the receiver took the event. */
export type Posted = { status: number | null; error: string }

/** A kept connection was closed before anything was answered. */
class Stale extends Error {
  override readonly name = 'Stale'
}

/** Milliseconds that a receiver has for the whole answer. */
export const postMs = 15_000
/** Bytes of an answer that are read; they are thrown away. */
const answerMax = 64 * 1024

// No limit a host: webhooks of several organizations may share one, and one that hangs must not hold up the others. The events on
// their way are limited for each webhook and for the process.
const agentOptions = { keepAlive: true, maxFreeSockets: 256, timeout: 30_000 }
const agents = {
  http: new HttpAgent(agentOptions),
  https: new HttpsAgent(agentOptions),
  open: new HttpsAgent(agentOptions),
}

type Options = { allowed: Allowed; signal?: AbortSignal; ms?: number; lookup?: LookupFunction }

/**
 * Posts a body to a webhook, once. Only a status of 2xx is success; a redirect is not followed. The address is checked at each
 * connection.
 */
export async function post(
  input: { url: string; headers: Readonly<Record<string, string>>; body: string },
  { allowed, signal, ms = postMs, lookup = lookupPublic }: Options,
): Promise<Posted> {
  const problem = findUrlProblem(input.url, allowed)
  if (problem) return { status: null, error: `the url ${problem}` }
  const timeout = AbortSignal.timeout(ms)
  const ending = signal ? AbortSignal.any([timeout, signal]) : timeout
  try {
    // A connection that the receiver closed while it was idle says nothing of the receiver.
    const status = await send(input, { allowed, lookup, signal: ending }).catch((error: unknown) => {
      if (error instanceof Stale) return send(input, { allowed, lookup, signal: ending })
      throw error
    })
    if (status >= 200 && status < 300) return { status, error: '' }
    const isRedirect = status >= 300 && status < 400
    return { status, error: isRedirect ? `the receiver redirected (${status})` : `the receiver answered ${status}` }
  } catch (error) {
    return { status: null, error: timeout.aborted ? `no whole answer within ${ms / 1000} s` : describe(error) }
  }
}

function send(
  { url: text, headers, body }: { url: string; headers: Readonly<Record<string, string>>; body: string },
  { allowed, lookup, signal }: { allowed: Allowed; lookup: LookupFunction; signal: AbortSignal },
): Promise<number> {
  const url = new URL(text)
  const isOpen = isAllowed(url, allowed)
  return new Promise((resolve, reject) => {
    const bytes = Buffer.from(body)
    const options = {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'Content-Length': bytes.length,
        'User-Agent': 'OpenEarn',
        ...headers,
      },
      signal,
    }
    const request: ClientRequest =
      url.protocol === 'http:'
        ? httpRequest(url, { ...options, agent: agents.http })
        : isOpen
          ? httpsRequest(url, { ...options, agent: agents.open })
          : httpsRequest(url, { ...options, agent: agents.https, lookup })
    request.once('error', (error) => {
      const isStale = request.reusedSocket && 'code' in error && error.code === 'ECONNRESET'
      reject(isStale ? new Stale() : error)
    })
    request.once('response', (response) => {
      let size = 0
      response.on('data', (part: Buffer) => {
        size += part.length
        if (size <= answerMax) return
        request.destroy()
        reject(new Error('the answer is larger than 64 KiB'))
      })
      response.once('end', () => resolve(response.statusCode ?? 0))
      response.once('error', reject)
    })
    request.end(bytes)
  })
}

/** A sentence for the owner of the webhook, without addresses. */
function describe(error: unknown): string {
  if (error instanceof NotPublic) return error.message
  if (!(error instanceof Error)) return 'the receiver could not be reached'
  const code = 'code' in error ? String(error.code) : ''
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'the name of the receiver could not be resolved'
  if (code === 'ECONNREFUSED') return 'the receiver refused the connection'
  if (/CERT|TLS|SSL|SELF_SIGNED|VERIFY/.test(code)) return `the certificate of the receiver is not accepted (${code})`
  if (error.message.startsWith('the answer is larger')) return error.message
  return `the receiver could not be reached${code ? ` (${code})` : ''}`
}
