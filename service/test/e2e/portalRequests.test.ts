import { afterAll, beforeAll, expect, it } from 'vitest'
import { openClient } from './client.js'
import { hostileText, spoilAnswer } from './hostileTexts.js'
import { findCut, openPortal, type PortalBrowser, settle } from './portalInPage.js'
import { listPages } from './portalPages.js'
import { openWithWallet } from './portalWallet.js'
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

it('no request of a page leaves the origin of page and API, and no page is kept from one by its policy', async () => {
  const { origin } = new URL(dev.baseUrl)
  for (const [name, path] of Object.entries(listPages(dev))) {
    const page = await browser.openPage(path)
    expect([name, proxy.takeAsked()]).toEqual([name, [origin]])
    expect([name, proxy.reports, page.failures]).toEqual([name, [], []])
    await page.close()
  }
}, 240_000)

it('texts of strangers are texts on every page: nothing runs, nothing is cut, and nothing that they name is asked for', async () => {
  const { origin } = new URL(dev.baseUrl)
  const spoiled = new Set<string>()
  const answers = (asked: string, body: unknown) => spoilAnswer(asked, body, spoiled)
  const view = { width: 360, answers }
  const [code] = dev.distributorIds
  const { data } = await openClient(dev).call('GET', `/v2/interactions/?distributorId=${dev.distributorIds[2]}`)
  const tx = `tx=${data[0].txHash}&chainId=31337`
  const lookUps = { 'look-up of a deposit': `attribution?${tx}`, check: `distributor/${code}/check?${tx}` }
  const own = { 'opportunity with a wallet': listPages(dev).opportunity, 'own portfolio': 'portfolio' }
  for (const [name, path] of Object.entries({ ...listPages(dev), ...lookUps, ...own })) {
    const isOwn = name in own
    const page = await (isOwn
      ? openWithWallet(browser, path, 'Test wallet with deposits', view)
      : browser.openPage(path, view))
    if (isOwn) await page.tab.waitForLoadState('networkidle')
    for (const summary of await page.tab.locator('main summary').all()) await summary.click()
    await settle(page.tab)
    for (const width of [360, 1280]) {
      await page.tab.setViewportSize({ width, height: 900 })
      expect([name, width, await findCut(page.tab)]).toEqual([name, width, []])
    }
    expect([name, await page.tab.evaluate('globalThis.ran')]).toEqual([name, undefined])
    const node = isOwn ? [new URL(dev.rpcUrl).origin] : []
    const others = proxy.takeAsked().filter((each) => ![origin, ...node].includes(each))
    expect([name, others, proxy.reports]).toEqual([name, [], []])
    expect([name, page.failures, page.outside]).toEqual([name, [], []])
    await page.close()
  }
  const least = [
    'name',
    'symbol',
    'description',
    'reason',
    'protocol',
    'distributorId',
    'opportunityName',
    'explorerUrl',
  ]
  expect([...spoiled]).toEqual(expect.arrayContaining(least))
}, 240_000)

it('the proxy and the reports see a page that would ask elsewhere', async () => {
  const page = await browser.openPage()
  proxy.takeAsked()
  await page.tab.evaluate((markup) => {
    const { document } = globalThis as unknown as Page
    const picture = document.createElement('img')
    picture.src = /http[^"]+/.exec(markup)?.[0] ?? ''
    document.body.append(picture)
  }, hostileText)
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
