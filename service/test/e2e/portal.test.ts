import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Json, openClient } from './client.js'
import { openPortal, type Portal, type PortalBrowser, readFigures, settle } from './portalInPage.js'
import { startTrustedDevnet, type TrustedDevnet } from './trustedDevnet.js'

let trusted: TrustedDevnet
let devnet: TrustedDevnet['devnet']
let browser: PortalBrowser
let client: ReturnType<typeof openClient>

beforeAll(async () => {
  trusted = await startTrustedDevnet('openearn-portal-')
  ;({ devnet } = trusted)
  client = openClient(devnet.dev)
  browser = await openPortal(devnet.dev)
}, 180_000)
afterAll(async () => {
  await browser?.close()
  await trusted?.close()
}, 60_000)

const vaultOf = (kind: string) => devnet.dev.opportunities.find((each) => each.kind === kind)!
const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${devnet.dev.baseUrl}${path}`, { headers, redirect: 'manual' })

/** Nothing failed, nothing was asked elsewhere. */
const expectQuiet = ({ failures, outside }: Portal) => expect([failures, outside]).toEqual([[], []])

describe('the files of the portal', () => {
  it('come with a strict policy, which no page frames, and are one page for all paths below', async () => {
    const pages = ['/portal', '/portal/', '/portal/portfolio', '/portal/opportunities/a', '/portal/a/b/c?x=1']
    for (const path of pages) {
      const response = await get(path)
      expect([path, response.status, response.headers.get('content-type')]).toEqual([
        path,
        200,
        'text/html; charset=utf-8',
      ])
      const policy = response.headers.get('content-security-policy') ?? ''
      for (const each of [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        'trusted-types openearn',
      ])
        expect(policy.split('; ')).toContain(each)
      const [, workers] = /; worker-src ([^;]+)/.exec(policy) ?? []
      expect(
        workers
          ?.split(' ')
          .every((each) => /^(http:\/\/)?127\.0\.0\.1:\d+\/portal\/files\/warm\.worker-[\w-]{8}\.js$/.test(each)),
      ).toBe(true)
      expect(policy).not.toMatch(/unsafe|\*/)
      expect(
        ['x-content-type-options', 'referrer-policy', 'access-control-allow-origin'].map((name) =>
          response.headers.get(name),
        ),
      ).toEqual(['nosniff', 'no-referrer', null])
      const html = await response.text()
      expect(html).not.toMatch(/<style|<script(?![^>]*src=)| style=| on\w+=/)
      const [, script = ''] = /src="([^"]+)"/.exec(html)!
      const file = await fetch(new URL(script, response.url))
      expect([path, file.status]).toEqual([path, 200])
    }
  })

  it('are kept for ever by their names, in brotli where the browser takes it; others are not there', async () => {
    const html = await (await get('/portal/')).text()
    const [, script = ''] = /src="([^"]+)"/.exec(html)!
    for (const encoding of ['br', 'identity']) {
      const file = await get(`/portal/${script}`, { 'accept-encoding': encoding })
      expect([file.headers.get('content-encoding'), file.headers.get('cache-control')]).toEqual([
        encoding === 'br' ? 'br' : null,
        'public, max-age=31536000, immutable',
      ])
    }
    for (const path of ['LICENCES.txt', 'x.js', '..%2f..%2fpackage.json', 'portal-x.js.br'])
      expect([path, (await get(`/portal/files/${path}`)).status]).toEqual([path, 404])
  })

  it('name a publishable key, the chains and the wallets of the devnet, and nothing secret', async () => {
    const response = await get('/portal/config.json')
    expect(response.headers.get('cache-control')).toBe('no-store')
    const config = (await response.json()) as Json
    expect(config).toMatchObject({ apiKey: devnet.dev.keys.publishable, distributorId: devnet.dev.distributorIds[0] })
    expect(config.chains.map(({ chainId }: { chainId: number }) => chainId)).toContain(31_337)
    expect(config.testWallet).toMatchObject({ chainId: 31_337, rpcUrl: devnet.dev.rpcUrl })
    const text = JSON.stringify(config)
    for (const secret of [devnet.dev.keys.secret, ...devnet.dev.accounts.map(({ privateKey }) => privateKey)])
      expect(text).not.toContain(secret)
  })

  it('are told first when the devnet is ready', () => {
    const lines = devnet.output().split('\n')
    const told = lines.indexOf(`portal: ${devnet.dev.baseUrl}/portal/`)
    expect(told).toBeGreaterThan(-1)
    expect(lines.findIndex((line) => line.startsWith('ready'))).toBe(told + 1)
  })
})

describe('the pages of the operator', () => {
  it('are opened by the token of dev.json on the operator listener, and by no other', async () => {
    const { opsUrl, operatorToken } = devnet.dev
    expect((await fetch(`${opsUrl}/operator/`)).headers.get('content-type')).toBe('text/html; charset=utf-8')
    const read = async (token: string) => {
      const headers = { authorization: `Bearer ${token}` }
      return (await fetch(`${opsUrl}/ops/v1/chains.json`, { headers })).json() as Promise<Json>
    }
    expect(await read(operatorToken)).toMatchObject({ data: [{ chainId: 31_337, state: 'live' }] })
    expect(await read(devnet.dev.keys.secret)).toMatchObject({ code: 401 })
    expect((await get('/operator/')).status).toBe(404)
  })
})

describe('the policy of the portal', () => {
  it('lets no text be a script or a worker, and nobody make another policy', async () => {
    const page = await browser.openPage()
    const refused = await page.tab.evaluate(() => {
      const { trustedTypes, Worker, document } = globalThis as unknown as Trusting
      const told = (act: () => unknown) => {
        try {
          act()
          return 'done'
        } catch (error) {
          return (error as Error).name
        }
      }
      const same = { createScriptURL: (text: string) => text, createScript: (text: string) => text }
      return [
        told(() => trustedTypes.createPolicy('openearn', same)),
        told(() => trustedTypes.createPolicy('default', same)),
        told(() => new Worker('/portal/files/own.js')),
        told(() => new Worker('data:text/javascript,0')),
        told(() => Object.assign(document.createElement('script'), { src: '/portal/files/own.js' })),
        told(() => Object.assign(document.createElement('script'), { text: '0' })),
        told(() => Object.assign(document.createElement('p'), { innerHTML: '<i></i>' })),
      ]
    })
    expect(refused).toEqual(Array(7).fill('TypeError'))
    await page.close()
  }, 60_000)
})

describe('the policy of the portal in a browser without trusted types', () => {
  it('lets the page make a worker of its one file, and of no other', async () => {
    const page = await browser.openPage()
    const { tab } = page
    await tab.route(page.home, async (route) => {
      const response = await route.fetch()
      const headers = response.headers()
      const policy = headers['content-security-policy']?.split('; ').filter((each) => !each.includes('trusted-types'))
      await route.fulfill({ response, headers: { ...headers, 'content-security-policy': policy?.join('; ') ?? '' } })
    })
    const own = tab.waitForResponse(/warm\.worker-[\w-]+\.js$/)
    await tab.reload()
    const file = (await own).url()
    const refused = await tab.evaluate(`new Promise((resolve) => {
      const refused = []
      const other = document.querySelector('script').src
      document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => {
        refused.push(effectiveDirective, blockedURI)
        if (blockedURI === other) resolve(refused)
      })
      new Worker('${file}', { type: 'module' })
      new Worker(other, { type: 'module' })
    })`)
    expect(refused).toEqual(['worker-src', expect.stringMatching(/\/portal-[\w-]+\.js$/)])
    await page.close()
  }, 60_000)
})

/** Parts of a page that the test touches. */
type Trusting = {
  trustedTypes: { createPolicy(name: string, rules: object): unknown }
  Worker: new (url: string) => unknown
  document: { createElement(name: string): object }
}

describe('the list', () => {
  it('opens no opportunity of the search before, which is about to move, while the answer to a new one is awaited', async () => {
    const page = await browser.openPage()
    const { tab } = page
    const rows = tab.locator('li[data-id] a')
    await rows.nth(1).waitFor()
    let answer: () => void = () => undefined
    const asked = new Promise<void>((resolve) => {
      answer = resolve
    })
    await tab.route(/[?&]search=/, async (route) => {
      await asked
      await route.continue()
    })
    await tab.getByRole('searchbox').fill('no vault has this name')
    await tab.locator('ul.list.stale').waitFor()
    const box = await rows.first().boundingBox()
    const before = new URL(tab.url()).pathname
    await tab.mouse.click(box!.x + 20, box!.y + 10)
    expect(
      await rows.first().evaluate((row) => (row as unknown as { matches(text: string): boolean }).matches('[inert] a')),
    ).toBe(true)
    expect(new URL(tab.url()).pathname).toBe(before)
    answer()
    await tab.locator('ul.list').waitFor({ state: 'detached' })
    await page.close()
  }, 60_000)

  it('shows the figures of the API, each exactly, written as the reader’s locale does', async () => {
    const { data } = await client.call(
      'GET',
      '/v2/opportunities/?includeDeltas=true&limit=20&sortBy=tvl&sortOrder=desc',
    )
    const page = await browser.openPage()
    const rows = await page.tab
      .locator('li[data-id]')
      .evaluateAll((all) => all.map((each) => (each as unknown as { dataset: { id: string } }).dataset.id))
    expect(rows).toEqual(data.map(({ id }: { id: string }) => id))
    const money = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', maximumFractionDigits: 0 })
    let compared = 0
    for (const vault of data) {
      for (const { name, value, text } of await readFigures(page.tab, `li[data-id="${vault.id}"]`)) {
        const told = name.split('.').reduce((at: Record<string, never>, member) => at[member]!, vault)
        expect([vault.name, name, value]).toEqual([vault.name, name, `${told}`])
        if (name === 'tvl' && Math.abs(Number(told)) >= 1_000) expect(text).toBe(money.format(Number(told)))
        compared++
      }
    }
    expect(compared).toBeGreaterThan(2 * data.length)
    const withheld = data.filter(
      (each: { deltas: { apy: { current: number | null } } }) => each.deltas.apy.current === null,
    )
    expect(await page.tab.locator('li[data-id]', { hasText: 'withheld' }).count()).toBe(withheld.length)
    expect(withheld.length).toBeGreaterThan(0)
    expectQuiet(page)
    await page.close()
  }, 60_000)

  it('is filtered and sorted by the API: the URL is the query, in it again after a reload and a step back', async () => {
    const page = await browser.openPage()
    const { tab } = page
    const asked: string[] = []
    tab.on('request', (request) => {
      const url = new URL(request.url())
      if (url.pathname.endsWith('/v2/opportunities/')) asked.push(url.search)
    })
    const count = () => tab.locator('li[data-id]').count()
    const all = await count()
    await tab.getByRole('combobox', { name: 'Token', exact: true }).selectOption('DAI')
    await expect.poll(count).toBeLessThan(all)
    const filtered = await count()
    expect(new URL(tab.url()).searchParams.get('depositTokenSymbols')).toBe('DAI')
    expect(new URLSearchParams(asked.at(-1)).get('depositTokenSymbols')).toBe('DAI')
    await tab.reload()
    await settle(tab)
    expect([await count(), await tab.getByRole('combobox', { name: 'Token', exact: true }).inputValue()]).toEqual([
      filtered,
      'DAI',
    ])
    await tab.locator('li[data-id] a').first().click()
    await tab.getByRole('link', { name: 'All opportunities' }).waitFor()
    await tab.goBack()
    await settle(tab)
    expect(new URL(tab.url()).searchParams.get('depositTokenSymbols')).toBe('DAI')
    await tab.getByRole('button', { name: 'Remove filters' }).click()
    await expect.poll(count).toBe(all)
    await tab.getByRole('searchbox').fill('no vault has this name')
    await tab.getByText('No opportunity fits.').waitFor()
    expect(new URL(tab.url()).searchParams.get('search')).toBe('no vault has this name')
    expectQuiet(page)
    await page.close()
  }, 60_000)
})

describe('an opportunity', () => {
  it('shows the figures of the API, and each series with its unit; the range stands in the URL', async () => {
    const { id, name } = vaultOf('erc4626')
    const vault = await client.call('GET', `/v2/opportunities/${id}?includeDeltas=true`)
    const page = await browser.openPage(`opportunities/${id}`)
    const { tab } = page
    expect(await tab.locator('h1').textContent()).toBe(vault.name)
    expect(name).toBe(vault.name)
    const figures = await readFigures(tab, '.tiles')
    // The past of a devnet may be read later: a figure that is not known yet is not there.
    const known = (['apy', 'lps'] as const).filter((each) => vault.deltas[each].current !== null)
    const moved = (['apy', 'tvl', 'lps'] as const).filter((each) => vault.deltas[each].d7 !== null)
    const names = ['estimatedApr', 'tvl', ...known.map((each) => `deltas.${each}.current`)]
    names.push(...moved.map((each) => `deltas.${each}.d7`))
    expect(figures.map((each) => each.name).sort()).toEqual(names.sort())
    for (const { name: member, value } of figures)
      expect([member, value]).toEqual([member, `${member.split('.').reduce((at, each) => at[each], vault)}`])
    const slider = tab.locator('[role=slider]')
    const base = `/v2/opportunities/${vault.chainId}/${vault.vaultAddress}/historical`
    for (const [button, path, member, text] of [
      ['TVL', '/tvl', 'tvl', /^\$[\d,]+/],
      ['Share price', '/share-price', 'sharePrice', /^[\d.,]+ \w+/],
      ['APY', '/apy', 'apy', /^-?[\d.,]+%/],
      ['APR', '/apr', 'apr', /^-?[\d.,]+%/],
      ['Depositors', '/lps', 'all', /^\d+, /],
    ] as const) {
      const answer = tab.waitForResponse((response) => new URL(response.url()).pathname === base + path)
      if (button === 'TVL') await page.go(`opportunities/${id}`)
      else await tab.getByRole('button', { name: button, exact: true }).click()
      const { data } = await (await answer).json()
      await settle(tab)
      if (data.length === 0) await tab.getByText('There is no value in this range.').waitFor()
      else {
        await expect.poll(() => slider.getAttribute('aria-label')).toBe(button)
        expect([button, await slider.getAttribute('aria-valuemax')]).toEqual([button, `${data.length - 1}`])
        expect(await slider.getAttribute('aria-valuetext')).toMatch(text)
        const last = data.at(-1)[member]
        const value = last.activeLps ?? last.total ?? (button === 'TVL' ? last.usd : last.native)
        const digits = (await slider.getAttribute('aria-valuetext'))!.split(/[ %]|, [A-Z]/)[0]!.replace(/[$,]/g, '')
        expect([button, Math.abs(Number(digits) - value) <= Math.max(0.5, value * 1e-9)]).toEqual([button, true])
      }
    }
    expectQuiet(page)
    await page.close()
  }, 60_000)

  it('has charts that are read by arrow keys, and in which a range is marked that the URL holds', async () => {
    const { id } = vaultOf('erc4626')
    const page = await browser.openPage(`opportunities/${id}?range=7d`)
    const { tab } = page
    const slider = tab.locator('[role=slider]')
    await slider.focus()
    await tab.keyboard.press('Home')
    const first = await slider.getAttribute('aria-valuetext')
    await tab.keyboard.press('ArrowRight')
    expect(await slider.getAttribute('aria-valuenow')).toBe('1')
    expect(await slider.getAttribute('aria-valuetext')).not.toBe(first)
    await slider.scrollIntoViewIfNeeded()
    const box = (await slider.boundingBox())!
    await tab.mouse.move(box.x + box.width * 0.4, box.y + 100)
    await tab.mouse.down()
    await tab.mouse.move(box.x + box.width * 0.7, box.y + 100, { steps: 4 })
    await tab.mouse.up()
    await expect.poll(() => new URL(tab.url()).searchParams.has('from')).toBe(true)
    const whole = tab.getByRole('button', { name: 'Whole' })
    await whole.waitFor()
    await tab.reload()
    await settle(tab)
    await whole.click()
    await expect.poll(() => new URL(tab.url()).searchParams.has('from')).toBe(false)
    expectQuiet(page)
    await page.close()
  }, 60_000)

  it('shows the two readings of a rate, enough to compute it again', async () => {
    const reading = (sharePrice: string, blockNumber: number) => ({
      ...{
        blockNumber,
        blockHash: `0x${'a'.repeat(64)}`,
        timestamp: '2026-01-01T00:00:00Z',
        priceUsd: null,
        sharePrice,
      },
      ...{ totalAssets: '1050000', totalSupply: '1000000', priceNumerator: '1' },
    })
    const rate = { base: 5.1, reward: 0, total: 5.1 }
    const inputs = { from: reading('1', 7), to: reading('1.05', 1_234) }
    const point = {
      timestamp: '2026-01-01T00:00:00Z',
      blockNumber: 1_234,
      apy: rate,
      effectiveIntervalSeconds: 31_536_000,
      inputs,
    }
    const told = { data: [point], method: { id: 'growth', version: '1', source: 'share-price' } }
    const { id } = vaultOf('erc4626')
    const page = await browser.openPage(`opportunities/${id}?chart=apy`, {
      answers: (path, body) => (path.endsWith('/historical/apy') ? told : body),
    })
    const { tab } = page
    expect(await tab.locator('[role=slider]').getAttribute('aria-valuetext')).toMatch(/^5\.10%, /)
    await tab.getByText('How this point is computed').click()
    expect(await tab.getByRole('row').allTextContents()).toEqual([
      'fromto',
      expect.stringMatching(/^Block7 .*1,234 /),
      expect.stringMatching(/^Time/),
      'Share price11.05',
      expect.stringMatching(/^Assets[\d,]+1,050,000$/),
      'Shares1,000,0001,000,000',
    ])
    expectQuiet(page)
    await page.close()
  }, 60_000)

  it('says why a figure is withheld', async () => {
    for (const { id, withheld } of devnet.dev.withheld) {
      const page = await browser.openPage(`opportunities/${id}?chart=apy`)
      const notice = page.tab.locator('.notice', { hasText: 'Withheld' })
      await notice.waitFor()
      expect((await notice.textContent())!.length, withheld).toBeGreaterThan(60)
      expect(await readFigures(page.tab, '.tile:first-child')).toEqual([])
      expect(page.outside).toEqual([])
      await page.close()
    }
  }, 60_000)

  it('that is not there, and an address that is none, say so', async () => {
    for (const path of ['opportunities/00000000-0000-4000-8000-000000000000', 'opportunities/x', 'nowhere', 'a/b/c']) {
      const page = await browser.openPage(path)
      expect([path, await page.tab.locator('h1').textContent()]).toEqual([path, expect.stringMatching(/^No such/)])
      expect(page.outside).toEqual([])
      await page.close()
    }
  }, 60_000)
})
