import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { patience } from '../../../contracts/test/patience.js'
import { openChromium } from '../chromium.js'
import { openOperatorWorld, operatorToken } from '../operatorWorld.js'
import { spoilRows } from './hostileTexts.js'
import { findCut, settle } from './portalInPage.js'
import { openRecordingProxy } from './recordingProxy.js'
import { findFaults } from './widgetInPage.js'

let world: Awaited<ReturnType<typeof openOperatorWorld>>
let browser: Browser
let proxy: Awaited<ReturnType<typeof openRecordingProxy>>
let base: string
beforeAll(async () => {
  world = await openOperatorWorld()
  base = await world.earn.service.opsApp.listen({ host: '127.0.0.1', port: 0 })
  proxy = await openRecordingProxy([base])
  browser = await openChromium(proxy.words)
}, 60_000)
afterAll(async () => {
  await browser?.close()
  await proxy?.close()
  await world?.close()
})

/** The pages by their path, each with its lists. */
const pages = {
  '': ['chains', 'vaults'],
  jobs: ['jobs'],
  sending: ['senders', 'transactions'],
  solver: ['settlements'],
  streams: ['streams'],
  keys: ['keys'],
  catalogue: ['imports'],
  changes: ['changes'],
} as const

type Row = Record<string, unknown>
type Answer = { at: string; data: Row[] }
type View = { width?: number; theme?: 'light' | 'dark'; token?: string | null; answers?: (name: string) => unknown }

/** A page of the operator, opened with the token unless told otherwise, and what failed in it. */
async function openPage(path = '', { width = 1280, theme = 'light', token = operatorToken, answers }: View = {}) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: theme, locale: 'en-US' })
  context.setDefaultTimeout(30_000 * patience)
  const [failures, outside]: [string[], string[]] = [[], []]
  const tab = await context.newPage()
  tab.on('pageerror', (error) => failures.push(String(error)))
  tab.on('console', (message) => {
    // A refusal of the service is shown in the page; the browser notes it here as well.
    if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) failures.push(message.text())
  })
  tab.on('request', (request) => {
    if (!request.url().startsWith(`${base}/`)) outside.push(request.url())
  })
  /** The lists as the page read them last: how long a job is due is another number at each instant. */
  const told = new Map<string, Promise<Answer>>()
  tab.on('response', (response) => {
    const [, name] = /\/ops\/v1\/(\w+)\.json$/.exec(response.url()) ?? []
    if (name === undefined) return
    const answer = response.json() as Promise<Answer>
    // The browser forgets an answer of a page that was left: it matters only to who asks for it.
    answer.catch(() => undefined)
    told.set(name, answer)
  })
  if (answers)
    await tab.route(`${base}/ops/v1/*.json`, async (route) => {
      const [, name = ''] = /(\w+)\.json$/.exec(route.request().url()) ?? []
      const told = answers(name)
      await (told === undefined ? route.continue() : route.fulfill(told as Parameters<typeof route.fulfill>[0]))
    })
  await tab.goto(`${base}/operator/${path}`)
  const enter = async (typed: string) => {
    await tab.getByLabel('Operator token').fill(typed)
    await tab.getByRole('button', { name: 'Open' }).click()
  }
  if (token !== null) {
    await enter(token)
    await tab.getByRole('navigation', { name: 'Operator' }).waitFor()
    await settle(tab)
  }
  return { tab, enter, told, failures, outside, close: () => context.close() }
}

const read = async (name: string): Promise<Answer> => {
  const headers = { authorization: `Bearer ${operatorToken}` }
  return (await fetch(`${base}/ops/v1/${name}.json`, { headers })).json() as Promise<Answer>
}

/** The members by which the page names a row. */
const ids: Record<string, readonly string[]> = {
  chains: ['chainId'],
  vaults: ['chainId', 'vaultAddress'],
  jobs: ['name'],
  senders: ['chainId', 'address'],
}
const idOf = (name: string, row: Row): string => (ids[name] ?? ['id']).map((member) => row[member]).join(' ')

type Figure = { name: string; value: string; text: string }
type Shown = { id: string; figures: Figure[]; text: string }

/** A member of a row by its path. */
const memberOf = (row: Row, path: string): unknown =>
  path.split('.').reduce((at: unknown, name) => (at as Row)[name], row)

const readRows = (tab: Awaited<ReturnType<typeof openPage>>['tab'], name: string): Promise<Shown[]> =>
  tab.evaluate(`[...document.querySelectorAll('li[data-list="${name}"]')].map((row) => ({
    id: row.dataset.id,
    text: row.textContent,
    figures: [...row.querySelectorAll('data, time')].map((each) => ({
      name: each.dataset.name, value: each.value ?? each.dateTime, text: each.textContent })),
  }))`)

describe('the pages of the operator', () => {
  it('come with a strict policy and without a figure, and not from the public listener', async () => {
    for (const path of ['/operator', '/operator/', '/operator/jobs', '/operator/a/b?x=1']) {
      const response = await fetch(base + path)
      const policy = response.headers.get('content-security-policy')?.split('; ')
      expect([path, response.status, policy]).toEqual([
        path,
        200,
        [
          ...[
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self'",
            "font-src 'self'",
            "base-uri 'none'",
          ],
          ...["form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"],
          ...["trusted-types 'none'", "worker-src 'none'", "connect-src 'self'"],
        ],
      ])
      const named = ['x-content-type-options', 'referrer-policy', 'x-frame-options', 'cache-control']
      expect(named.map((name) => response.headers.get(name))).toEqual(['nosniff', 'no-referrer', 'DENY', 'no-store'])
      const html = await response.text()
      expect(html).not.toMatch(/<style|<script(?![^>]*src=)| style=| on\w+=/)
      const [, script = ''] = /src="([^"]+)"/.exec(html) ?? []
      expect([path, (await fetch(new URL(script, response.url))).status]).toEqual([path, 200])
      expect((await world.earn.request('GET', path)).status).toBe(404)
    }
    const headers = { host: 'rebound.example' }
    expect((await world.earn.service.opsApp.inject({ url: '/operator/', headers })).statusCode).toBe(403)
  })

  it('show each number and instant exactly as the lists have it', async () => {
    let compared = 0
    for (const [path, names] of Object.entries(pages)) {
      const page = await openPage(path)
      for (const name of names) {
        const { data } = (await page.told.get(name)) as Answer
        const rows = await readRows(page.tab, name)
        expect([name, data.map((row) => idOf(name, row))]).toEqual([
          name,
          (await read(name)).data.map((row) => idOf(name, row)),
        ])
        expect([name, rows.map(({ id }) => id).sort()]).toEqual([name, data.map((row) => idOf(name, row)).sort()])
        for (const { id, figures } of rows) {
          const row = data.find((each) => idOf(name, each) === id) as Row
          for (const { name: member, value } of figures)
            expect([name, id, member, value]).toEqual([name, id, member, `${memberOf(row, member)}`])
          compared += figures.length
        }
      }
      expect([path, page.failures, page.outside]).toEqual([path, [], []])
      await page.close()
    }
    expect(compared).toBeGreaterThanOrEqual(75)
  }, 120_000)

  it('show what an import changed, each member before and after, and what was not kept of an older one', async () => {
    const page = await openPage('catalogue')
    await page.tab.getByText('What changed').click()
    await page.tab.getByText('name: "a product" → "a product changed"').waitFor()
    const [row, older] = await readRows(page.tab, 'imports')
    expect(row?.figures.map(({ name, value }) => [name, value])).toEqual([
      ...[
        ['at', expect.any(String)],
        ['added', '2'],
        ['changed', '1'],
        ['removed', '1'],
        ['more', '7'],
      ],
    ])
    expect(row?.text).toContain('openearn catalogue import FILE')
    expect([older?.figures.map(({ name }) => name), older?.text]).toEqual([
      ['at'],
      expect.stringContaining('What it changed was not kept then.'),
    ])
    expect([await findCut(page.tab), page.failures, page.outside]).toEqual([[], [], []])
    await page.close()
  }, 60_000)

  it('write amounts in whole coins, ages by the clock of the service, and what needs somebody first', async () => {
    const page = await openPage('sending')
    const senders = await readRows(page.tab, 'senders')
    const spent = senders.map(({ figures }) => figures.find(({ name }) => name === 'spentDay')?.text)
    expect(spent).toEqual(['0', '0.002734', '0.0061'])
    expect(senders[0]?.text).toContain('it has a transaction that is not ours')
    const [held] = await readRows(page.tab, 'transactions')
    expect(held?.id).toBe(world.transactions.held)
    expect(held?.text).toContain('held: its key lacks the funds')
    expect(held?.text).toContain('2 hours ago')
    await page.close()
  }, 60_000)

  it('show for each act its command, which names the row, and change nothing themselves', async () => {
    const methods = new Set<string>()
    const wanted = {
      '': ['openearn chains rewind 1 --to BLOCK', `openearn chains refetch ${world.chainId} --from BLOCK --to 990`],
      sending: [`openearn sender cancel ${world.transactions.sent}`, 'openearn sender release 0x'],
      solver: [`openearn orders stop ${world.settlements.open.orderId}`],
      streams: [
        `openearn streams veto ${world.streams.fresh}`,
        `openearn streams watch-root ${world.streams.doubted}`,
        `openearn streams resume ${world.streams.alarmed} commits`,
      ],
      keys: ['openearn keys revoke ', 'openearn keys leak-drill '],
    }
    const before = await world.db`select from operator_changes`
    for (const [path, commands] of Object.entries(wanted)) {
      const page = await openPage(path)
      page.tab.on('request', (request) => methods.add(request.method()))
      const text = (await page.tab.locator('main').textContent()) ?? ''
      for (const command of commands) expect(text).toContain(command)
      await page.tab
        .getByText(/^Commands?$/)
        .first()
        .click()
      expect(await page.tab.locator('details[open] .command').first().isVisible()).toBe(true)
      await page.close()
    }
    expect(await world.db`select from operator_changes`).toHaveLength(before.length)
    const streams = await openPage('streams')
    const queued = (await readRows(streams.tab, 'streams')).find(({ id }) => id === world.streams.queued)
    expect(queued?.text).not.toContain('streams veto')
    await streams.close()
  }, 120_000)

  it('follow the URL by menu, step back and keyboard, and ask for the token again after a reload', async () => {
    const { tab, close } = await openPage()
    await tab.getByRole('link', { name: 'Keys' }).press('Enter')
    await tab.getByRole('heading', { name: 'Keys', level: 1 }).waitFor()
    expect(tab.url()).toBe(`${base}/operator/keys`)
    await tab.goBack()
    await tab.getByRole('heading', { name: 'Chains', level: 1 }).waitFor()
    const kept = await tab.evaluate('JSON.stringify([localStorage, sessionStorage, document.cookie, location.href])')
    expect(kept).not.toContain(operatorToken)
    await tab.reload()
    await tab.getByLabel('Operator token').waitFor()
    expect(await tab.locator('[data-list]').count()).toBe(0)
    await close()
  }, 60_000)
})

describe('a token', () => {
  it('that is not the one of the service is refused with a sentence, and one that cannot be it is not sent', async () => {
    const { tab, enter, close } = await openPage('', { token: null })
    const asked: string[] = []
    tab.on('request', (request) => {
      if (!request.url().endsWith('.woff2')) asked.push(request.url())
    })
    const alert = tab.getByRole('alert')
    for (const typed of ['', 'short', 'ü'.repeat(40)]) {
      await enter(typed)
      await alert.filter({ hasText: 'at least 32 visible characters' }).waitFor()
    }
    expect(asked).toEqual([])
    await enter('x'.repeat(32))
    await alert.filter({ hasText: 'this is not the operator token' }).waitFor()
    expect(await findFaults(tab)).toEqual([])
    await enter(` ${operatorToken} `)
    await tab.getByRole('navigation', { name: 'Operator' }).waitFor()
    await close()
  }, 60_000)

  it('that is over while a page is open takes all that was read with it, and says why', async () => {
    let isOver = false
    const error = 'the operator token has expired; set a new OPERATOR_TOKEN and its OPERATOR_TOKEN_UNTIL'
    const refused = { status: 401, json: { code: 401, status: 'UNAUTHORIZED', error } }
    const { tab, close } = await openPage('keys', { answers: () => (isOver ? refused : undefined) })
    expect(await tab.locator('[data-list]').count()).toBeGreaterThan(0)
    isOver = true
    await tab.getByRole('link', { name: 'Jobs' }).click()
    await tab.getByRole('alert').filter({ hasText: 'has expired' }).waitFor()
    expect(await tab.locator('[data-list]').count()).toBe(0)
    isOver = false
    await tab.getByLabel('Operator token').fill(operatorToken)
    await tab.getByRole('button', { name: 'Open' }).click()
    await tab.locator('[data-list=jobs]').first().waitFor()
    await tab.getByRole('button', { name: 'Close' }).click()
    expect(await tab.locator('[data-list]').count()).toBe(0)
    await close()
  }, 60_000)
})

describe('a list', () => {
  it('that is being read, is empty or cannot be read says so, and is read again when asked', async () => {
    let told: unknown
    let release: () => void = () => undefined
    const { tab, close } = await openPage('', { answers: (name) => (name === 'keys' ? told : undefined) })
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    await tab.route(`${base}/ops/v1/changes.json`, async (route) => {
      await held
      await route.continue()
    })
    await tab.getByRole('link', { name: 'Changes' }).click()
    await tab.getByRole('status', { name: 'Loading changes' }).waitFor()
    expect(await findFaults(tab)).toEqual([])
    release()
    await tab.locator('[data-list=changes]').first().waitFor()
    told = { status: 500, json: { code: 500, status: 'INTERNAL', error: 'it broke' } }
    await tab.getByRole('link', { name: 'Keys' }).click()
    await tab.getByRole('alert').filter({ hasText: 'it broke' }).waitFor()
    expect(await findFaults(tab)).toEqual([])
    told = { status: 200, json: { at: '2026-11-20T12:00:00.000Z', data: [] } }
    await tab.getByRole('button', { name: 'Try again' }).click()
    await tab.getByText('There is no key: openearn keys create makes one.').waitFor()
    expect(await findFaults(tab)).toEqual([])
    await close()
  }, 60_000)

  it('stays as it was read while there is no network, and one that was not read says that', async () => {
    const { tab, close } = await openPage('jobs')
    await tab.context().setOffline(true)
    await tab.getByText('You are offline. Figures are those that were read last.').waitFor()
    expect(await tab.locator('[data-list=jobs]').count()).toBe(2)
    await tab.getByRole('link', { name: 'Keys' }).click()
    await tab.getByRole('alert').filter({ hasText: 'You are offline' }).waitFor()
    expect(await findFaults(tab)).toEqual([])
    await tab.context().setOffline(false)
    await tab.getByRole('button', { name: 'Try again' }).click()
    await tab.locator('[data-list=keys]').first().waitFor()
    await close()
  }, 60_000)
})

/** Where OPENEARN_PICTURES names a folder, what was seen is kept there. */
const kept = process.env['OPENEARN_PICTURES']

describe('every page', () => {
  it.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 360],
    ['dark', 360],
  ] as const)(
    'has no fault that axe finds and cuts no text: %s, %d pixels',
    async (theme, width) => {
      for (const path of [...Object.keys(pages), 'nowhere', null]) {
        const page = await openPage(path ?? '', { theme, width, ...(path === null ? { token: null } : {}) })
        const name = path === '' ? 'chains' : (path ?? 'token')
        for (const summary of await page.tab.locator('summary').all()) await summary.click()
        if (kept) await page.tab.screenshot({ path: `${kept}/operator-${name}-${theme}-${width}.png`, fullPage: true })
        expect([name, await findFaults(page.tab)]).toEqual([name, []])
        expect([name, await findCut(page.tab)]).toEqual([name, []])
        expect([name, proxy.takeAsked(), proxy.reports]).toEqual([name, [base], []])
        expect([name, page.failures, page.outside]).toEqual([name, [], []])
        await page.close()
      }
    },
    120_000,
  )

  it('takes any text as a text: nothing runs, nothing is cut or wider than the window, nothing that it names is asked for', async () => {
    const spoiled = new Set<string>()
    for (const [path, names] of Object.entries(pages)) {
      const lists = new Map<string, Answer>()
      for (const name of names) {
        const { data, ...list } = await read(name)
        lists.set(name, { ...list, data: spoilRows(data, spoiled) })
      }
      const page = await openPage(path, {
        width: 360,
        answers: (name) => (lists.has(name) ? { status: 200, json: lists.get(name) } : undefined),
      })
      for (const name of names)
        expect([name, await page.tab.locator(`[data-list=${name}]`).count()]).toEqual([
          name,
          lists.get(name)?.data.length,
        ])
      for (const summary of await page.tab.locator('summary').all()) await summary.click()
      for (const width of [360, 1280]) {
        await page.tab.setViewportSize({ width, height: 900 })
        expect([path, width, await findCut(page.tab)]).toEqual([path, width, []])
      }
      expect([path, await page.tab.evaluate('globalThis.ran')]).toEqual([path, undefined])
      expect([path, proxy.takeAsked(), proxy.reports]).toEqual([path, [base], []])
      expect([path, page.failures, page.outside]).toEqual([path, [], []])
      await page.close()
    }
    // Of whatever form: these are members of the lists of any devnet.
    const least = [
      'alarm',
      'command',
      'error',
      'hint',
      'name',
      'oldestReason',
      'osUser',
      'purpose',
      'reason',
      'stopped',
    ]
    expect([...spoiled]).toEqual(expect.arrayContaining(least))
  }, 120_000)
})
