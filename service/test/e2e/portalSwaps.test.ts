import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { patience } from '../../../contracts/test/patience.js'
import { openClient } from './client.js'
import { openPortal, type PortalBrowser, settle } from './portalInPage.js'
import { openWithWallet } from './portalWallet.js'
import { startTrustedDevnet, type TrustedDevnet } from './trustedDevnet.js'
import { findFaults } from './widgetInPage.js'

let trusted: TrustedDevnet
let dev: TrustedDevnet['devnet']['dev']
let browser: PortalBrowser
let client: ReturnType<typeof openClient>

beforeAll(async () => {
  trusted = await startTrustedDevnet('openearn-portal-swaps-')
  dev = trusted.devnet.dev
  client = openClient(dev)
  for (const at of [0, 1]) await client.join(dev.accounts[at]!.privateKey)
  browser = await openPortal(dev)
}, 240_000)
afterAll(async () => {
  await browser?.close()
  await trusted?.close()
}, 60_000)

const vaultOf = (symbol: string) =>
  dev.opportunities.find(({ kind, asset }) => kind === 'erc4626' && asset.symbol === symbol)!

type Tab = Awaited<ReturnType<typeof openWithWallet>>['tab']

const balanceOf = async (token: string, owner: string): Promise<bigint> =>
  client.chain.readContract({
    address: token as `0x${string}`,
    abi: [
      {
        ...{ type: 'function', name: 'balanceOf', stateMutability: 'view' },
        ...{ inputs: [{ name: 'owner', type: 'address' }], outputs: [{ name: '', type: 'uint256' }] },
      },
    ] as const,
    functionName: 'balanceOf',
    args: [owner as `0x${string}`],
  })

/** The wallet's own window says a word to the request that it shows. */
async function answer(tab: Tab, word: 'Approve' | 'Reject'): Promise<void> {
  const asked = tab.getByRole('dialog', { name: 'Test wallet' })
  await asked.getByRole('button', { name: word }).click()
  await asked.waitFor({ state: 'hidden' })
}

/** Says no to the first request, loads the page again, and says yes from there on until a flow shows a status. */
async function insist(tab: Tab, name: string, end: string): Promise<void> {
  const region = tab.getByRole('region', { name, exact: true })
  const go = region.getByRole('button', { name: /o to the wallet/ })
  await go.click()
  await answer(tab, 'Reject')
  await region.getByRole('alert').filter({ hasText: 'you said no' }).waitFor()
  await tab.reload()
  await settle(tab)
  const status = region.getByRole('status').filter({ hasText: end })
  const yes = tab.getByRole('dialog', { name: 'Test wallet' }).getByRole('button', { name: 'Approve' })
  for (;;) {
    await status.or(yes).or(go).first().waitFor()
    if (await status.isVisible()) return
    const next = (await yes.isVisible()) ? yes : go
    await next.click({ timeout: 5_000 * patience }).catch(() => undefined)
  }
}

describe('a depositor', () => {
  it('buys the token of a vault by an order, after a no and a reload, and it is filled', async () => {
    const { id, asset } = vaultOf('DAI')
    const { address } = dev.accounts[0]!
    const before = await balanceOf(asset.address, address)
    const page = await openWithWallet(browser, `opportunities/${id}`, 'New test wallet 1')
    const { tab } = page
    await tab.getByText('Buy DAI by an order').click()
    const form = tab.getByRole('form', { name: 'Order' })
    await form.getByRole('combobox', { name: 'Sell' }).selectOption({ label: 'USDC' })
    await form.getByRole('textbox').fill('0')
    await form.getByRole('button', { name: 'Order' }).click()
    await form.getByRole('alert').filter({ hasText: 'Write an amount above' }).waitFor()
    await form.getByRole('textbox').fill('200')
    await form.getByRole('combobox', { name: 'At most so far below the quote' }).selectOption('100')
    await form.getByRole('button', { name: 'Order' }).click()
    expect(await findFaults(tab)).toEqual([])
    await insist(tab, 'Order', 'The order is filled.')
    expect(await tab.getByRole('region', { name: 'Order', exact: true }).textContent()).toContain('sells 200 USDC')
    expect((await balanceOf(asset.address, address)) - before).toBeGreaterThan(190n * 10n ** 18n)
    expect([page.failures, page.outside]).toEqual([[], []])
    await page.close()
  }, 180_000)

  it('ends an order that nobody fills, after a no and a reload while it is open', async () => {
    const page = await openWithWallet(browser, `opportunities/${vaultOf('DAI').id}`, 'New test wallet 2')
    const { tab } = page
    await tab.getByText('Buy DAI by an order').click()
    const form = tab.getByRole('form', { name: 'Order' })
    await form.getByRole('combobox', { name: 'Sell' }).selectOption({ label: 'USDC' })
    // To fill it would cost more than it is worth.
    await form.getByRole('textbox').fill('0.001')
    await form.getByRole('combobox', { name: 'Ends by itself after' }).selectOption({ label: 'a day' })
    await form.getByRole('button', { name: 'Order' }).click()
    await insist(tab, 'Order', 'The order waits to be filled.')
    const region = tab.getByRole('region', { name: 'Order', exact: true })
    const end = region.getByRole('button', { name: 'End the order' })
    await end.click()
    await answer(tab, 'Reject')
    await tab.getByRole('alert').filter({ hasText: 'you said no' }).waitFor()
    await tab.reload()
    await settle(tab)
    await region.getByRole('status').filter({ hasText: 'The order waits to be filled.' }).waitFor()
    await end.click()
    await answer(tab, 'Approve')
    await region.getByRole('status').filter({ hasText: 'The order was ended.' }).waitFor()
    expect([page.failures, page.outside]).toEqual([[], []])
    await page.close()
  }, 180_000)

  it('withdraws in another token than the vault pays, after a no and a reload', async () => {
    const { id, asset } = vaultOf('DAI')
    const usdc = vaultOf('USDC').asset
    const { address } = dev.accounts[1]!
    const page = await openWithWallet(browser, `opportunities/${id}`, 'New test wallet 2')
    const { tab } = page
    const deposit = tab.getByRole('form', { name: 'Deposit' })
    await deposit.getByLabel('Token').selectOption({ label: asset.symbol })
    await deposit.getByRole('textbox').fill('6')
    await deposit.getByRole('button', { name: 'Deposit' }).click()
    await insist(tab, 'Deposit', 'Done.')
    await tab.getByRole('region', { name: 'Deposit', exact: true }).getByRole('button', { name: 'Close' }).click()
    const before = await balanceOf(usdc.address, address)
    const withdraw = tab.getByRole('form', { name: 'Withdraw' })
    await withdraw.getByRole('button', { name: 'All' }).click()
    await withdraw.getByLabel('Receive').selectOption({ label: 'USDC' })
    await withdraw.getByText('The vault pays DAI, which is swapped on the way.').waitFor()
    await withdraw.getByRole('button', { name: 'Withdraw' }).click()
    await insist(tab, 'Withdraw', 'Done.')
    expect((await balanceOf(usdc.address, address)) - before).toBeGreaterThan(5n * 10n ** 6n)
    expect([page.failures, page.outside]).toEqual([[], []])
    await page.close()
  }, 180_000)
})
