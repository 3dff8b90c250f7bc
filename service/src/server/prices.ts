import { type Config, ConfigError } from '../kernel/config.js'
import type { Outbound } from '../kernel/outbound.js'
import { openProvider, type PriceProvider } from '../prices/index.js'

/** The public services. */
const urls = {
  defillama: { open: 'https://coins.llama.fi', keyed: 'https://pro-api.llama.fi' },
  coingecko: { open: 'https://api.coingecko.com/api/v3', keyed: 'https://pro-api.coingecko.com/api/v3' },
} as const

/** The provider of prices of the settings; undefined: nobody is asked. */
export function openPriceProvider(
  { priceProvider: kind, priceUrl, priceKey }: Pick<Config, 'priceProvider' | 'priceUrl' | 'priceKey'>,
  outbound: Outbound,
): PriceProvider | undefined {
  if (kind === undefined) return undefined
  if (kind !== 'defillama' && kind !== 'coingecko')
    throw new ConfigError('PRICE_PROVIDER must be defillama or coingecko')
  if (priceUrl !== undefined && !/^https?:\/\/[^@\s]+$/.test(priceUrl))
    throw new ConfigError('PRICE_URL must be an http or https url without a user name')
  const url = priceUrl ?? urls[kind][priceKey === undefined ? 'open' : 'keyed']
  return openProvider(outbound, { kind, url, key: priceKey })
}
