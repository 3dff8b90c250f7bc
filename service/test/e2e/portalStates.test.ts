import type { Route } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../contracts/test/until.js'
import { openClient } from './client.js'
import { openPortal, type PortalBrowser, settle } from './portalInPage.js'
import { listPages, player } from './portalPages.js'
import { startTrustedDevnet, type TrustedDevnet } from './trustedDevnet.js'
import { findFaults } from './widgetInPage.js'

let trusted: TrustedDevnet
let dev: TrustedDevnet['devnet']['dev']
let browser: PortalBrowser

beforeAll(async () => {
  trusted = await startTrustedDevnet('openearn-portal-states-')
  dev = trusted.devnet.dev
  browser = await openPortal(dev)
  const client = openClient(dev)
  await until('the wallet to have earned', async () => {
    const { portfolio } = await client.call('GET', `/v2/wallet/${player}/portfolio`)
    return portfolio.productsEarnings.length > 0
  })
}, 180_000)
afterAll(async () => {
  await browser?.close()
  await trusted?.close()
}, 60_000)

/** Pages that read nothing. */
const still = ['portfolio of nobody', 'methodology', 'nowhere']

describe('every page that reads', () => {
  it('says that it reads, says what could not be read, and reads again when asked', async () => {
    const { tab, home, close } = await browser.openPage('methodology')
    let answer: (route: Route) => unknown = (route) => route.continue()
    await tab.route(`${dev.baseUrl}/v2/**`, (route) => answer(route))
    const fail = (route: Route) => {
      const json = { code: 500, status: 'INTERNAL', error: 'it broke', context: { retryable: false } }
      return route.fulfill({ status: 500, json }).catch(() => undefined)
    }
    const reading = Object.entries(listPages(dev)).filter(([name]) => !still.includes(name))
    const seen: unknown[] = []
    for (const [name, path] of reading) {
      const held: Route[] = []
      answer = (route) => held.push(route)
      await tab.goto(home + path)
      // Its program is there, and what it reads is not.
      await tab.locator('h1').first().waitFor()
      await tab.locator('.loading').first().waitFor()
      seen.push([name, await findFaults(tab)])
      answer = fail
      for (const route of held) await fail(route)
      await settle(tab)
      await tab.getByRole('alert').filter({ hasText: 'This could not be read' }).first().waitFor()
      seen.push([name, await findFaults(tab)])
      answer = (route) => route.continue()
      const again = tab.getByRole('button', { name: 'Try again' })
      while ((await again.count()) > 0) {
        await again
          .first()
          .click()
          .catch(() => undefined)
        await settle(tab)
      }
      expect([name, await tab.getByRole('alert').filter({ hasText: 'could not be read' }).count()]).toEqual([name, 0])
    }
    expect(seen).toEqual(
      reading.flatMap(([name]) => [
        [name, []],
        [name, []],
      ]),
    )
    await close()
  }, 240_000)
})

describe('a page without anything to show', () => {
  it('says so, and why', async () => {
    const { tab, go, close, failures } = await browser.openPage('methodology')
    const [code] = dev.distributorIds
    let none: Record<string, unknown> | undefined
    await tab.route(`${dev.baseUrl}/v2/**`, async (route) => {
      const response = await route.fetch()
      const json = await response.json()
      const lists = Object.keys(none ?? {}).filter((each) => Array.isArray(json[each]))
      await route.fulfill({ response, json: lists.length > 0 ? { ...json, ...none } : json })
    })
    const nobody = `portfolio/0x${'d'.repeat(40)}`
    for (const [path, texts, answers] of [
      ['', ['No opportunity is listed yet.'], { data: [] }],
      ['?search=nothing+like+this', ['No opportunity fits.']],
      ['?page=99', ['There is no such page of the list.']],
      [`opportunities/${'0'.repeat(8)}`, ['This service lists no opportunity with this id.']],
      [
        nobody,
        [
          ...['This wallet holds nothing that the service knows.', 'No request of this wallet is known.'],
          ...['No deposit of this wallet is known.', 'No deposit or withdrawal of this wallet is verified.'],
          'No reward of this wallet is known.',
        ],
      ],
      [`portfolio/${player}?month=2999-01`, ['This is not a month that has begun.']],
      ['portfolio/nobody', ['This is not the address of a wallet.']],
      ['portfolio', ['No wallet is shown.']],
      [`distributor/${code}/ledger`, ['No entry is here.'], { data: [] }],
      [`distributor/${code}/streams`, ['There is no stream yet.'], { streams: [] }],
      [`distributor/${code}/nowhere`, ['There is no such view.']],
      ['attribution', ['Paste a transaction.']],
      ['nowhere', ['There is nothing at this address.']],
    ] as [string, string[], Record<string, unknown>?][]) {
      none = answers
      await go(path)
      for (const text of texts) await tab.getByText(text, { exact: true }).first().waitFor()
      expect([path, await findFaults(tab)]).toEqual([path, []])
    }
    expect(failures).toEqual([])
    await close()
  }, 240_000)
})
