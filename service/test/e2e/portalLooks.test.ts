import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { root } from '../documents.js'
import { findCut, openPortal, type PortalBrowser, settle } from './portalInPage.js'
import { listPages, player } from './portalPages.js'
import { startTrustedDevnet, type TrustedDevnet } from './trustedDevnet.js'
import { findFaults } from './widgetInPage.js'

let trusted: TrustedDevnet
let devnet: TrustedDevnet['devnet']
let browser: PortalBrowser

beforeAll(async () => {
  trusted = await startTrustedDevnet('openearn-portal-looks-')
  ;({ devnet } = trusted)
  browser = await openPortal(devnet.dev)
}, 180_000)
afterAll(async () => {
  await browser?.close()
  await trusted?.close()
}, 60_000)

/** Where OPENEARN_PICTURES names a folder, what was seen is kept there. */
const kept = process.env['OPENEARN_PICTURES']

const looks = [
  ['light', 1280],
  ['dark', 1280],
  ['dark', 360],
  ['light', 360],
] as const

/** Changes how an open page is looked at, and waits until it is drawn so. */
async function lookAs(tab: Page, theme: 'light' | 'dark', width: number): Promise<void> {
  await tab.emulateMedia({ colorScheme: theme })
  await tab.setViewportSize({ width, height: 900 })
  await tab.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
}

describe('every page', () => {
  it('has no fault that axe finds and cuts no text: light and dark, 1280 and 360 pixels', async () => {
    for (const [name, path] of Object.entries(listPages(devnet.dev))) {
      const page = await browser.openPage(path)
      for (const [theme, width] of looks) {
        const place = `${name}, ${theme}, ${width}`
        await lookAs(page.tab, theme, width)
        if (kept)
          await page.tab.screenshot({
            path: `${kept}/${name.replaceAll(' ', '-')}-${theme}-${width}.png`,
            fullPage: true,
          })
        expect([place, await findFaults(page.tab)]).toEqual([place, []])
        expect([place, await findCut(page.tab)]).toEqual([place, []])
      }
      expect([name, page.failures, page.outside]).toEqual([name, [], []])
      await page.close()
    }
  }, 480_000)
})

/** A series of so many points, a quarter of an hour apart, that end where there is none. */
function makeSeries(count: number) {
  const data = Array.from({ length: count }, (_, at) => {
    const native = 1_000 + (at % 97)
    return {
      ...{ timestamp: new Date(Date.UTC(2026, 0, 1) - (count - at) * 900_000).toISOString(), blockNumber: at },
      tvl: { native, usd: native },
    }
  })
  return { data, baseAsset: null }
}

describe('a page takes any amount of', () => {
  it('points: 100,000, one or none, which are read by keys and cut nothing', async () => {
    const path = `opportunities/${devnet.dev.opportunities[0]!.id}?range=all`
    for (const [count, text] of [
      [100_000, '$1,089'],
      [1, '$1,000'],
    ] as const) {
      const series = makeSeries(count)
      const page = await browser.openPage(path, {
        ...{ width: 360, answers: (asked, body) => (asked.endsWith('/historical/tvl') ? series : body) },
      })
      const slider = page.tab.locator('[role=slider]')
      await slider.waitFor()
      expect(await slider.getAttribute('aria-valuemax')).toBe(`${count - 1}`)
      expect(await slider.getAttribute('aria-valuetext')).toContain(text)
      await slider.focus()
      for (const key of ['Home', 'ArrowRight', 'PageUp', 'End', 'ArrowLeft']) await page.tab.keyboard.press(key)
      expect(await slider.getAttribute('aria-valuenow')).toBe(`${Math.max(0, count - 2)}`)
      // The line and its grid are there: other colours than the ground stand in the drawing.
      const drawn = await page.tab.evaluate(`{
        const canvas = document.querySelector('canvas')
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
        data.some((each, at) => at % 4 === 3 && each > 200)
      }`)
      expect([count, drawn, await findCut(page.tab)]).toEqual([count, true, []])
      expect([count, page.failures, page.outside]).toEqual([count, [], []])
      await page.close()
    }
    const empty = await browser.openPage(path, {
      answers: (asked, body) => (asked.endsWith('/historical/tvl') ? makeSeries(0) : body),
    })
    await empty.tab.getByText('There is no value in this range.').waitFor()
    expect([empty.failures, empty.outside]).toEqual([[], []])
    await empty.close()
  }, 120_000)

  it('positions: of 10,000 fifty are drawn, and fifty more when asked', async () => {
    const page = await browser.openPage(`portfolio/${player}`, { answers: (_, body) => multiply(body, 10_000) })
    const { tab } = page
    const earned = tab.locator('section[aria-labelledby=earnings] li')
    expect([await earned.count(), await tab.locator('section[aria-labelledby=holdings] li').count()]).toEqual([50, 50])
    await tab.getByRole('button', { name: 'Show more of 10,000' }).last().click()
    await expect.poll(() => earned.count()).toBe(100)
    expect([await findCut(tab), page.failures, page.outside]).toEqual([[], [], []])
    await page.close()
  }, 120_000)
})

/** A portfolio with so many positions, each of another vault. */
function multiply(body: unknown, count: number): unknown {
  const told = body as { portfolio?: Portfolio }
  if (!told.portfolio) return body
  const { holdings, productsEarnings } = told.portfolio
  const [wallet] = holdings.wallets
  const [protocol] = wallet!.protocols
  const [[item], [earning]] = [protocol!.portfolio_item_list, productsEarnings]
  const ids = Array.from({ length: count }, (_, at) => `00000000-0000-4000-8000-${`${at}`.padStart(12, '0')}`)
  const items = ids.map((id) => ({ ...item, opportunity_id: id, pool: { ...item!.pool, id } }))
  const protocols = [{ ...protocol, portfolio_item_list: items }]
  return {
    ...told,
    portfolio: {
      ...{ ...told.portfolio, holdings: { ...holdings, wallets: [{ ...wallet, protocols, tokens: [] }] } },
      productsEarnings: ids.map((opportunityId) => ({ ...earning, opportunityId })),
    },
  }
}
type Portfolio = {
  holdings: { wallets: { protocols: { portfolio_item_list: { pool: object }[] }[] }[] }
  productsEarnings: object[]
}

describe('a page that cannot be read', () => {
  it('says that it is offline, and goes on with what it has', async () => {
    const page = await browser.openPage()
    const rows = await page.tab.locator('li[data-id]').count()
    await page.tab.context().setOffline(true)
    await page.tab.getByText('You are offline. Figures are those that were read last.').waitFor()
    expect(await page.tab.locator('li[data-id]').count()).toBe(rows)
    await page.tab.context().setOffline(false)
    await page.tab.getByText('You are offline').waitFor({ state: 'detached' })
    await page.close()
  }, 60_000)

  it.each([
    ['UNAUTHORIZED', 401, 'The key of this page is no longer accepted'],
    ['RESOURCE_EXHAUSTED', 429, 'The budget of this page is used up for now'],
    ['INTERNAL', 500, 'This could not be read'],
  ])(
    'tells of %s, and reads again when asked',
    async (status, code, text) => {
      const page = await browser.openPage()
      let isRefused = true
      await page.tab.route(`${devnet.dev.baseUrl}/v2/opportunities/**`, (route) => {
        if (!isRefused) return route.continue()
        const json = { code, status, error: 'no', context: { retryable: false } }
        return route.fulfill({ status: code, json })
      })
      await page.tab.reload()
      await page.tab.getByRole('alert').filter({ hasText: text }).waitFor()
      isRefused = false
      await page.tab.getByRole('button', { name: 'Try again' }).first().click()
      await page.tab.locator('li[data-id]').first().waitFor()
      expect(await findFaults(page.tab)).toEqual([])
      await page.close()
    },
    60_000,
  )

  it('shows that it reads before it knows anything', async () => {
    const page = await browser.openPage()
    let release: () => void = () => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.tab.route(`${devnet.dev.baseUrl}/v2/opportunities/**`, async (route) => {
      await held
      await route.continue()
    })
    await page.tab.reload()
    await page.tab.getByRole('status', { name: 'Loading opportunities' }).waitFor()
    expect(await findFaults(page.tab)).toEqual([])
    release()
    await page.tab.locator('li[data-id]').first().waitFor()
    await page.close()
  }, 60_000)
})

describe('the theme and the locale', () => {
  it('are those of the system until the reader chooses a theme, which a reload keeps', async () => {
    const page = await browser.openPage('', { theme: 'dark', locale: 'de-DE' })
    const { tab } = page
    const background = () => tab.evaluate('getComputedStyle(document.documentElement).backgroundColor')
    const dark = await background()
    await tab.getByRole('button', { name: /^Colours: as the system/ }).click()
    expect(await background()).not.toBe(dark)
    await tab.reload()
    await settle(tab)
    await tab.getByRole('button', { name: /^Colours: light/ }).waitFor()
    expect(await background()).not.toBe(dark)
    expect(await tab.locator('[data-name=tvl]').first().textContent()).toMatch(/^[\d.]+\s\$$/)
    await page.close()
  }, 60_000)
})

describe('README.md', () => {
  it('begins with a picture of the list, as a browser shows it', async () => {
    const readme = await readFile(`${root}README.md`, 'utf8')
    const [, path = ''] = /!\[[^\]]*\]\(([^)]+\.png)\)/.exec(readme) ?? []
    const page = await browser.openPage('', { width: 1280, height: 800 })
    const picture = await page.tab.screenshot()
    if (kept) await page.tab.screenshot({ path: `${kept}/readme.png` })
    await page.close()
    const shown = await readFile(`${root}${path}`)
    const sizeOf = (png: Buffer) => [png.readUInt32BE(16), png.readUInt32BE(20)]
    expect([shown.subarray(1, 4).toString(), sizeOf(shown)]).toEqual(['PNG', sizeOf(picture)])
    expect(readme.indexOf(path)).toBeLessThan(readme.indexOf('## Run it'))
  }, 60_000)
})
