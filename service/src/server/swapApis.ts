import type { ActionContext, HttpApi } from '../features/plans/index.js'
import { createCircuit } from '../kernel/circuit.js'
import type { Clock } from '../kernel/clock.js'
import { type Config, ConfigError } from '../kernel/config.js'
import { type Outbound, OutboundError } from '../kernel/outbound.js'

/** A quote is waited for no longer: the exchanges of the chain have answered long before. */
const usual = { tryMs: 2_500, allMs: 4_000 }
const bytesMax = 1024 * 1024

const json = { 'Content-Type': 'application/json' }

type Io = { outbound: Outbound; clock: Clock; bounds?: typeof usual }

/** The services asked for swaps, each with its key in the header it takes. */
export function openSwapApis(
  { swapApis: { enso, lifi } }: Pick<Config, 'swapApis'>,
  io: Io,
): ActionContext['swapApis'] {
  for (const [name, url] of Object.entries({ ENSO_URL: enso.url, LIFI_URL: lifi.url }))
    if (!/^https?:\/\/[^@\s?#]+$/.test(url) || !URL.canParse(url))
      throw new ConfigError(`${name} must be an http or https url without a user name`)
  return {
    enso: openApi(enso.url, enso.key === undefined ? {} : { Authorization: `Bearer ${enso.key}` }, io),
    lifi: openApi(lifi.url, lifi.key === undefined ? {} : { 'x-lifi-api-key': lifi.key }, io),
  }
}

/** Order books by their url, each asked as a service is. */
export function openOrderBooks(io: Io): (url: string) => HttpApi {
  const books = new Map<string, HttpApi>()
  return (url) => {
    const book = books.get(url) ?? openApi(url, {}, io)
    books.set(url, book)
    return book
  }
}

/** A service with a circuit of its own; one that said when to come back is not asked before. */
function openApi(url: string, headers: Record<string, string>, { outbound, clock, bounds = usual }: Io): HttpApi {
  const base = url.replace(/\/+$/, '')
  const { host } = new URL(url)
  const circuit = createCircuit(host, clock)
  let notBeforeMs = Number.NEGATIVE_INFINITY
  const findRefusal = () => {
    const leftMs = notBeforeMs - clock.monotonicMs()
    return leftMs > 0 ? new OutboundError('rate-limited', `${host} asked for a pause`, leftMs) : circuit.findRefusal()
  }
  return {
    host,
    fetchText: async (path, body) => {
      const refusal = findRefusal()
      if (refusal) throw refusal
      try {
        const text = await outbound.fetchText({
          ...{ url: `${base}${path}`, headers: { Accept: 'application/json', ...headers, ...(body && json) } },
          ...(body === undefined ? {} : { method: 'POST' as const, body }),
          ...{ timeoutMs: bounds.tryMs, retries: 1, maxBytes: bytesMax, signal: AbortSignal.timeout(bounds.allMs) },
        })
        circuit.onAnswer()
        return text
      } catch (error) {
        if (!(error instanceof OutboundError)) throw error
        if (error.retryAfterMs !== undefined) notBeforeMs = clock.monotonicMs() + error.retryAfterMs
        // A refusal is a response.
        if (error.kind === 'client') circuit.onAnswer()
        else circuit.onFailure()
        throw error
      }
    },
  }
}
