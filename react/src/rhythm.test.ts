import { readFileSync } from 'node:fs'
import { createEarnClient, type EarnClient } from '@openearn/sdk'
import { environmentManager, InfiniteQueryObserver, QueryClient, QueryObserver } from '@tanstack/react-query'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { isOfWallet, opportunitiesQuery, portfolioQuery, requestsQuery } from './queries.js'
import { createRhythm, follow, paces, pauseOf, type Rhythm } from './rhythm.js'

const document = JSON.parse(readFileSync(new URL('../../service/openapi.json', import.meta.url), 'utf8'))
const address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
/** Units of each path, as the document has them. */
const costs: [RegExp, number][] = [
  '/v2/wallet/{address}/portfolio',
  '/v2/wallets/{address}/requests',
  '/v2/opportunities/',
].map((path) => [new RegExp(`${path.replace('{address}', '[^/]+')}(\\?|$)`), document.paths[path].get['x-cost']])

/** A service that notes what it is asked for, and says how much of the key's hour is left. */
function openService(left = 1_000) {
  const asked: string[] = []
  const fetch = async (url: URL | RequestInfo) => {
    asked.push(String(url))
    const headers = { 'x-ratelimit-limit': '1000', 'x-ratelimit-remaining': String(left) }
    return new Response(JSON.stringify({ data: [], pagination: { page: 1, totalPages: 1, total: 0 } }), { headers })
  }
  const units = () => asked.reduce((sum, url) => sum + (costs.find(([path]) => path.test(url))?.[1] ?? Number.NaN), 0)
  return {
    asked,
    units,
    earn: createEarnClient({ baseUrl: 'https://earn.example', fetch: fetch as typeof globalThis.fetch }),
  }
}

/** What the hooks of a page do: each query is watched, with its pauses. */
function watch(earn: EarnClient, rhythm: Rhythm) {
  const queries = new QueryClient()
  queries.mount()
  const client = follow(earn, rhythm)
  const catalogue = new InfiniteQueryObserver(queries, {
    ...opportunitiesQuery(client),
    refetchInterval: (query) => pauseOf(query, paces.catalogue, rhythm),
  })
  const portfolio = new QueryObserver(queries, {
    ...portfolioQuery(client, { address }),
    refetchInterval: (query) => pauseOf(query, paces.portfolio, rhythm),
  })
  const requests = new QueryObserver(queries, {
    ...requestsQuery(client, { address }),
    refetchInterval: (query) => pauseOf(query, paces.wallet, rhythm),
  })
  const ends = [
    catalogue.subscribe(() => undefined),
    portfolio.subscribe(() => undefined),
    requests.subscribe(() => undefined),
  ]
  return { queries, portfolio, close: () => ends.map((end) => end()) }
}

const begin = 1_795_000_000_000
const minutes = (count: number) => vi.advanceTimersByTimeAsync(count * 60_000)

beforeEach(() => {
  vi.useFakeTimers({ now: begin })
  // As in a page: on a server nothing is read again.
  environmentManager.setIsServer(() => false)
})
afterEach(() => {
  environmentManager.setIsServer(() => true)
  vi.useRealTimers()
})

describe('the pauses of a page', () => {
  it('cost at most 60 units an hour, with catalogue, portfolio and requests on it', async () => {
    const { asked, units, earn } = openService()
    const { close } = watch(earn, createRhythm())
    await minutes(60)
    close()
    expect(units()).toBeLessThanOrEqual(60)
    expect(asked.filter((url) => url.includes('/portfolio')).length).toBeGreaterThan(2)
  })

  it('grow by their factor, as those of the poller of the sdk, and end at the longest', async () => {
    const { asked, earn } = openService()
    const { close } = watch(earn, createRhythm())
    const count = () => asked.filter((url) => url.includes('/portfolio')).length
    const seen: number[] = []
    let at = 0
    for (const minute of [0.5, 1.5, 4.5, 5.5, 20.5, 21.5, 80.5, 81.5, 140.5, 141.5]) {
      await minutes(minute - at)
      at = minute
      seen.push(count())
    }
    close()
    // After 1, 4, 16, 60 and 60 minutes.
    expect(seen).toEqual([1, 2, 2, 3, 3, 4, 4, 5, 5, 6])
  })

  it('do not begin anew when the page is drawn again', async () => {
    const { asked, earn } = openService()
    const rhythm = createRhythm()
    const { portfolio, close } = watch(earn, rhythm)
    for (let turn = 0; turn < 120; turn++) {
      await vi.advanceTimersByTimeAsync(1_000)
      portfolio.setOptions({
        ...portfolioQuery(earn, { address }),
        refetchInterval: (query) => pauseOf(query, paces.portfolio, rhythm),
      })
    }
    close()
    expect(asked.filter((url) => url.includes('/portfolio'))).toHaveLength(2)
  })

  it('are short again after something was done', async () => {
    const { asked, earn } = openService()
    const rhythm = createRhythm()
    const { queries, close } = watch(earn, rhythm)
    await minutes(30)
    const before = asked.length
    rhythm.since = begin + 30 * 60_000
    await queries.invalidateQueries({ predicate: isOfWallet })
    await minutes(1.5)
    close()
    const after = asked.slice(before).map((url) => url.replace(/.*\//, ''))
    expect(after.sort()).toEqual(['portfolio', 'portfolio', 'requests', 'requests'])
  })

  it('are four times as long while less than a tenth of the hour is left', async () => {
    const { asked, earn } = openService(99)
    const { close } = watch(earn, createRhythm())
    await minutes(3.9)
    expect(asked.filter((url) => url.includes('/requests'))).toHaveLength(1)
    await minutes(0.2)
    close()
    expect(asked.filter((url) => url.includes('/requests'))).toHaveLength(2)
  })

  it('are kept after an error too', async () => {
    let count = 0
    const fetch = async () => {
      count++
      return new Response('{"code":403,"status":"FORBIDDEN","error":"no"}', { status: 403 })
    }
    const earn = createEarnClient({ baseUrl: 'https://earn.example', fetch })
    const { close } = watch(earn, createRhythm())
    await minutes(0.9)
    expect(count).toBe(3)
    await minutes(0.2)
    close()
    expect(count).toBe(5)
  })
})
