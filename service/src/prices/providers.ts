import T, { type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { type Outbound, OutboundError } from '../kernel/outbound.js'

/** What a provider said of one of its ids. `atSeconds`: when it says the price was made. */
export type ProvidedPrice = { priceId: string; priceUsd: string; atSeconds: number }

/** A service that tells prices over HTTP: how it is asked, and what its answers mean. */
export type PriceProvider = {
  readonly name: string
  /** Ids in one request. */
  readonly batchMax: number
  fetchPrices(priceIds: readonly string[]): Promise<ProvidedPrice[]>
}

export type ProviderSettings = { kind: 'defillama' | 'coingecko'; url: string; key: string | undefined }

/** The shape of each provider's answers; every member that is not there or not a number tells nothing. */
const LlamaAnswer = T.Object({
  coins: T.Record(T.String(), T.Object({ price: T.Optional(T.Unknown()), timestamp: T.Optional(T.Unknown()) })),
})
const GeckoAnswer = T.Record(
  T.String(),
  T.Object({ usd: T.Optional(T.Unknown()), last_updated_at: T.Optional(T.Unknown()) }),
)

const requestMs = 10_000
const bytesMax = 4 * 1024 * 1024

/** The provider of the settings. Failures that may pass are tried again; a key never stands in an error. */
export function openProvider(outbound: Outbound, { kind, url, key }: ProviderSettings): PriceProvider {
  const base = url.replace(/\/+$/, '')
  const get = async <S extends TSchema>(schema: S, path: string, headers: Record<string, string>) => {
    const text = await outbound.fetchText({ url: `${base}${path}`, headers, timeoutMs: requestMs, maxBytes: bytesMax })
    return parseAnswer(schema, text, new URL(base).host)
  }
  return kind === 'defillama' ? llama(get, key) : gecko(get, key)
}

type Get = <S extends TSchema>(schema: S, path: string, headers: Record<string, string>) => Promise<T.Static<S>>

/** `GET /prices/current/{ids}`; ids are `chain:address` or `coingecko:id`. With a key the path begins with it. */
function llama(get: Get, key: string | undefined): PriceProvider {
  return {
    name: 'defillama',
    batchMax: 100,
    fetchPrices: async (priceIds) => {
      const ids = priceIds.map(encodeURIComponent).join(',')
      const path = `${key === undefined ? '' : `/${encodeURIComponent(key)}/coins`}/prices/current/${ids}`
      const { coins } = await get(LlamaAnswer, path, {})
      const named = new Map(Object.entries(coins).map(([id, coin]) => [id.toLowerCase(), coin]))
      return priceIds.flatMap((id) => {
        const coin = named.get(id.toLowerCase())
        return toPrice(id, coin?.price, coin?.timestamp)
      })
    },
  }
}

/** `GET /simple/price?ids=…&vs_currencies=usd&include_last_updated_at=true&precision=full`. */
function gecko(get: Get, key: string | undefined): PriceProvider {
  return {
    name: 'coingecko',
    batchMax: 250,
    fetchPrices: async (priceIds) => {
      const query = new URLSearchParams({
        ids: priceIds.join(','),
        vs_currencies: 'usd',
        include_last_updated_at: 'true',
        precision: 'full',
      })
      const headers: Record<string, string> = key === undefined ? {} : { 'x-cg-pro-api-key': key }
      const answer = await get(GeckoAnswer, `/simple/price?${query}`, headers)
      return priceIds.flatMap((id) => toPrice(id, answer[id]?.usd, answer[id]?.last_updated_at))
    },
  }
}

function toPrice(priceId: string, price: unknown, at: unknown): ProvidedPrice[] {
  const priceUsd = toDecimal(price)
  const atSeconds = typeof at === 'number' && Number.isSafeInteger(at) && at > 0 ? at : undefined
  return priceUsd === undefined || atSeconds === undefined ? [] : [{ priceId, priceUsd, atSeconds }]
}

const priceMax = 1e15

/** A JSON number as a plain decimal, digit for digit; undefined for what is no price. */
export function toDecimal(value: unknown): string | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0 || value > priceMax) return undefined
  const match = /^([0-9]+)(?:\.([0-9]+))?(?:e([+-][0-9]+))?$/.exec(String(value))
  if (!match) return undefined
  const [, whole = '', fraction = '', exponent = '0'] = match
  const shift = Number(exponent)
  const digits = whole + fraction
  const point = whole.length + shift
  const padded = point <= 0 ? '0'.repeat(1 - point) + digits : digits.padEnd(point, '0')
  const at = point <= 0 ? 1 : point
  return padded.length > at ? `${padded.slice(0, at)}.${padded.slice(at)}` : padded
}

function parseAnswer<S extends TSchema>(schema: S, text: string, host: string): T.Static<S> {
  const validator = Compile(schema)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new OutboundError('malformed', `${host} did not answer JSON`, undefined, { cause: error })
  }
  if (!validator.Check(value)) throw new OutboundError('malformed', `${host} answered something else than prices`)
  return value as T.Static<S>
}
