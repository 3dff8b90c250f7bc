import T, { type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { type Outbound, OutboundError } from '../kernel/outbound.js'

/** A provider's price of one of its ids. `atSeconds`: the time of the price by the provider. */
export type ProvidedPrice = { priceId: string; priceUsd: string; atSeconds: number }

/** A service that returns prices over HTTP: its requests, and the parsing of its responses. */
export type PriceProvider = {
  readonly name: string
  /** Ids in one request. */
  readonly batchMax: number
  fetchPrices(priceIds: readonly string[]): Promise<ProvidedPrice[]>
  readonly past: PastPrices
}

/** How a provider tells what prices were. */
export type PastPrices = {
  /** Ids in one request, and seconds. */
  readonly batchMax: number
  readonly windowSeconds: number
  /** How long ago it still tells. */
  readonly reachSeconds: number
  /** Past prices hour by hour, from one instant to another. */
  fetch(priceIds: readonly string[], range: { from: number; to: number }): Promise<ProvidedPrice[]>
}

export type ProviderSettings = { kind: 'defillama' | 'coingecko'; url: string; key: string | undefined }

/** The shape of each provider's responses; a member that is missing or not a number is ignored. */
const LlamaAnswer = T.Object({
  coins: T.Record(T.String(), T.Object({ price: T.Optional(T.Unknown()), timestamp: T.Optional(T.Unknown()) })),
})
const GeckoAnswer = T.Record(
  T.String(),
  T.Object({ usd: T.Optional(T.Unknown()), last_updated_at: T.Optional(T.Unknown()) }),
)

const LlamaPast = T.Object({
  coins: T.Record(
    T.String(),
    T.Object({
      prices: T.Array(T.Object({ price: T.Optional(T.Unknown()), timestamp: T.Optional(T.Unknown()) })),
    }),
  ),
})
/** Pairs of milliseconds and price. */
const GeckoPast = T.Object({ prices: T.Array(T.Array(T.Unknown())) })

const hour = 3_600
const day = 24 * hour
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

/** It returns at most 500 prices to a request for the past. */
const llamaPast = { batchMax: 5, hours: 100 }

/**
 * `GET /prices/current/{ids}` and `GET /chart/{ids}?start=…&span=…&period=1h`; ids are `chain:address` or `coingecko:id`. With
 * a key the path begins with it.
 */
function llama(get: Get, key: string | undefined): PriceProvider {
  const before = key === undefined ? '' : `/${encodeURIComponent(key)}/coins`
  const join = (priceIds: readonly string[]) => priceIds.map(encodeURIComponent).join(',')
  return {
    name: 'defillama',
    batchMax: 100,
    fetchPrices: async (priceIds) => {
      const { coins } = await get(LlamaAnswer, `${before}/prices/current/${join(priceIds)}`, {})
      const named = byName(coins)
      return priceIds.flatMap((id) => {
        const coin = named.get(id.toLowerCase())
        return toPrice(id, coin?.price, coin?.timestamp)
      })
    },
    past: {
      batchMax: llamaPast.batchMax,
      windowSeconds: llamaPast.hours * hour,
      reachSeconds: 400 * day,
      fetch: async (priceIds, { from, to }) => {
        const query = new URLSearchParams({
          start: String(from),
          span: String(Math.min(llamaPast.hours, Math.ceil((to - from) / hour))),
          period: '1h',
        })
        const { coins } = await get(LlamaPast, `${before}/chart/${join(priceIds)}?${query}`, {})
        const named = byName(coins)
        return priceIds.flatMap((id) =>
          (named.get(id.toLowerCase())?.prices ?? []).flatMap(({ price, timestamp }) => toPrice(id, price, timestamp)),
        )
      },
    },
  }
}

const byName = <T>(coins: Record<string, T>) =>
  new Map(Object.entries(coins).map(([id, coin]) => [id.toLowerCase(), coin]))

/** `GET /simple/price?ids=…&vs_currencies=usd&include_last_updated_at=true&precision=full`, and `GET /coins/{id}/market_chart/range`. */
function gecko(get: Get, key: string | undefined): PriceProvider {
  const headers: Record<string, string> = key === undefined ? {} : { 'x-cg-pro-api-key': key }
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
      const answer = await get(GeckoAnswer, `/simple/price?${query}`, headers)
      return priceIds.flatMap((id) => toPrice(id, answer[id]?.usd, answer[id]?.last_updated_at))
    },
    past: {
      batchMax: 1,
      // Of more than 90 days it tells one price a day.
      windowSeconds: 80 * day,
      // Without a paid key it tells of a year.
      reachSeconds: 364 * day,
      fetch: async ([id = ''], { from, to }) => {
        const query = new URLSearchParams({
          vs_currency: 'usd',
          from: String(from),
          to: String(to),
          precision: 'full',
        })
        const path = `/coins/${encodeURIComponent(id)}/market_chart/range?${query}`
        const { prices } = await get(GeckoPast, path, headers)
        return prices.flatMap(([ms, price]) =>
          toPrice(id, price, typeof ms === 'number' ? Math.floor(ms / 1_000) : undefined),
        )
      },
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
  if (!validator.Check(value)) throw new OutboundError('malformed', `${host} returned something other than prices`)
  return value as T.Static<S>
}
