import type { Route } from 'playwright-core'
import { keccak256, parseGwei } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { devAccount } from '../../src/cli/dev/anvil.js'
import { playerIndexes } from '../../src/cli/dev/history.js'
import { openClient } from './client.js'
import { findCut, openPortal, type PortalBrowser, readFigures, settle } from './portalInPage.js'
import { openWithWallet, type WalletPage } from './portalWallet.js'
import { holdSettlements, settleRequests } from './settleRequests.js'
import { startTrustedDevnet, type TrustedDevnet } from './trustedDevnet.js'
import { findFaults, goes } from './widgetInPage.js'

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

type Sent = { from: `0x${string}`; to: `0x${string}`; data: `0x${string}`; gas?: string; value?: string }

/** Has the wallet send something else in place of each transaction that the page asks for and `change` knows. */
async function cheat({ tab }: WalletPage, change: (sent: Sent) => Promise<string | undefined>): Promise<void> {
  await tab.route(`${new URL(devnet.dev.rpcUrl).origin}/**`, async (route: Route) => {
    const { id, method, params } = JSON.parse(route.request().postData() ?? '{}')
    const hash = method === 'eth_sendTransaction' ? await change(params[0]) : undefined
    if (hash === undefined) return route.continue()
    return route.fulfill({ json: { jsonrpc: '2.0', id, result: hash } })
  })
}

const send = (sent: Pick<Sent, 'from' | 'to' | 'data' | 'gas'>): Promise<string> =>
  client.request('eth_sendTransaction', [sent])
/** The deposit itself: an allowance before it is let through. */
const isDeposit = ({ data }: Sent) => !data.startsWith('0x095ea7b3')

/** Begins a deposit and says yes to each request until its flow is at its end. Returns what its panel says then. */
async function deposit(page: WalletPage, status: string): Promise<string> {
  const { tab, panel, asked, answer } = page
  const form = tab.getByRole('form', { name: 'Deposit' })
  await form.getByRole('textbox').fill('2')
  await form.getByRole('button', { name: 'Deposit' }).click()
  const region = panel('Deposit')
  const end = region.getByRole('status').filter({ hasText: status })
  const go = region.getByRole('button', { name: goes })
  for (;;) {
    await end.or(go).first().waitFor()
    if (await end.isVisible()) break
    await go.click()
    await asked.waitFor()
    await answer('Approve')
  }
  expect([await findFaults(tab), await findCut(tab), page.failures]).toEqual([[], [], []])
  return (await region.textContent()) ?? ''
}

const countDeposits = async (): Promise<number> => {
  const address = devnet.dev.accounts[0]!.address
  const { activity } = await client.call('GET', `/v2/wallets/activity/?addresses=${address}`)
  return activity.length
}

describe('a deposit of the portal', () => {
  it('that reverts says that it failed and that only the fee was paid, and a new one goes through', async () => {
    const before = await countDeposits()
    const page = await open(`opportunities/${vaultOf('erc4626').id}`, 'New test wallet 1')
    let reverts = true
    await cheat(page, async (sent) => (reverts && isDeposit(sent) ? send({ ...sent, gas: '0x11170' }) : undefined))
    expect(await deposit(page, 'It failed on the chain')).toContain('only the fee was paid')
    expect(await countDeposits()).toBe(before)
    await page.closePanel('Deposit')
    reverts = false
    await deposit(page, 'Done.')
    expect(await countDeposits()).toBe(before + 1)
    await page.close()
  }, 120_000)

  it('whose place another transaction of the wallet takes says so', async () => {
    const before = await countDeposits()
    const page = await open(`opportunities/${vaultOf('erc4626').id}`, 'New test wallet 1')
    const { address, privateKey } = devnet.dev.accounts[0]!
    await page.tab.clock.install()
    await cheat(page, async (sent) => {
      if (!isDeposit(sent)) return undefined
      const nonce = Number(await client.request('eth_getTransactionCount', [address, 'latest']))
      const signed = await privateKeyToAccount(privateKey as `0x${string}`).signTransaction({
        ...{ chainId: devnet.dev.chainId, nonce, to: sent.to, data: sent.data, gas: 500_000n, type: 'eip1559' },
        ...{ maxFeePerGas: parseGwei('50'), maxPriorityFeePerGas: 1n },
      })
      await send({ from: address, to: address, data: '0x' })
      return keccak256(signed)
    })
    const told = deposit(page, 'Another transaction of the wallet took its place.')
    const status = page.panel('Deposit').getByRole('status')
    await status.filter({ hasText: 'Sent' }).waitFor()
    // A place that is taken is looked at again after minutes, before the page says so.
    await expect
      .poll(async () => {
        await page.tab.clock.fastForward(60_000)
        return (await status.textContent()) ?? ''
      })
      .toContain('took its place')
    await told
    expect(await countDeposits()).toBe(before)
    await page.close()
  }, 120_000)

  it('that the wallet sends without its attribution is mined, and says after two minutes that nobody is credited for it, and why', async () => {
    const page = await open(`opportunities/${vaultOf('erc4626').id}`, 'New test wallet 1')
    const { tab } = page
    await tab.clock.install()
    await cheat(page, async (sent) => {
      if (!isDeposit(sent)) return undefined
      const hash = await send({ ...sent, data: sent.data.slice(0, 2 + 8 + 2 * 64) as `0x${string}` })
      await client.request('evm_mine', [])
      return hash
    })
    const told = deposit(page, 'The service does not list it yet.')
    await page.panel('Deposit').getByRole('status').filter({ hasText: 'Mined' }).waitFor()
    await tab.clock.fastForward(130_000)
    expect(await told).toMatch(/attribution/)
    await page.close()
  }, 120_000)
})
