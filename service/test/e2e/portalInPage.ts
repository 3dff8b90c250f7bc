import type { Browser, Page } from 'playwright-core'
import { patience } from '../../../contracts/test/patience.js'
import { openChromium } from '../chromium.js'
import type { Answer } from './portalNumbers.js'
import type { Dev } from './process.js'
import { tellPage } from './tellPage.js'

export type View = {
  width?: number
  height?: number
  theme?: 'light' | 'dark'
  locale?: string
  /** Changes what the service says before the page reads it. */
  answers?: (path: string, body: unknown) => unknown
}

export type PortalBrowser = Awaited<ReturnType<typeof openPortal>>
export type Portal = Awaited<ReturnType<PortalBrowser['openPage']>>

/** The portal of a devnet in a browser, started with further words. */
export async function openPortal(dev: Dev, words: readonly string[] = []) {
  const browser: Browser = await openChromium(words)
  const home = `${dev.baseUrl}/portal/`

  const openPage = async (path = '', view: View = {}) => {
    const { width = 1280, height = 900, theme = 'light', locale = 'en-US', answers } = view
    const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, locale })
    context.setDefaultTimeout(30_000 * patience)
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: new URL(dev.baseUrl).origin })
    const failures: string[] = []
    const outside: string[] = []
    /** What the service told this page, and what is left of its key's hour by each answer. */
    const answered: Promise<Answer>[] = []
    const tab = await context.newPage()
    tellPage(tab)
    tab.on('pageerror', (error) => failures.push(String(error)))
    tab.on('console', (message) => {
      // A refusal of the service is shown in the page; the browser notes it here as well.
      if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) failures.push(message.text())
    })
    const own = [new URL(dev.baseUrl).origin, new URL(dev.rpcUrl).origin]
    tab.on('request', (request) => {
      if (!own.includes(new URL(request.url()).origin)) outside.push(request.url())
    })
    tab.on('response', (response) => {
      if (!response.url().startsWith(`${dev.baseUrl}/v2/`)) return
      const [limit, used, remaining] = ['limit', 'used', 'remaining'].map(
        (each) => response.headers()[`x-ratelimit-${each}`],
      )
      const url = response.url()
      // One that the page gave up has no body.
      const body = response.json().catch(() => null)
      answered.push(
        Promise.resolve({ url: 'the budget', body: { budget: { limit, used, remaining } } }),
        body.then((each: unknown) => ({ url, body: each })),
      )
    })
    if (answers)
      await tab.route(`${dev.baseUrl}/v2/**`, async (route) => {
        const response = await route.fetch()
        const json = answers(new URL(route.request().url()).pathname, await response.json())
        await route.fulfill({ response, json })
      })
    const go = async (to: string) => {
      await tab.goto(home + to)
      await settle(tab)
    }
    await go(path)
    const close = async () => {
      // An answer that is on its way is nobody's any more.
      await tab.unrouteAll({ behavior: 'ignoreErrors' })
      await context.close()
    }
    return { tab, go, failures, outside, answered, home, close }
  }
  return { dev, home, openPage, close: () => browser.close() }
}

/** Waits until a page has a title of its own and shows no part that is still being read. */
export async function settle(tab: Page): Promise<void> {
  await tab.locator('h1').first().waitFor()
  // The page's policy lets no text be run, so nothing waits within it.
  while ((await tab.locator('.loading').count()) > 0)
    await tab.locator('.loading').first().waitFor({ state: 'detached' })
}

/** The figures of an element: the names of their members, the exact values, and the texts. */
export const readFigures = (tab: Page, selector: string): Promise<{ name: string; value: string; text: string }[]> =>
  tab
    .locator(selector)
    .evaluateAll((elements) =>
      elements.flatMap((element) =>
        [
          ...(element as unknown as { querySelectorAll(selector: string): Iterable<Figure> }).querySelectorAll(
            'data[data-name]',
          ),
        ].map((each) => ({ name: each.dataset['name'] ?? '', value: each.value, text: each.textContent ?? '' })),
      ),
    )
type Figure = { dataset: Record<string, string | undefined>; value: string; textContent: string | null }

/** Texts that are cut or stand outside of the window, in the page and in the shadow roots of the widget's parts. */
export const findCut = (tab: Page): Promise<string[]> =>
  tab.evaluate(`(() => {
    const cut = []
    const roots = [document, ...[...document.querySelectorAll('[data-openearn]')].map((each) => each.shadowRoot)]
    for (const root of roots)
      for (const each of root.querySelectorAll('.figure, button, p, li, h1, h2, h3, label, span, bdi, dd, dt, code')) {
        if (each.closest('.scroll, .skip, dialog:not([open]), .label')) continue
        const box = each.getBoundingClientRect()
        if (box.width === 0) continue
        const isInline = getComputedStyle(each).display === 'inline'
        if (!isInline && each.scrollWidth > each.clientWidth + 1) cut.push('cut: ' + each.outerHTML.slice(0, 160))
        if (box.right > innerWidth + 1 || box.left < -1) cut.push('outside: ' + each.outerHTML.slice(0, 160))
      }
    if (document.documentElement.scrollWidth > innerWidth) cut.push('the page')
    return cut
  })()`)
