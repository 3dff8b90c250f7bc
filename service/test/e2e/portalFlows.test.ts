import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { devAccount } from '../../src/cli/dev/anvil.js'
import { playerIndexes } from '../../src/cli/dev/history.js'
import { openClient } from './client.js'
import { openPortal, type PortalBrowser, readFigures, settle } from './portalInPage.js'
import { openWithWallet, type WalletPage } from './portalWallet.js'
import { holdSettlements, settleRequests } from './settleRequests.js'
import { startTrustedDevnet, type TrustedDevnet } from './trustedDevnet.js'
import { findFaults } from './widgetInPage.js'

let trusted: TrustedDevnet
let devnet: TrustedDevnet['devnet']
let browser: PortalBrowser
let client: ReturnType<typeof openClient>

beforeAll(async () => {
  trusted = await startTrustedDevnet('openearn-portal-flows-')
  ;({ devnet } = trusted)
  client = openClient(devnet.dev)
  browser = await openPortal(devnet.dev)
}, 180_000)
afterAll(async () => {
  await browser?.close()
  await trusted?.close()
}, 60_000)

const vaultOf = (kind: string) => devnet.dev.opportunities.find((each) => each.kind === kind)!
const open = (path: string, name: string) => openWithWallet(browser, path, name)
const [signs, sends] = ['personal_sign', 'eth_sendTransaction']

/** Fills a form of a page and begins its flow. */
async function begin({ tab }: WalletPage, title: string, amount: string): Promise<void> {
  const form = tab.getByRole('form', { name: title })
  if (amount === 'All') await form.getByRole('button', { name: 'All' }).click()
  else await form.getByRole('textbox').fill(amount)
  await form.getByRole('button', { name: title }).click()
}

describe('a wallet of the devnet', () => {
  it('links, deposits and withdraws after a no and a reload at each step, and deposits once though each request is lost with the page', async () => {
    const { id } = vaultOf('erc4626')
    const page = await open(`opportunities/${id}`, 'New test wallet 1')
    const { tab, insist, closePanel } = page
    const form = tab.getByRole('form', { name: 'Deposit' })
    await form.getByRole('button', { name: 'Link the wallet' }).click()
    expect(await insist('Link the wallet', 'The wallet is linked.')).toEqual([signs])
    await closePanel('Link the wallet')
    await begin(page, 'Deposit', '1.5')
    // The allowance and the deposit.
    await page.loseRequest('Deposit')
    await page.loseRequest('Deposit')
    await page.panel('Deposit').getByRole('status').filter({ hasText: 'Done.' }).waitFor()
    expect(await findFaults(tab)).toEqual([])
    await closePanel('Deposit')
    const address = devnet.dev.accounts[0]!.address
    const { activity } = await client.call('GET', `/v2/wallets/activity/?addresses=${address}`)
    expect(activity).toHaveLength(1)
    expect(activity[0]).toMatchObject({ interaction: 'deposit', amountToken: '1.5', attribution: 'signed' })
    expect(activity[0].distributorId).toBe(devnet.dev.distributorIds[0])
    await begin(page, 'Withdraw', 'All')
    expect(await insist('Withdraw', 'Done.')).toEqual([sends])
    expect([page.failures, page.outside]).toEqual([[], []])
    await page.close()
  }, 240_000)

  it('deposits the native token, swapped on the way, after a no and a reload at each step', async () => {
    const { id, asset } = vaultOf('erc4626')
    const page = await open(`opportunities/${id}`, 'New test wallet 1')
    const { tab } = page
    await tab.getByRole('form', { name: 'Deposit' }).getByLabel('Token').selectOption('native')
    await tab.getByText(`It is swapped to ${asset.symbol} on the way.`).waitFor()
    await begin(page, 'Deposit', '0.01')
    await page
      .panel('Deposit')
      .getByText(/a deposit of 0\.01 [A-Z]+$/)
      .waitFor()
    // The swap, an allowance and the deposit.
    expect(await page.insist('Deposit', 'Done.')).toEqual([sends, sends, sends])
    const address = devnet.dev.accounts[0]!.address
    const { activity } = await client.call('GET', `/v2/wallets/activity/?addresses=${address}&sortOrder=desc`)
    expect(activity.map(({ interaction }: { interaction: string }) => interaction).sort()).toEqual([
      ...['deposit', 'deposit', 'withdraw'],
    ])
    expect([page.failures, page.outside]).toEqual([[], []])
    await page.close()
  }, 180_000)

  it('requests a deposit and claims it, requests another and cancels it, after a no and a reload at each step', async () => {
    const { id } = vaultOf('erc7540')
    const { address, privateKey } = devnet.dev.accounts[1]!
    await client.join(privateKey)
    const page = await open(`opportunities/${id}`, 'New test wallet 2')
    const { tab } = page
    const requests = tab.getByRole('region', { name: 'Requests' })
    const request = async () => {
      await begin(page, 'Request a deposit', '5')
      expect(await page.insist('Deposit', 'Requested')).toEqual([sends, sends])
      await page.closePanel('Deposit')
      await tab.getByRole('navigation', { name: 'Portal' }).getByRole('link', { name: 'Portfolio' }).click()
    }
    await request()
    await settleRequests(devnet.dev, address)
    await requests.getByRole('button', { name: 'Claim' }).click()
    expect(await page.insist('Claim', 'Done.')).toEqual([sends])
    await page.closePanel('Claim')
    await page.go(`opportunities/${id}`)
    const letSettle = await holdSettlements(devnet.dev)
    await request()
    await requests.getByRole('button', { name: 'Cancel' }).click()
    expect(await page.insist('Cancel', 'Done.')).toEqual([sends])
    await letSettle()
    const told = await client.call('GET', `/v2/wallets/${address}/requests`)
    expect(told.requests.map(({ state }: { state: string }) => state)).not.toContain('pending')
    expect([page.failures, page.outside]).toEqual([[], []])
    await page.close()
  }, 300_000)

  it('claims a reward that a stream holds for it, after a no and a reload', async () => {
    const page = await open('portfolio', 'Test wallet with deposits')
    const rewards = page.tab.getByRole('region', { name: 'Rewards' })
    const reward = rewards.getByRole('listitem').filter({ hasText: 'DAI' })
    await reward.getByRole('button', { name: 'Claim the reward' }).click()
    expect(await page.insist('Claim the reward', 'Claimed.')).toEqual([sends])
    expect([page.failures, page.outside]).toEqual([[], []])
    await page.close()
  }, 180_000)

  it('shows the earnings of the API', async () => {
    const player = devAccount(playerIndexes[0]).address
    const page = await open('portfolio', 'Test wallet with deposits')
    const { tab } = page
    await settle(tab)
    await tab.locator('li[data-id]').first().waitFor()
    const { portfolio } = await client.call('GET', `/v2/wallet/${player}/portfolio`)
    expect(portfolio.productsEarnings.length).toBeGreaterThan(0)
    const row = portfolio.productsEarnings[0]
    const figures = await readFigures(tab, `li[data-id="${row.opportunityId}"]`)
    expect(
      figures.filter(({ name }) => /deposited|withdrawn/.test(name)).map(({ name, value }) => [name, value]),
    ).toEqual([
      ...[
        ['deposited.native', row.deposited.native],
        ['deposited.usd', row.deposited.usd],
      ],
      ...[
        ['withdrawn.native', row.withdrawn.native],
        ['withdrawn.usd', row.withdrawn.usd],
      ],
    ])
    expect([page.failures, page.outside]).toEqual([[], []])
    await page.close()
  }, 180_000)

  it('is another one after it is disconnected, and none is remembered then', async () => {
    const page = await open('', 'New test wallet 1')
    const { tab } = page
    const short = devnet.dev.accounts[0]!.address.slice(0, 6)
    await tab.getByRole('button', { name: short }).click()
    await tab.getByRole('dialog', { name: 'Wallet' }).getByRole('button', { name: 'Disconnect' }).click()
    await tab.getByRole('button', { name: 'Connect' }).waitFor()
    await tab.reload()
    await settle(tab)
    await tab.getByRole('button', { name: 'Connect' }).waitFor()
    expect(await tab.getByRole('button', { name: short }).count()).toBe(0)
    await page.close()
  }, 60_000)
})
