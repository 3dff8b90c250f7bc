import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { patience } from '../../../contracts/test/patience.js'
import { devAccount } from '../../src/cli/dev/anvil.js'
import { playerIndexes } from '../../src/cli/dev/history.js'
import { openClient } from './client.js'
import { openPortal, type PortalBrowser, readFigures, settle } from './portalInPage.js'
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

/** A page whose test wallet is connected; `answer` says yes or no to its next request. */
async function open(path: string, name: string) {
  const page = await browser.openPage(path)
  const { tab } = page
  await tab.getByRole('button', { name: 'Connect' }).click()
  await tab.getByRole('dialog', { name: 'Wallet' }).getByRole('button', { name }).click()
  const asked = tab.getByRole('dialog', { name: 'Test wallet' })
  const answer = async (word: 'Approve' | 'Reject') => {
    await asked.getByRole('button', { name: word }).click()
    await asked.waitFor({ state: 'hidden' })
  }
  /** Says yes to all until a flow shows a status. */
  const finish = async (panel: string, status: string | RegExp) => {
    const region = tab.getByRole('region', { name: panel, exact: true })
    const end = region.getByRole('status').filter({ hasText: status })
    const go = region.getByRole('button', { name: /o to the wallet/ })
    const yes = asked.getByRole('button', { name: 'Approve' })
    for (;;) {
      await end.or(yes).or(go).first().waitFor()
      if (await end.isVisible()) return region
      const next = (await yes.isVisible()) ? yes : go
      await next.click({ timeout: 5_000 * patience }).catch(() => undefined)
    }
  }
  return { ...page, asked, answer, finish }
}

describe('a wallet of the devnet', () => {
  it('links, deposits and withdraws: after a no and a reload at each step, with the amounts that the API tells', async () => {
    const { id } = vaultOf('erc4626')
    const page = await open(`opportunities/${id}`, 'New test wallet 1')
    const { tab, asked, answer, finish } = page
    const form = tab.getByRole('form', { name: 'Deposit' })
    await form.getByRole('textbox').fill('1.5')
    await form.getByRole('button', { name: 'Link the wallet' }).click()
    const link = tab.getByRole('region', { name: 'Link the wallet', exact: true })
    await link.getByRole('button', { name: 'Go to the wallet' }).click()
    await asked.getByText('personal_sign').waitFor()
    await answer('Reject')
    await link.getByRole('alert').filter({ hasText: 'you said no' }).waitFor()
    await tab.reload()
    await settle(tab)
    await finish('Link the wallet', 'The wallet is linked.')
    await link.getByRole('button', { name: 'Close' }).click()
    await form.getByRole('textbox').fill('1.5')
    await form.getByRole('button', { name: 'Deposit' }).click()
    const panel = tab.getByRole('region', { name: 'Deposit', exact: true })
    await panel.getByRole('button', { name: 'Go to the wallet' }).click()
    await asked.getByText('eth_sendTransaction').waitFor()
    expect(await findFaults(tab)).toEqual([])
    await answer('Reject')
    await panel.getByRole('alert').filter({ hasText: 'you said no' }).waitFor()
    await tab.reload()
    await settle(tab)
    await finish('Deposit', 'Done.')
    await panel.getByRole('button', { name: 'Close' }).click()
    const address = devnet.dev.accounts[0]!.address
    const { activity } = await client.call('GET', `/v2/wallets/activity/?addresses=${address}`)
    expect(activity).toHaveLength(1)
    expect(activity[0]).toMatchObject({ interaction: 'deposit', amountToken: '1.5', attribution: 'signed' })
    expect(activity[0].distributorId).toBe(devnet.dev.distributorIds[0])
    await tab.getByRole('form', { name: 'Withdraw' }).getByRole('button', { name: 'All' }).click()
    await tab.getByRole('form', { name: 'Withdraw' }).getByRole('button', { name: 'Withdraw' }).click()
    await finish('Withdraw', 'Done.')
    expect([page.failures, page.outside]).toEqual([[], []])
    await page.close()
  }, 180_000)

  it('requests a deposit in two steps and cancels it from the portfolio', async () => {
    const { id } = vaultOf('erc7540')
    await client.join(devnet.dev.accounts[1]!.privateKey)
    const page = await open(`opportunities/${id}`, 'New test wallet 2')
    const { tab, finish } = page
    await tab.getByRole('form', { name: 'Request a deposit' }).getByRole('textbox').fill('5')
    await tab
      .getByRole('form', { name: 'Request a deposit' })
      .getByRole('button', { name: 'Request a deposit' })
      .click()
    const region = await finish('Deposit', 'Requested')
    await region.getByRole('button', { name: 'Close' }).click()
    await tab.getByRole('navigation', { name: 'Portal' }).getByRole('link', { name: 'Portfolio' }).click()
    const requests = tab.getByRole('region', { name: 'Requests' })
    await requests
      .getByRole('button', { name: /Cancel|Claim/ })
      .first()
      .waitFor()
    const claim = requests.getByRole('button', { name: 'Claim' })
    const isSettled = await claim.isVisible()
    await requests
      .getByRole('button', { name: isSettled ? 'Claim' : 'Cancel' })
      .first()
      .click()
    await finish(isSettled ? 'Claim' : 'Cancel', 'Done.')
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
