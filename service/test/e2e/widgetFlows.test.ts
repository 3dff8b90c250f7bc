import type { Trust } from '@openearn/sdk'
import type { Address } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { patience } from '../../../contracts/test/patience.js'
import { until } from '../../../contracts/test/until.js'
import { devAccount } from '../../src/cli/dev/anvil.js'
import { openClient } from './client.js'
import { openEmbed } from './embedInPage.js'
import { announced } from './hooksInPage.js'
import { settleRequests } from './settleRequests.js'
import { meetAll, waitUntilLeft } from './troubles.js'
import { startTrustedDevnet, type TrustedDevnet } from './trustedDevnet.js'
import { delegate, type WalletOptions } from './wallet.js'
import { goes, openWidgets, show, type tellWidget, type WidgetApp } from './widgetInPage.js'

let trusted: TrustedDevnet
let dev: TrustedDevnet['devnet']['dev']
let trust: Trust
let app: WidgetApp
let embed: Awaited<ReturnType<typeof openEmbed>>
/** The accounts 8 and 9 take several calls at once. */
let batcher: WalletOptions['batcher']
const names: Record<string, string> = {}

beforeAll(async () => {
  trusted = await startTrustedDevnet('openearn-widget-flows-')
  ;({ trust } = trusted)
  dev = trusted.devnet.dev
  const client = openClient(dev)
  for (const kind of ['erc4626', 'erc7540'])
    names[kind] = (await client.call('GET', `/v2/opportunities/${find(kind).id}`)).name
  for (const at of [5, 6, 7, 8, 9, 10]) await client.join(dev.accounts[at]!.privateKey)
  for (const at of [8, 9]) batcher = await delegate(dev, at)
  app = await openWidgets(dev, trust)
  embed = await openEmbed(trusted)
}, 180_000)
afterAll(async () => {
  await app?.close()
  await embed?.close()
  await trusted?.close()
}, 60_000)

const find = (kind: string) => dev.opportunities.find((each) => each.kind === kind)!

type Shown = ReturnType<typeof tellWidget> & Omit<Awaited<ReturnType<typeof show>>, 'told'>

/** Carries a flow to its end. Before each request all stands in its way that may, and the page is loaded again there and after it. */
async function insist(
  page: Shown,
  panel: string,
  end: string,
  meets: 'everything' | 'what a signature meets' = 'everything',
) {
  const { mood, go, counted } = page
  const region = page.panel(panel)
  const status = region.getByRole('status').filter({ hasText: end })
  const button = region.getByRole('button', { name: goes })
  const alert = (text: RegExp) => region.getByRole('alert').filter({ hasText: text })
  const asked = () => counted(/^(eth_send|eth_sign|personal_|wallet_sendCalls)/)
  for (;;) {
    await status.or(button).first().waitFor()
    if (await status.isVisible()) return
    const before = asked()
    await meetAll(page, meets === 'everything', async ({ text }) => {
      await button.click()
      await alert(text).waitFor()
      await button.waitFor()
    })
    expect(asked()).toBe(before)
    await go()
    await button.waitFor()
    if (meets === 'everything') mood.leavesFor = 1
    await button.click()
    await until('the wallet to be asked', () => asked() > before, 1_500 * patience)
    if (meets !== 'everything') {
      // The button stays until there is something else to show.
      await button.waitFor({ state: 'detached' })
      continue
    }
    await waitUntilLeft(mood)
    await alert(/another chain/).waitFor()
    Object.assign(mood, { chain: undefined, account: undefined, leavesFor: undefined })
    await go()
  }
}

// Tests that run at once have accounts of their own: an allowance that another one gives is a step less to ask for.
describe.concurrent.each([
  ['a page', 3, 5, 8, 7, 17],
  ['the frame of a page', 4, 6, 9, 10, 18],
] as const)('the widget in %s', (place, first, second, batching, switching, holder) => {
  const open = (at: number, options?: WalletOptions): Promise<Shown> =>
    place === 'a page' ? show(app, at, '', { trust }, [], options) : embed.show(at, options)

  it('links, deposits, requests, claims, cancels and withdraws, with a no, a reload, another chain and another account at each step', async () => {
    const page = await open(first)
    const requests = page.root.getByRole('region', { name: 'Requests' })
    const deposit = async (kind: string, amount: string) => {
      await page.open(names[kind]!)
      await page.amount.fill(amount)
      await page.button(kind === 'erc7540' ? 'Request a deposit' : 'Deposit').click()
      await insist(page, 'Deposit', kind === 'erc7540' ? 'Requested' : 'Done.')
      await page.closePanel('Deposit')
    }
    const withdraw = async (kind: string) => {
      await page.open(names[kind]!)
      const form = page.root.getByRole('form', { name: /withdraw/i })
      await form.getByRole('button', { name: 'All' }).click()
      await form.getByRole('button', { name: /withdraw/i }).click()
      await insist(page, 'Withdraw', kind === 'erc7540' ? 'Requested' : 'Done.')
      await page.closePanel('Withdraw')
    }
    const take = async (name: 'Claim' | 'Cancel', panel: string) => {
      await page.button('Yours').click()
      await requests.getByRole('button', { name }).click()
      await insist(page, panel, 'Done.')
      await page.closePanel(panel)
    }
    await page.open(names['erc7540']!)
    await page.button('Link the wallet').click()
    await insist(page, 'Link the wallet', 'The wallet is linked.', 'what a signature meets')
    await page.closePanel('Link the wallet')
    await deposit('erc7540', '5')
    await deposit('erc4626', '1.5')
    await withdraw('erc4626')
    await settleRequests(dev, page.address as Address)
    await take('Claim', 'Claim')
    await withdraw('erc7540')
    await page.open(names['erc7540']!)
    await page.amount.fill('6')
    await page.button('Request a deposit').click()
    await page.finish('Deposit', 'Requested')
    await page.closePanel('Deposit')
    await take('Cancel', 'Cancel')
    await settleRequests(dev, page.address as Address)
    await take('Claim', 'Withdraw')
    expect(page.counted(/personal_sign/)).toBe(1)
    // Two for each deposit, one for each of the others.
    expect(page.counted(/^eth_sendTransaction$/)).toBe(3 * 2 + 5)
    expect(page.failures).toEqual([])
    await page.close()
  }, 300_000)

  it('deposits the native token, swapped on the way, with the same at each step', async () => {
    const page = await open(second)
    await page.open(names['erc4626']!)
    await page.root.getByLabel('Token').selectOption('native')
    await page.amount.fill('0.01')
    await page.button('Deposit').click()
    await page.root.getByText(/a deposit of 0\.01 [A-Z]+$/).waitFor()
    await insist(page, 'Deposit', 'Done.')
    expect(page.failures).toEqual([])
    await page.close()
  }, 120_000)

  it('deposits by one batch where the wallet takes several calls at once, with the same at its step', async () => {
    const page = await open(batching, { batcher })
    await page.open(names['erc4626']!)
    await page.amount.fill('2')
    await page.button('Deposit').click()
    await insist(page, 'Deposit', 'Done.')
    expect([page.counted(/^wallet_sendCalls$/), page.counted(/^eth_sendTransaction$/)]).toEqual([1, 0])
    expect(page.failures).toEqual([])
    await page.close()
  }, 120_000)

  it('claims a reward, with the same at its step', async () => {
    // A stream has run for it on the devnet.
    const page = await open(dev.accounts.push(devAccount(holder)) - 1)
    await page.button('Yours').click()
    const reward = page.root.getByRole('region', { name: 'Rewards' }).getByRole('listitem').filter({ hasText: 'DAI' })
    await reward.getByRole('button', { name: 'Claim the reward' }).click()
    await insist(page, 'Claim the reward', 'Claimed.')
    expect([page.counted(/^eth_sendTransaction$/), page.failures]).toEqual([1, []])
    await page.close()
  }, 120_000)

  it('shows another account without the flow of the first, and goes on with it when that is back', async () => {
    const isOwn = place === 'a page'
    const page = isOwn ? await show(app, switching, '', { trust, own: true }, [announced]) : await embed.show(switching)
    if (isOwn) await page.button('Connect Wallet of the test').click()
    const tell = (...accounts: string[]) =>
      page.tab.evaluate(`ethereum.listeners.forEach((tell) => tell(${JSON.stringify(accounts)}))`)
    await page.open(names['erc4626']!)
    await page.amount.fill('1')
    await page.button('Deposit').click()
    const go = page.panel('Deposit').getByRole('button', { name: goes })
    await go.waitFor()
    const other = dev.accounts[1]!.address
    page.mood.account = other
    await tell(other)
    await page.root.getByText(`Wallet ${other.slice(0, 6)}`).waitFor()
    expect(await page.panel('Deposit').count()).toBe(0)
    page.mood.account = undefined
    await tell(page.address)
    await go.waitFor()
    await page.finish('Deposit', 'Done.')
    await tell()
    await page.button('Vaults').waitFor({ state: 'detached' })
    expect([page.counted(/^eth_sendTransaction$/), page.failures]).toEqual([2, []])
    await page.close()
  }, 120_000)
})
