import { readFile } from 'node:fs/promises'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { present } from '../../../contracts/test/present.js'
import { devAccount } from '../../src/cli/dev/anvil.js'
import { playerIndexes } from '../../src/cli/dev/history.js'
import { openClient } from './client.js'
import { openPortal, type PortalBrowser, readFigures, settle } from './portalInPage.js'
import { type Answer, findTold, isWritten, readShown, type ShownFigure } from './portalNumbers.js'
import { runOpenEarn } from './process.js'
import { startTrustedDevnet, type TrustedDevnet } from './trustedDevnet.js'

let trusted: TrustedDevnet
let devnet: TrustedDevnet['devnet']
let browser: PortalBrowser
let client: ReturnType<typeof openClient>
let code: string
/** A deposit that is credited, and a transaction that carries no code. */
const sent = { deposit: '0x' as `0x${string}`, plain: '0x' as `0x${string}` }

beforeAll(async () => {
  trusted = await startTrustedDevnet('openearn-portal-lookups-')
  ;({ devnet } = trusted)
  const { dev } = devnet
  client = openClient(dev)
  code = dev.distributorIds[0]!
  const { address, privateKey } = dev.accounts[4]!
  await client.join(privateKey)
  const account = privateKeyToAccount(privateKey)
  const vault = dev.opportunities.find(({ kind }) => kind === 'erc4626')!
  const params = { userAddress: address, tokenIn: vault.asset.address, amount: '2500000', distributorId: code }
  const plan = await client.call('POST', `/v2/actions/deposit/${vault.id}`, params)
  sent.deposit = (await client.sendAll(account, plan.transactions)).transactionHash
  await client.waitForEntry(code, sent.deposit)
  const nothing = { to: address, data: '0x' as const, value: '1', gasLimit: '50000', chainId: 31_337 }
  sent.plain = (await client.send(account, nothing)).transactionHash
  browser = await openPortal(dev)
}, 240_000)
afterAll(async () => {
  await browser?.close()
  await trusted?.close()
}, 60_000)

const month = present().toISOString().slice(0, 7)
const isBudget = ({ name }: ShownFigure) => name.startsWith('budget.')
const lookUp = (hash: string) => `attribution?tx=${hash}&chainId=31337`

describe('who brought it', () => {
  it('shows the entry, the suffix within the calldata of the wallet, and the proof that is checked in the page', async () => {
    const page = await browser.openPage(lookUp(sent.deposit))
    const { tab } = page
    await tab
      .getByRole('status')
      .filter({ hasText: `Credited to ${code}` })
      .waitFor()
    const found = await client.call('GET', `/v2/attribution/${sent.deposit}?chainId=31337`)
    const [entry] = found.interactions
    expect(await readFigures(tab, `li[data-id="${entry.id}"]`)).toEqual([
      { name: 'amountToken', value: entry.amountToken, text: expect.stringContaining('2.5') },
      { name: 'amountInUsd', value: entry.amountInUsd, text: expect.stringContaining('$2.50') },
    ])
    expect(await tab.locator('mark').textContent()).toBe(found.calldata.suffix)
    await tab.getByRole('button', { name: 'Connect' }).click()
    await tab.getByRole('dialog', { name: 'Wallet' }).getByRole('button', { name: 'New test wallet 1' }).click()
    await tab.getByRole('button', { name: 'Show the whole calldata through the wallet' }).click()
    const { input, blockHash } = await client.chain.getTransaction({ hash: sent.deposit })
    await expect.poll(() => tab.locator('pre.bytes').first().textContent()).toBe(input)
    expect(await tab.locator('mark').textContent()).toBe(found.calldata.suffix.slice(2))
    await tab.getByRole('button', { name: 'Check by the wallet' }).click()
    await tab.getByRole('status').filter({ hasText: 'Proven by the node of your wallet' }).waitFor()
    const check = async (hash: string, text: string) => {
      await tab.getByLabel('Hash of the block').fill(hash)
      await tab.getByRole('button', { name: 'Check against it' }).click()
      await tab.locator('.notice', { hasText: text }).waitFor()
    }
    await check(`0x${'0'.repeat(64)}`, 'Not proven.')
    await check(blockHash!, 'Proven by the block hash that you gave')
    expect([page.failures, page.outside]).toEqual([[], []])
    await page.close()
  }, 120_000)

  it('says that nothing was found, that a hash is none, and that a transaction is not there', async () => {
    const page = await browser.openPage(lookUp(sent.plain))
    const { tab } = page
    await tab
      .getByRole('status')
      .filter({ hasText: 'Nobody is credited: no code of a distributor was found.' })
      .waitFor()
    await page.go(lookUp(`0x${'1'.repeat(64)}`))
    await tab.getByRole('status').filter({ hasText: 'The chain has no transaction of this hash' }).waitFor()
    await tab.getByLabel('Transaction hash').fill('0x12')
    await tab.getByRole('button', { name: 'Look up' }).click()
    await tab.getByRole('alert').filter({ hasText: 'A transaction hash is 0x and 64 hex digits.' }).waitFor()
    expect([page.failures, page.outside]).toEqual([[], []])
    await page.close()
  }, 60_000)
})

describe('a wallet', () => {
  it('shows what it earned in a month that is chosen, in each vault and in all together, as the API tells it', async () => {
    const wallet = devAccount(playerIndexes[0]).address
    const page = await browser.openPage(`portfolio/${wallet}`)
    const { tab } = page
    await tab.getByLabel('Earned in').selectOption(month)
    await tab.getByText('Earned in this month, all vaults together').waitFor()
    expect(tab.url()).toContain(`month=${month}`)
    const asked = (await Promise.all(page.answered)).filter(({ url }) => url.includes('earnedFrom='))
    expect(asked).toHaveLength(1)
    const { portfolio } = asked[0]!.body as {
      portfolio: { inRange: object; productsEarnings: { opportunityId: string }[] }
    }
    const [all, ...rows] = await readFigures(tab, 'section[aria-labelledby=earnings]')
    expect(all).toMatchObject({ name: 'inRange.earnedUsd', value: portfolio.inRange['earnedUsd' as never] })
    expect(rows).toHaveLength(portfolio.productsEarnings.length * 10)
    await tab.getByLabel('Earned in').selectOption('')
    await tab.getByText('Earned = now + withdrawn').waitFor()
    await page.go(`portfolio/${wallet}?month=2999-01`)
    await tab.getByText('This is not a month that has begun.').waitFor()
    expect([page.failures, page.outside]).toEqual([[], []])
    await page.close()
  }, 60_000)
})

describe('a distributor', () => {
  it('is told by the figures of the API', async () => {
    const page = await browser.openPage(`distributor/${code}/metrics?range=7d`)
    const figures = await readFigures(page.tab, '.tiles:not(.small-tiles)')
    expect(figures.map(({ name }) => name)).toEqual(['tvl', 'activeLps', 'participatedLps'])
    const flows = await readFigures(page.tab, 'section[aria-label="TVL brought"] .small-tiles')
    const of = (entries: { interaction: string; blockTimestamp: string }[], kind: string) =>
      entries.filter(
        ({ interaction, blockTimestamp }) =>
          interaction === kind && Date.parse(blockTimestamp) > present().getTime() - 7 * 86_400_000,
      ).length
    const entries = await client.listEntries(code)
    expect(flows.filter(({ name }) => name.endsWith('.count')).map(({ value }) => Number(value))).toEqual([
      of(entries, 'deposit'),
      of(entries, 'withdraw'),
    ])
    const { timestamp } = await client.chain.getBlock()
    const now = new Date(Number(timestamp) * 1_000)
    const range = `startDate=${new Date(now.getTime() - 86_400_000).toISOString()}&endDate=${now.toISOString()}`
    const metrics = await client.call('GET', `/v2/metrics/distributor/${code}?${range}&includeTopWallets=true`)
    const lps = await client.call('GET', `/v2/metrics/distributor/${code}/lps?${range}`)
    expect(figures.slice(1).map(({ value }) => Number(value))).toEqual([
      ...[lps.timeseries.at(-1).activeLps, lps.timeseries.at(-1).participatedLps],
    ])
    const shown = await page.tab.locator('section[aria-labelledby=top] li').count()
    expect(shown).toBe(metrics.topWallets.length)
    expect([page.failures, page.outside]).toEqual([[], []])
    await page.close()
  }, 60_000)

  it('saves its whole ledger as CSV, each entry as the API tells it', async () => {
    const page = await browser.openPage(`distributor/${code}/ledger`)
    const entries = await client.listEntries(code)
    const download = page.tab.waitForEvent('download')
    await page.tab.getByRole('button', { name: 'Save as CSV' }).click()
    const text = await readFile(await (await download).path(), 'utf8')
    const [head = '', ...lines] = text.trimEnd().split('\r\n')
    expect(lines).toHaveLength(entries.length)
    const at = head.split(',').indexOf('txHash')
    expect(lines.map((line) => line.split(',')[at]).sort()).toEqual(entries.map(({ txHash }) => txHash).sort())
    expect([page.failures, page.outside]).toEqual([[], []])
    await page.close()
  }, 60_000)

  it('checks an integration: the first step that was not taken is named', async () => {
    const page = await browser.openPage(`distributor/${code}/check?tx=${sent.deposit}&chainId=31337`)
    const { tab } = page
    await tab.getByRole('heading', { name: `It is credited to ${code}` }).waitFor()
    expect(await tab.locator('.checks .met').count()).toBe(5)
    await page.go(`distributor/${devnet.dev.distributorIds[2]}/check?tx=${sent.deposit}&chainId=31337`)
    await tab.getByRole('heading', { name: 'Something is missing' }).waitFor()
    expect(await tab.locator('.checks .unmet').first().textContent()).toContain(`names ${devnet.dev.distributorIds[2]}`)
    await page.go(`distributor/${code}/check?tx=${sent.plain}&chainId=31337`)
    await tab.getByRole('heading', { name: 'Something is missing' }).waitFor()
    expect(await tab.locator('.checks .unmet').first().textContent()).toContain('a suffix stands in its calldata')
    await page.close()
  }, 60_000)

  it('types its own key, which is in no address, kept by a tick alone; a secret key is refused', async () => {
    const page = await browser.openPage(`distributor/${code}/key`)
    const { tab } = page
    const { keys } = devnet.dev
    const field = tab.getByLabel('Your publishable key')
    const use = tab.getByRole('button', { name: 'Use it' })
    await field.fill(keys.secret)
    await use.click()
    await tab.getByRole('alert').filter({ hasText: 'That is a secret key.' }).waitFor()
    await field.fill('pk_live_short')
    await use.click()
    await tab.getByRole('alert').filter({ hasText: '38 more characters' }).waitFor()
    const kept = () => tab.evaluate(`JSON.stringify(localStorage)`) as Promise<string>
    await field.fill(keys.publishable)
    await use.click()
    await tab.getByText('These pages call the API with your key').waitFor()
    expect([tab.url().includes('pk_'), (await kept()).includes('pk_')]).toEqual([false, false])
    await tab.getByRole('button', { name: 'Forget my key' }).click()
    await field.fill(keys.publishable)
    await tab.getByLabel('Keep it in this browser').check()
    await use.click()
    await tab.reload()
    await settle(tab)
    await tab.getByText('These pages call the API with your key').waitFor()
    await tab.getByRole('button', { name: 'Forget my key' }).click()
    expect([(await kept()).includes('pk_'), (await kept()).includes('sk_')]).toEqual([false, false])
    await page.close()
  }, 60_000)
})

describe('every page', () => {
  it('shows no number and no instant but those of the API, each exactly, and written as it is', async () => {
    const { dev } = devnet
    const [vault, withheld] = [dev.opportunities.find(({ kind }) => kind === 'erc4626')!, dev.withheld[0]!]
    const wallet = devAccount(playerIndexes[0]).address
    const pages = {
      '': 20,
      [`opportunities/${vault.id}?chart=apy&range=7d`]: 20,
      [`opportunities/${withheld.id}`]: 8,
      [`portfolio/${wallet}`]: 20,
      [`portfolio/${wallet}?month=${month}`]: 40,
      [`distributor/${dev.distributorIds[2]}/metrics?range=7d`]: 4,
      [`distributor/${dev.distributorIds[2]}/ledger`]: 20,
      [`distributor/${code}/streams`]: 5,
      [`distributor/${code}/check?tx=${sent.deposit}&chainId=31337`]: 0,
      [`distributor/${code}/key`]: 3,
      [lookUp(sent.deposit)]: 4,
      status: 20,
      methodology: 0,
    }
    const wrong: unknown[] = []
    let [compared, dated] = [0, 0]
    const chainIds = ['31337']
    for (const [path, least] of Object.entries(pages)) {
      // The key's budget is known once the page has called the API.
      const isKey = path.endsWith('/key')
      const page = await browser.openPage(isKey ? path.replace('key', 'ledger') : path)
      if (isKey) await page.tab.getByRole('link', { name: 'Key', exact: true }).click()
      for (const summary of await page.tab.locator('summary').all()) await summary.click()
      await settle(page.tab)
      await page.tab.waitForLoadState('networkidle')
      const { figures, times, loose } = await readShown(page.tab)
      const answers = await Promise.all(page.answered)
      const untold = loose.filter((text) => !chainIds.includes(text))
      wrong.push(...untold.map((text) => [path, 'is told by nobody', text]))
      const judged = [...figures, ...times].map((figure) => ({ figure, ...findTold(figure, answers) }))
      for (const { figure, told, problem } of judged) {
        const sign = figure.name.includes('borrow') ? '-' : ''
        const isTold = (value: string) => value.startsWith(sign) && told.has(value.slice(sign.length))
        if (problem) wrong.push([path, problem, figure])
        else if (!isTold(figure.value)) wrong.push([path, 'the API tells otherwise', figure, [...told]])
        // Whatever else the page shows would be found out in this place.
        for (const { value } of [...figures, ...times])
          if (value !== figure.value && isTold(value) && !isBudget(figure))
            wrong.push([path, 'could show', value, figure])
      }
      // The hour of a key is another one after each answer: its three figures are of one.
      const budget = figures.filter(isBudget)
      const isOneHour = ({ body }: Answer) =>
        budget.every((each) => findTold(each, [{ url: '', body }]).told.has(each.value))
      if (budget.length > 0 && !answers.some(isOneHour)) wrong.push([path, 'are of several hours', budget])
      for (const figure of figures) if (!isWritten(figure)) wrong.push([path, 'is written otherwise', figure])
      if (figures.length < least) wrong.push([path, `has ${figures.length} figures`])
      wrong.push(...page.failures, ...page.outside)
      compared += figures.length
      dated += times.length
      await page.close()
    }
    expect(wrong).toEqual([])
    console.info(`${compared} figures and ${dated} instants of ${Object.keys(pages).length} pages are those of the API`)
    expect(compared).toBeGreaterThan(300)
  }, 240_000)
})

describe('a key', () => {
  it('that is revoked while its page is open is said to be refused; the page goes on with the key of the operator', async () => {
    const env = { OPENEARN_DATA_DIR: trusted.dataDir }
    const { id } = devnet.dev.organizations[0]!
    const made = await runOpenEarn(['keys', 'create', '--org', id, '--kind', 'publishable'], env)
    const key = /pk_live_\w+/.exec(made)![0]
    const page = await browser.openPage(`distributor/${code}/key`)
    const { tab } = page
    await tab.getByLabel('Your publishable key').fill(key)
    await tab.getByRole('button', { name: 'Use it' }).click()
    const menu = tab.getByRole('navigation', { name: 'Portal' })
    await menu.getByRole('link', { name: 'Opportunities' }).click()
    await tab.locator('li[data-id]').first().waitFor()
    await runOpenEarn(['keys', 'revoke', `${key.slice(0, 12)}…${key.slice(-4)}`], env)
    const refused = tab.getByRole('alert').filter({ hasText: 'The key of this page is no longer accepted' })
    // A key is looked up again every few seconds.
    for (const sortBy of ['name', 'tvl', 'type', 'apr', 'curator', 'provider', 'tvlD1', 'tvlD7', 'tvlD30', 'lpsD1']) {
      await tab.getByRole('combobox', { name: 'Sort by' }).selectOption(sortBy)
      await settle(tab)
      await tab.waitForLoadState('networkidle')
      if (await refused.isVisible()) break
      await tab.waitForTimeout(1_000)
    }
    await refused.waitFor()
    await page.go(`distributor/${code}/key`)
    await tab.getByText('These pages call the API with the key of the operator').waitFor()
    await menu.getByRole('link', { name: 'Opportunities' }).click()
    await tab.locator('li[data-id]').first().waitFor()
    expect([page.failures, page.outside]).toEqual([[], []])
    await page.close()
  }, 120_000)
})

describe('the status', () => {
  it('shows each chain and vault as the API tells them', async () => {
    const page = await browser.openPage('status')
    const { chains, vaults } = await client.call('GET', '/v2/indexing-status/')
    for (const chain of chains) {
      const figures = await readFigures(page.tab, `section[data-id="${chain.chainId}"]`)
      const still = figures.filter(({ name }) => name === 'reorgs24h')
      expect(still.map(({ value }) => value)).toEqual([`${chain.reorgs24h}`])
    }
    expect(await page.tab.locator('section[aria-labelledby=vaults] li').count()).toBe(Math.min(50, vaults.length))
    expect([page.failures, page.outside]).toEqual([[], []])
    await page.close()
  }, 60_000)
})
