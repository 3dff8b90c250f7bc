import type { Trust } from '@openearn/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { devAccount } from '../../src/cli/dev/anvil.js'
import { readSnippets } from '../documents.js'
import { openClient } from './client.js'
import { announced, openHooks } from './hooksInPage.js'
import { startTrustedDevnet, type TrustedDevnet } from './trustedDevnet.js'
import { openWidgets, show, type WidgetApp } from './widgetInPage.js'

let trusted: TrustedDevnet
let devnet: TrustedDevnet['devnet']
let trust: Trust
let app: WidgetApp
const names: Record<string, string> = {}

beforeAll(async () => {
  trusted = await startTrustedDevnet('openearn-widget-')
  ;({ devnet, trust } = trusted)
  const client = openClient(devnet.dev)
  for (const kind of ['erc4626', 'erc7540'])
    names[kind] = (await client.call('GET', `/v2/opportunities/${find(kind).id}`)).name
  for (const at of [3, 4, 5, 6]) await client.join(devnet.dev.accounts[at]!.privateKey)
  app = await openWidgets(devnet.dev, trust)
}, 180_000)
afterAll(async () => {
  await app?.close()
  await trusted?.close()
}, 60_000)

const find = (kind: string) => devnet.dev.opportunities.find((each) => each.kind === kind)!
const transaction = /^eth_sendTransaction$/

describe('the widget', () => {
  it('links a wallet that announced itself, and deposits by an allowance of exactly that', async () => {
    const page = await show(app, 7, '', { own: true, trust }, [announced])
    await page.button('Connect Wallet of the test').click()
    await page.open(names['erc4626']!)
    await page.amount.fill('1.5')
    await page.button('Link the wallet').click()
    await page.finish('Link the wallet', 'The wallet is linked.')
    await page.closePanel('Link the wallet')
    await page.button('Deposit').click()
    const panel = page.tab.getByRole('region', { name: 'Deposit', exact: true })
    await panel.getByRole('button', { name: 'Go to the wallet' }).waitFor()
    expect(page.counted(transaction)).toBe(0)
    expect(await panel.textContent()).toMatch(
      /a deposit of 1\.5 .*\n*[\s\S]*Allow [\s\S]*to take exactly 1\.5 \(1500000 units\)[\s\S]*Deposit 1\.5 \(1500000 units\)/,
    )
    expect(await panel.textContent()).toContain('Compared with addresses that this app brought along.')
    await page.finish('Deposit', 'Done.')
    expect([page.counted(transaction), page.counted(/personal_sign/)]).toEqual([2, 1])
    expect(page.failures).toEqual([])
    await page.close()
  }, 120_000)

  it('shows a reward, and says so where its claim is begun twice', async () => {
    const { dev } = devnet
    // One of the holders for whom a stream has run on the devnet.
    const player = devAccount(17)
    const at = dev.accounts.push(player) - 1
    const page = await show(app, at, '', { trust })
    await page.button('Yours').click()
    const rewards = page.tab.getByRole('region', { name: 'Rewards' })
    const reward = rewards.getByRole('listitem').filter({ hasText: 'DAI' })
    expect(await reward.first().textContent()).toMatch(/^[\d.,]+ DAI earned until /)
    await reward.getByRole('button', { name: 'Claim the reward' }).click()
    await page.tab.getByRole('region', { name: 'Claim the reward', exact: true }).waitFor()
    await reward.getByRole('button', { name: 'Claim the reward' }).click()
    await reward.getByRole('alert').filter({ hasText: 'Another one is under way; close it first.' }).waitFor()
    expect([page.counted(transaction), page.failures]).toEqual([0, []])
    await page.close()
  }, 120_000)

  it('says that the addresses are the service’s word where the app brought none', async () => {
    const page = await show(app, 4)
    await page.open(names['erc4626']!)
    await page.amount.fill('1')
    await page.button('Deposit').click()
    await page.tab.getByText('this check does not protect you from a service that lies').waitFor()
    expect(page.counted(transaction)).toBe(0)
    await page.close()
  }, 60_000)

  it('deposits by keyboard alone', async () => {
    const page = await show(app, 6, '', { trust, vaults: [find('erc4626').id] })
    await page.tab.getByRole('button', { name: names['erc4626']! }).waitFor()
    const { keyboard } = page.tab
    const focused = () =>
      page.tab.evaluate(`(() => {
        const each = document.activeElement?.shadowRoot?.activeElement
        return each ? (each.tagName + ' ' + (each.textContent || each.labels?.[0]?.textContent || '')) : ''
      })()`) as Promise<string>
    const tabTo = async (wanted: RegExp) => {
      for (let turn = 0; turn < 40; turn++) {
        if (wanted.test(await focused())) return
        await keyboard.press('Tab')
      }
      throw new Error(`${wanted} is not reached; now ${await focused()}`)
    }
    await tabTo(new RegExp(`^BUTTON.*${names['erc4626']}`))
    await keyboard.press('Enter')
    await page.tab.getByRole('form', { name: 'Deposit' }).waitFor()
    expect(await focused()).toMatch(/^H2/)
    await tabTo(/^INPUT/)
    await keyboard.type('1.25')
    await page.tab.locator('form button.main:enabled').first().waitFor()
    await keyboard.press('Enter')
    const panel = page.tab.getByRole('region', { name: 'Deposit', exact: true })
    await panel.getByText('Go to the wallet').waitFor()
    expect(await focused()).toMatch(/^H2 Deposit/)
    for (const _ of [1, 2]) {
      await panel.getByText('Go to the wallet').waitFor()
      await tabTo(/^BUTTON Go to the wallet/)
      await keyboard.press('Enter')
      await panel.getByText('Go to the wallet').waitFor({ state: 'detached' })
    }
    await panel.getByRole('status').filter({ hasText: 'Done.' }).waitFor()
    await tabTo(/^BUTTON Close/)
    await keyboard.press('Enter')
    expect(await focused()).toMatch(/^BUTTON Vaults/)
    expect(page.failures).toEqual([])
    await page.close()
  }, 120_000)
})

describe('widget/README.md', () => {
  it('shows a page with the widget, which finds a wallet and lists the vaults', async () => {
    const [first] = (await readSnippets('widget/README.md')).filter(({ language }) => language === 'tsx')
    const text = `const settings = globalThis.settings\n${first!.lines.join('\n')}\ndocument.title = 'ready'`
    const { dev } = devnet
    const settings = {
      baseUrl: dev.baseUrl,
      publishableKey: dev.keys.publishable,
      distributorId: dev.distributorIds[0],
    }
    const shown = await openHooks({ dev, trust }, { program: '../../widget/test/readme.tsx', text })
    try {
      const page = await shown.openPage(8, {}, [announced, `globalThis.settings = ${JSON.stringify(settings)}`])
      await page.page.getByRole('button', { name: 'Connect Wallet of the test' }).click()
      await page.page.getByRole('searchbox').fill(names['erc4626']!)
      await page.page.getByRole('button', { name: names['erc4626']! }).first().click()
      await page.page.getByRole('form', { name: 'Deposit' }).waitFor()
      expect(page.failures).toEqual([])
      await page.close()
    } finally {
      await shown.close()
    }
  }, 60_000)
})
