import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createEarnClient } from '../client/index.js'
import { createPoller, opportunitiesOf, portfolioOf, requestsOf, type Subject } from './index.js'

const document = JSON.parse(readFileSync(new URL('../../../service/openapi.json', import.meta.url), 'utf8'))
const costOf = (path: string): number => document.paths[path].get['x-cost']
/** Units of each operation, as the document has them. */
const costs: Record<string, number> = {
  portfolio: costOf('/v2/wallet/{address}/portfolio'),
  requests: costOf('/v2/wallets/{address}/requests'),
  opportunities: costOf('/v2/opportunities/'),
}
const address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

/** A service that counts, and a clock that the test moves: a wait ends when its time has come. */
function open(options: { remaining?: number; hidden?: boolean } = {}) {
  const state = { now: 0, remaining: options.remaining ?? 10_000, version: 1, fails: false }
  const asked: { at: number; path: string; status: number }[] = []
  const waits: { until: number; end: () => void }[] = []
  const page = {
    hidden: options.hidden ?? false,
    listeners: [] as (() => void)[],
    addEventListener: (_: string, listener: () => void) => void page.listeners.push(listener),
    show: () => {
      page.hidden = false
      for (const listener of page.listeners.splice(0)) listener()
    },
  }
  const earn = createEarnClient({
    baseUrl: 'https://earn.example',
    retries: 0,
    fetch: async (input, init) => {
      const { pathname } = new URL(String(input))
      const name = Object.keys(costs).find((each) => pathname.includes(each)) ?? ''
      const isSame = new Headers(init?.headers).get('if-none-match') === `"${state.version}"`
      const status = state.fails ? 503 : isSame ? 304 : 200
      asked.push({ at: state.now, path: name, status })
      const headers = {
        ...{ 'x-request-cost': String(costs[name]), 'x-ratelimit-limit': '10000' },
        ...{ 'x-ratelimit-remaining': String(state.remaining), etag: `"${state.version}"` },
      }
      return new Response(status === 304 ? null : JSON.stringify({ name, version: state.version }), { status, headers })
    },
  })
  const pause = (milliseconds: number, signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      waits.push({ until: state.now + milliseconds, end: resolve })
      signal.addEventListener('abort', () => resolve())
    })
  const rest = async () => {
    for (let turn = 0; turn < 20; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
  }
  /** Time passes, and whoever waited for it goes on. */
  const pass = async (milliseconds: number) => {
    const end = state.now + milliseconds
    await rest()
    for (;;) {
      const next = waits.filter(({ until }) => until <= end).sort((a, b) => a.until - b.until)[0]
      if (!next) break
      waits.splice(waits.indexOf(next), 1)
      state.now = Math.max(state.now, next.until)
      next.end()
      await rest()
    }
    state.now = end
  }
  const units = () => asked.reduce((sum, { path }) => sum + (costs[path] ?? 0), 0)
  return { state, asked, page, poller: createPoller({ earn, pause, page }), pass, units }
}

const minute = 60_000
const nothing = { onValue: () => undefined }

describe('a page that is open for an hour', () => {
  it('costs at most 60 units: its portfolio, its requests and a list, each shown in three places', async () => {
    const { poller, pass, units, asked } = open()
    for (let part = 0; part < 3; part++)
      for (const subject of [portfolioOf(address), requestsOf(address.toLowerCase()), opportunitiesOf()])
        poller.watch(subject as Subject<unknown>, nothing)
    await pass(60 * minute)
    expect(units()).toBeLessThanOrEqual(60)
    expect(units()).toBeGreaterThan(30)
    const minutesOf = (path: string) => asked.filter((each) => each.path === path).map(({ at }) => at / minute)
    expect(minutesOf('portfolio')).toEqual([0, 1, 5, 21])
    expect(minutesOf('requests')).toEqual([0, 1, 4, 13, 40])
    expect(minutesOf('opportunities')).toEqual([0, 15, 45])
    // The list is the same.
    expect(asked.filter(({ path }) => path === 'opportunities').map(({ status }) => status)).toEqual([200, 304, 304])
  })

  it('costs nothing while nobody sees it, and reads at once when it is seen', async () => {
    const { poller, pass, asked, page } = open({ hidden: true })
    poller.watch(portfolioOf(address), nothing)
    await pass(60 * minute)
    expect(asked).toEqual([])
    page.show()
    await pass(0)
    expect(asked).toHaveLength(1)
  })

  it('is read a quarter as often while less than a tenth of the budget is left', async () => {
    const { poller, pass, asked } = open({ remaining: 999 })
    poller.watch(requestsOf(address), nothing)
    await pass(60 * minute)
    expect(asked.map(({ at }) => at / minute)).toEqual([0, 4, 16, 52])
  })
})

describe('what is watched', () => {
  it('is told to whoever comes later at once, and is read no more when nobody is left', async () => {
    const { poller, pass, asked } = open()
    const seen: unknown[] = []
    const first = poller.watch(portfolioOf(address), nothing)
    await pass(0)
    const second = poller.watch(portfolioOf(address), { onValue: (value) => seen.push(value) })
    expect([seen.length, asked.length]).toEqual([1, 1])
    first()
    await pass(minute)
    expect([seen.length, asked.length]).toEqual([2, 2])
    second()
    await pass(60 * minute)
    expect(asked).toHaveLength(2)
  })

  it('is read anew by who comes after the last one left, a list of the same ETag too, and once for all', async () => {
    const { poller, pass, asked } = open()
    const list = opportunitiesOf()
    const seen: unknown[] = []
    const watch = () => poller.watch(list, { onValue: (value) => seen.push(value) })
    const first = watch()
    await pass(0)
    first()
    const [second, third] = [watch(), watch()]
    await pass(minute)
    expect([seen.length, asked.map(({ status }) => status)]).toEqual([3, [200, 200]])
    await pass(20 * minute)
    expect(asked).toHaveLength(3)
    // Ended twice, it ends nobody else.
    first()
    second()
    second()
    poller.refresh()
    await pass(minute)
    expect(asked).toHaveLength(4)
    third()
    poller.refresh()
    await pass(120 * minute)
    expect(asked).toHaveLength(4)
  })

  it('is read at once, and often again, after something was done', async () => {
    const { poller, pass, asked } = open()
    poller.watch(portfolioOf(address), nothing)
    await pass(10 * minute)
    expect(asked.map(({ at }) => at / minute)).toEqual([0, 1, 5])
    poller.refresh()
    await pass(minute)
    expect(asked.map(({ at }) => at / minute)).toEqual([0, 1, 5, 10, 11])
    poller.refresh('another')
    await pass(minute)
    expect(asked).toHaveLength(5)
  })

  it('tells an error and goes on; it ends where nothing can change any more', async () => {
    const { poller, pass, asked, state } = open()
    const [values, errors]: [unknown[], unknown[]] = [[], []]
    state.fails = true
    const subject = { ...requestsOf(address), isOver: (value: unknown) => (value as { version: number }).version === 2 }
    poller.watch(subject, { onValue: (value) => values.push(value), onError: (error) => errors.push(error) })
    await pass(0)
    expect([values.length, errors.length]).toEqual([0, 1])
    Object.assign(state, { fails: false, version: 2 })
    await pass(60 * minute)
    expect([values.length, asked.length]).toEqual([1, 2])
  })

  it('is told to an object with methods of its own class, and twice where it watches twice', async () => {
    class Part {
      readonly told: unknown[] = []
      onValue(value: unknown) {
        this.told.push(value)
      }
    }
    const { poller, pass } = open()
    const part = new Part()
    const ends = [poller.watch(portfolioOf(address), part), poller.watch(portfolioOf(address), part)]
    await pass(0)
    expect(part.told).toHaveLength(2)
    for (const end of ends) end()
  })
})
