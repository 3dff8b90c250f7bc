import type { Trust } from '@openearn/sdk'
import { source } from 'axe-core'
import type { Frame, FrameLocator, Page } from 'playwright-core'
import { patience } from '../../../contracts/test/patience.js'
import { bundle, type ReactVersion } from '../../../react/test/bundles.js'
import { type HooksApp, openHooks } from './hooksInPage.js'
import type { Dev } from './process.js'
import type { WalletOptions } from './wallet.js'

const program = '<script type="module" src="/entry.js"></script>'
const pageOf = (head: string, body = '<main><h1>A page</h1><div data-widget></div></main>') =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
  <title>loading</title>${head}<body>${body}${program}</body></html>`

/** Rules of a page that spoil whatever they reach. */
const hostile = `
html { font-size: 3px !important; color: red !important; text-align: right !important; line-height: .2 !important;
  letter-spacing: 40px !important; word-spacing: 90px !important; text-transform: uppercase !important; visibility: visible; }
* { display: inline !important; color: red !important; font: 3px/1 fantasy !important; opacity: .1 !important;
  background: red !important; transform: scale(.1) !important; pointer-events: none !important; position: absolute !important;
  white-space: nowrap !important; max-width: 9px !important; text-indent: -999px !important; filter: blur(9px) !important; }
main, [data-widget], body, html { display: block !important; position: static !important; transform: none !important; opacity: 1 !important;
  max-width: none !important; filter: none !important; }
button, input, section, h2 { display: none !important; visibility: hidden !important; }
::before, ::after { content: "overlay" !important; }`

const policy = (connect: string) =>
  [
    ...[`default-src 'none'`, `script-src 'self'`, `style-src 'self'`, `connect-src ${connect}`],
    ...[`require-trusted-types-for 'script'`, `trusted-types 'none'`],
  ].join('; ')

export type WidgetApp = HooksApp
export type Shown = Awaited<ReturnType<typeof show>>

/** Pages with the widget: plain, with hostile styles, with a strict policy, and with two of them. */
export async function openWidgets(dev: Dev, trust: Trust, version: ReactVersion = 19): Promise<WidgetApp> {
  const files = await bundle('../../widget/test/page.tsx', version, 'browser')
  const strict = `<meta http-equiv="Content-Security-Policy" content="${policy(new URL(dev.baseUrl).origin)}">`
  files.set('index.html', pageOf(''))
  files.set('strict.html', pageOf(strict))
  files.set('hostile.html', pageOf('<link rel="stylesheet" href="/hostile.css">'))
  files.set('hostile.css', hostile)
  files.set('two.html', pageOf('', '<main><div data-widget></div><div data-widget></div></main>'))
  return openHooks({ dev, trust }, { files })
}

/** The parts of a widget, in a page or in the frame of one. */
export function tellWidget(root: Page | FrameLocator) {
  const button = (name: string | RegExp) => root.getByRole('button', { name, exact: true })
  const amount = root.getByRole('form', { name: /deposit/i }).getByRole('textbox')
  const panel = (name: string) => root.getByRole('region', { name, exact: true })
  /** Opens a vault of the list by its name. */
  const open = async (name: string) => {
    await button('Vaults').click()
    await root.getByRole('searchbox').fill(name)
    await root.getByRole('button', { name }).first().click()
    await root.getByRole('heading', { name, level: 2 }).waitFor()
  }
  /** Says yes to each request of a flow until it shows one of these statuses. */
  const finish = async (name: string, status: string | RegExp) => {
    const region = panel(name)
    const end = region.getByRole('status').filter({ hasText: status })
    const word = region.getByRole('button', { name: goes })
    for (;;) {
      await end.or(word).first().waitFor()
      if (await end.isVisible()) return region
      await word.click({ timeout: 5_000 * patience }).catch(() => undefined)
    }
  }
  const closePanel = (name: string) => panel(name).getByRole('button', { name: 'Close' }).click()
  return { root, button, amount, panel, open, finish, closePanel }
}

/** The button before each request of the wallet. */
export const goes = /^(Go|I read it, go) to the wallet$/

/** The widget in a page, with the wallet of an account of the devnet. */
export async function show(
  app: WidgetApp,
  at: number,
  path = '',
  given: object = {},
  scripts: readonly string[] = [],
  options?: WalletOptions,
) {
  const { dev } = app
  const account = dev.accounts[at]!.address
  const settings = { baseUrl: dev.baseUrl, apiKey: dev.keys.publishable, account, distributorId: dev.distributorIds[0] }
  const all = JSON.stringify({ ...settings, locale: 'en', ...given })
  const page = await app.openPage(at, {}, [...scripts, `globalThis.given = ${all}`], options)
  const tab = page.page
  // Less than a test has, so that a failure says which part did not come.
  page.context.setDefaultTimeout(20_000 * patience)
  const go = async () => {
    await tab.goto(`${app.pages.origin}/${path}`)
    await tab.waitForFunction('document.title === "ready"')
  }
  await go()
  const counted = (method: RegExp) => page.asked.filter((each) => method.test(each)).length
  const told = () => tab.evaluate('told') as Promise<{ drawings: number; violations: string[] }>
  return { ...page, ...tellWidget(tab), tab, go, counted, told }
}

/** What axe finds in a page as it is shown, within shadow roots too. */
export async function findFaults(page: Page | Frame): Promise<string[]> {
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(source)
  const found: { violations: { id: string; nodes: { target: unknown; html: string }[] }[] } = await page.evaluate(
    `axe.run(document, { resultTypes: ['violations'] })`,
  )
  return found.violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`))
}

/** Figures that are cut, and whether the page is wider than its window. */
export const findCut = (page: Page | Frame): Promise<string[]> =>
  page.evaluate(`(() => {
    const cut = []
    for (const host of document.querySelectorAll('[data-openearn]'))
      for (const each of host.shadowRoot.querySelectorAll('.figure, button, p, li, h2, h3, label, span, bdi')) {
        const display = getComputedStyle(each).display
        const box = display === 'inline' ? undefined : each
        if (box && box.scrollWidth > box.clientWidth + 1 && box.clientWidth > 0) cut.push(each.outerHTML.slice(0, 160))
        const right = each.getBoundingClientRect()
        if (right.right > innerWidth + 1 || right.left < -1) cut.push('outside: ' + each.outerHTML.slice(0, 160))
      }
    if (document.documentElement.scrollWidth > innerWidth) cut.push('the page')
    return cut
  })()`)
