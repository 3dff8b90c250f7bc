import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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

const [sends, signs] = ['eth_sendTransaction', 'eth_signTypedData_v4']

describe('a depositor', () => {
  it('buys the token of a vault by an order, after a no and a reload at each step, and it is filled', async () => {
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
    const steps = await page.insist('Order', 'The order is filled.')
    expect([steps[0], steps.at(-1)]).toEqual([sends, signs])
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
    await page.insist('Order', 'The order waits to be filled.')
    const region = tab.getByRole('region', { name: 'Order', exact: true })
    const end = region.getByRole('button', { name: 'End the order' })
    await end.click()
    await page.answer('Reject')
    await tab.getByRole('alert').filter({ hasText: 'you said no' }).waitFor()
    await tab.reload()
    await settle(tab)
    await region.getByRole('status').filter({ hasText: 'The order waits to be filled.' }).waitFor()
    await end.click()
    await page.answer('Approve')
    await region.getByRole('status').filter({ hasText: 'The order was ended.' }).waitFor()
    expect([page.failures, page.outside]).toEqual([[], []])
    await page.close()
  }, 180_000)

  it('withdraws in another token than the vault pays, after a no and a reload at each step', async () => {
    const { id, asset } = vaultOf('DAI')
    const usdc = vaultOf('USDC').asset
    const { address } = dev.accounts[1]!
    const page = await openWithWallet(browser, `opportunities/${id}`, 'New test wallet 2')
    const { tab } = page
    const deposit = tab.getByRole('form', { name: 'Deposit' })
    await deposit.getByLabel('Token').selectOption({ label: asset.symbol })
    await deposit.getByRole('textbox').fill('6')
    await deposit.getByRole('button', { name: 'Deposit' }).click()
    expect(await page.insist('Deposit', 'Done.')).toEqual([sends, sends])
    await page.closePanel('Deposit')
    const before = await balanceOf(usdc.address, address)
    const withdraw = tab.getByRole('form', { name: 'Withdraw' })
    await withdraw.getByRole('button', { name: 'All' }).click()
    await withdraw.getByLabel('Receive').selectOption({ label: 'USDC' })
    await withdraw.getByText('The vault pays DAI, which is swapped on the way.').waitFor()
    await withdraw.getByRole('button', { name: 'Withdraw' }).click()
    expect((await page.insist('Withdraw', 'Done.')).length).toBeGreaterThan(1)
    expect((await balanceOf(usdc.address, address)) - before).toBeGreaterThan(5n * 10n ** 6n)
    expect([page.failures, page.outside]).toEqual([[], []])
    await page.close()
  }, 180_000)
})
