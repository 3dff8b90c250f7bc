import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPortal, type PortalBrowser } from './portalInPage.js'
import { listPages } from './portalPages.js'
import { openRecordingProxy } from './recordingProxy.js'
import { startTrustedDevnet, type TrustedDevnet } from './trustedDevnet.js'

let trusted: TrustedDevnet
let dev: TrustedDevnet['devnet']['dev']
let proxy: Awaited<ReturnType<typeof openRecordingProxy>>
let browser: PortalBrowser
beforeAll(async () => {
  trusted = await startTrustedDevnet('openearn-portal-requests-')
  ;({ dev } = trusted.devnet)
  proxy = await openRecordingProxy([new URL(dev.baseUrl).origin, new URL(dev.rpcUrl).origin])
  browser = await openPortal(dev, proxy.words)
}, 180_000)
afterAll(async () => {
  await browser?.close()
  await proxy?.close()
  await trusted?.close()
}, 60_000)

const hostile = '<img src="http://elsewhere.example/a.png"><script src="http://elsewhere.example/a.js"></script>'

it('no request of a page leaves the origin of page and API, and no page is kept from one by its policy', async () => {
  const { origin } = new URL(dev.baseUrl)
  for (const [name, path] of Object.entries(listPages(dev))) {
    const page = await browser.openPage(path)
    expect([name, proxy.takeAsked()]).toEqual([name, [origin]])
    expect([name, proxy.reports, page.failures]).toEqual([name, [], []])
    await page.close()
  }
}, 240_000)

it('the proxy and the reports see a page that would ask elsewhere', async () => {
  const page = await browser.openPage()
  proxy.takeAsked()
  await page.tab.evaluate((markup) => {
    const { document } = globalThis as unknown as Page
    const picture = document.createElement('img')
    picture.src = /http[^"]+/.exec(markup)?.[0] ?? ''
    document.body.append(picture)
  }, hostile)
  await expect.poll(() => proxy.reports.join()).toContain('http://elsewhere.example/a.png')
  expect(proxy.takeAsked()).toEqual([])
  // A page without a policy asks elsewhere, and the proxy has it.
  await page.tab.goto(`${new URL(dev.rpcUrl).origin}/`)
  await page.tab.goto('http://elsewhere.example/').catch(() => undefined)
  expect(proxy.takeAsked()).toContain('http://elsewhere.example')
  proxy.reports.length = 0
  await page.close()
}, 60_000)

/** What the test touches of a page. */
type Page = { document: { createElement(tag: string): { src: string }; body: { append(element: unknown): void } } }
