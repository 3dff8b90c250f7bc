import { describe, expect, it } from 'vitest'
import { fakeClock } from '../kernel/clock.js'
import { type Config, ConfigError } from '../kernel/config.js'
import { createOutbound } from '../kernel/outbound.js'
import { openPriceProvider } from './prices.js'
import { openSwapApis } from './swapApis.js'

const clock = fakeClock('2026-11-20T12:00:00Z')
const outbound = createOutbound(clock)
const openPrices = (settings: Partial<Config>) =>
  openPriceProvider({ priceProvider: 'defillama', priceUrl: undefined, priceKey: undefined, ...settings }, outbound)
const good = 'https://api.example'
const openApis = (enso: string, lifi = good) =>
  openSwapApis(
    { swapApis: { enso: { url: enso, key: undefined }, lifi: { url: lifi, key: undefined } } },
    { outbound, clock },
  )

/** Urls a setting may not have: the text must begin as one, and name nobody. */
const bad = [
  'api.example',
  'ftp://api.example',
  'xhttps://api.example',
  'see https://api.example',
  'https://a:b@api.example',
  'https:// api',
]

describe('the url of a service that is asked', () => {
  it('is taken over http and https', () => {
    for (const url of [good, 'http://127.0.0.1:8080/v1']) {
      expect(openPrices({ priceUrl: url })).toBeDefined()
      expect(openApis(url).enso.host).toBe(new URL(url).host)
    }
    expect(openPrices({ priceProvider: undefined, priceUrl: 'junk' })).toBeUndefined()
  })

  it.each(bad)('is refused where it is %s, for prices and for each service of swaps', (url) => {
    expect(() => openPrices({ priceUrl: url })).toThrow(ConfigError)
    expect(() => openApis(url)).toThrow(/^ENSO_URL must be/)
    expect(() => openApis(good, url)).toThrow(/^LIFI_URL must be/)
  })

  it('is asked of a provider of prices that is known only', () => {
    expect(() => openPrices({ priceProvider: 'oracle' as never })).toThrow(/PRICE_PROVIDER/)
  })
})
