import type { Trust } from '@openearn/sdk'
import type { BrowserContext, Locator, Route } from 'playwright-core'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { patient } from '../../../contracts/test/patience.js'
import { devAccount } from '../../src/cli/dev/anvil.js'
import { openClient } from './client.js'
import { runOpenEarn } from './process.js'
import { startTrustedDevnet, type TrustedDevnet } from './trustedDevnet.js'
import { findCut, findFaults, openWidgets, type Shown, show, type WidgetApp } from './widgetInPage.js'

let trusted: TrustedDevnet
let dataDir: string
let devnet: TrustedDevnet['devnet']
let trust: Trust
let app: WidgetApp
let name: string
/** An account that has something of everything. */
let looking: number

beforeAll(async () => {
  trusted = await startTrustedDevnet('openearn-hosts-')
  ;({ dataDir, devnet, trust } = trusted)
  const client = openClient(devnet.dev)
  name = (await client.call('GET', `/v2/opportunities/${find('erc4626').id}`)).name
  // A holder of the past, who has holdings and a reward.
  looking = devnet.dev.accounts.push(devAccount(17)) - 1
  for (const at of [3, 4, 5, 6, 8, looking]) await client.join(devnet.dev.accounts[at]!.privateKey)
  await requestDeposit(client)
  app = await openWidgets(devnet.dev, trust)
}, 180_000)
afterAll(async () => {
  await app?.close()
  await trusted?.close()
}, 60_000)

const find = (kind: string) => devnet.dev.opportunities.find((each) => each.kind === kind)!
const transaction = /^eth_sendTransaction$/
/** A deposit of the account that waits for its vault, or for its claim. */
async function requestDeposit(client: ReturnType<typeof openClient>): Promise<void> {
  const { id, asset } = find('erc7540')
  const account = privateKeyToAccount(devnet.dev.accounts[looking]!.privateKey)
  const { transactions } = await client.call('POST', `/v2/actions/deposit/${id}`, {
    ...{ userAddress: account.address, tokenIn: asset.address, amount: '5000000' },
    distributorId: devnet.dev.distributorIds[0],
  })
  await client.sendAll(account, transactions)
}

const panelOf = ({ tab }: Shown) => tab.getByRole('region', { name: 'Deposit', exact: true })

/** Begins a deposit, up to the question whether to go to the wallet. */
async function begin(page: Shown, amount = '1'): Promise<void> {
  await page.open(name)
  await page.amount.fill(amount)
  await page.button('Deposit').click()
  await panelOf(page).getByRole('button', { name: 'Go to the wallet' }).waitFor()
}

const amountIn = (widget: Locator) => widget.getByRole('form', { name: 'Deposit' }).getByRole('textbox')

/** Changes answers of the service whose path ends with a text. */
const rewrite = (context: BrowserContext, path: RegExp, change: (body: never) => unknown) =>
  context.route(path, async (route: Route) => {
    if (route.request().method() === 'OPTIONS') return route.continue()
    const response = await route.fetch()
    await route.fulfill({ response, json: change((await response.json()) as never) })
  })

/** Holds answers of the service back until its result is called. */
async function hold(context: BrowserContext, path: RegExp): Promise<() => void> {
  let release: () => void = () => undefined
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  await context.route(path, async (route) => {
    await released
    await route.continue()
  })
  return release
}

describe('the widget in a page', () => {
  it.each([
    ['light', 'ltr'],
    ['dark', 'rtl'],
    ['light', 'rtl'],
    ['dark', 'ltr'],
  ] as const)(
    'has nothing that axe finds wrong, and no figure is cut: %s, %s, 320 and 1280 pixels',
    async (theme, dir) => {
      const page = await show(app, looking, '', { theme, dir, trust, locale: dir === 'rtl' ? 'ar-EG' : 'de' })
      const look = async (place: string) => {
        for (const width of [1_280, 320]) {
          await page.tab.setViewportSize({ width, height: 800 })
          expect([place, width, await findFaults(page.tab), await findCut(page.tab)]).toEqual([place, width, [], []])
        }
      }
      await page.tab.getByRole('button', { name }).first().waitFor()
      await look('list')
      await page.open(name)
      await page.amount.fill('x')
      await page.button('Deposit').click()
      await page.tab.getByRole('alert').first().waitFor()
      await look('form')
      await page.amount.fill('1')
      await page.button('Deposit').click()
      await panelOf(page).getByRole('button', { name: 'Go to the wallet' }).waitFor()
      await look('review')
      await page.button('Yours').click()
      await page.tab.getByRole('heading', { name: 'Holdings' }).waitFor()
      for (const name of ['Holdings', 'Requests', 'Rewards'])
        await page.tab.getByRole('region', { name, exact: true }).getByRole('listitem').first().waitFor()
      await look('yours')
      expect(page.failures).toEqual([])
      await page.close()
    },
    60_000,
  )

  it('keeps its buttons where they are while the balances of the wallet are read', async () => {
    const page = await show(app, looking, '', { trust })
    const arrive = await hold(page.context, /\/portfolio/)
    await page.open(name)
    const before = await page.button('Deposit').boundingBox()
    arrive()
    await page.tab.getByText(/You have [\d,.]+ USDC/).waitFor()
    expect(before).not.toBeNull()
    expect(await page.button('Deposit').boundingBox()).toEqual(before)
    await page.close()
  }, 60_000)

  it('opens no vault of the search before, which is about to move, while the answer to a new search is awaited', async () => {
    const page = await show(app, looking, '', { trust })
    const answer = await hold(page.context, /[?&]search=/)
    const listed = page.tab.locator('button.vault')
    await listed.nth(1).waitFor()
    await page.tab.getByRole('searchbox').fill(name)
    for (const vault of await listed.all()) expect(await vault.isDisabled()).toBe(true)
    answer()
    await page.tab.getByRole('button', { name }).first().click()
    await page.tab.getByRole('heading', { name, level: 2 }).waitFor()
    await page.close()
  }, 60_000)

  it('shows what a token itself says an amount is where the service lies about its decimals', async () => {
    const page = await show(app, 4, '', { trust })
    await rewrite(page.context, /\/v2\/opportunities/, (body) => {
      const lie = (json: string) => json.replaceAll('"decimals":6', '"decimals":8')
      return JSON.parse(lie(JSON.stringify(body)))
    })
    await begin(page)
    await panelOf(page).getByText('Deposit 100 (100000000 units) of').waitFor()
    await page.close()
  }, 60_000)

  it('is drawn the same where the styles of the page spoil whatever they reach', async () => {
    const looks = async (path: string) => {
      const page = await show(app, 3, path, { trust, theme: 'light' })
      await page.tab.getByRole('button', { name }).first().waitFor()
      await page.tab.getByRole('searchbox').fill(name)
      const seen = await page.tab.evaluate(`(() => {
        const { shadowRoot } = document.querySelector('[data-openearn]')
        return [...shadowRoot.querySelectorAll('nav, nav button, h2, label, input')].map((each) => {
          const { display, visibility, opacity, color, fontSize, letterSpacing, textTransform, textAlign, pointerEvents, position } =
            getComputedStyle(each)
          const { width, height } = each.getBoundingClientRect()
          return [each.tagName, display, visibility, opacity, color, fontSize, letterSpacing, textTransform, textAlign,
            pointerEvents, position, Math.round(height), width > 20].join(' ')
        })
      })()`)
      await page.close()
      return seen as string[]
    }
    const plain = await looks('')
    expect(plain.length).toBeGreaterThan(5)
    expect(await looks('hostile.html')).toEqual(plain)
  }, 60_000)

  it('deposits where the policy of the page allows styles and scripts of its own files alone, with Trusted Types', async () => {
    const page = await show(app, 3, 'strict.html', { trust })
    await begin(page)
    await page.finish('Deposit', 'Done.')
    const { violations } = await page.told()
    expect([violations, page.failures, page.counted(transaction)]).toEqual([[], [], 2])
    await page.close()
  }, 60_000)

  it('tells names of strangers as text, cut, whatever marks are in them', async () => {
    const page = await show(app, 4, '', { trust })
    const bad = `<img src=x onerror="globalThis.hacked=1">\u202egnp.evil\u2066{amount}${'W'.repeat(10_240)}`
    await rewrite(page.context, /\/v2\/opportunities/, (body: { data?: object[] }) => {
      const spoil = (vault: object) =>
        Object.assign(vault, {
          ...{ name: bad, description: bad },
          ...Object.fromEntries(
            ['baseToken', 'receiptToken'].map((key) => [
              key,
              { ...(vault as Record<string, object>)[key], symbol: bad },
            ]),
          ),
          depositTokens: (vault as { depositTokens: object[] }).depositTokens.map((each) => ({
            ...each,
            symbol: bad,
            name: bad,
          })),
          curator: { id: '1', name: bad, description: bad, iconUrl: 'javascript:1', landingUrl: 'javascript:1' },
        })
      if (body.data) body.data.forEach(spoil)
      else spoil(body)
      return body
    })
    await page.go()
    await page.tab.setViewportSize({ width: 320, height: 800 })
    await page.tab.getByText('<img src=x').first().click()
    await page.amount.fill('1')
    await page.button('Deposit').click()
    await panelOf(page).getByRole('button', { name: 'Go to the wallet' }).waitFor()
    const seen = await page.tab.evaluate(`(() => {
      const { shadowRoot } = document.querySelector('[data-openearn]')
      const longest = Math.max(...[...shadowRoot.querySelectorAll('*')].map((each) => each.textContent.length).slice(1))
      return [shadowRoot.querySelectorAll('img, a, iframe, script').length, globalThis.hacked ?? 0,
        /[\\u202a-\\u202e\\u2066-\\u2069]/.test(shadowRoot.textContent), longest < 8_000]
    })()`)
    expect(seen).toEqual([0, 0, false, true])
    expect(await findCut(page.tab)).toEqual([])
    // The sentences of the check hold nothing that the service says.
    expect(await panelOf(page).getByRole('listitem').allTextContents()).not.toContain('evil')
    await page.close()
  }, 60_000)

  it('stands twice in a page: a flow of one is not begun by the other, nor asked for twice', async () => {
    const page = await show(app, 5, 'two.html', { trust, vaults: [find('erc4626').id] })
    const [first, second] = [0, 1].map((at) => page.tab.locator('[data-openearn]').nth(at)) as [
      ReturnType<typeof page.tab.locator>,
      ReturnType<typeof page.tab.locator>,
    ]
    await first.getByRole('button', { name }).click()
    await second.getByRole('button', { name }).click()
    await amountIn(first).fill('3')
    expect(await amountIn(second).inputValue()).toBe('')
    await first.getByRole('button', { name: 'Deposit' }).click()
    const go = first.getByRole('button', { name: 'Go to the wallet' })
    for (const count of [1, 2]) {
      await go.click()
      await expect.poll(() => page.counted(transaction)).toBe(count)
    }
    await first.getByRole('status').filter({ hasText: 'Done.' }).waitFor()
    expect(await second.getByRole('region', { name: 'Deposit', exact: true }).count()).toBe(0)
    expect([page.counted(transaction), page.failures]).toEqual([2, []])
    await page.close()
  }, 60_000)

  it('shows only the vaults that the app names, in its words, its colours and the numbers of its locale', async () => {
    const { id } = find('erc4626')
    const texts = { vaults: 'Trésor', deposit: 'Déposer', rate: '{rate} par an' }
    const page = await show(app, 8, '', { trust, vaults: [id], locale: 'fr', texts })
    const root = page.tab.getByRole('region', { name: 'Earn' })
    await root.getByRole('heading', { name: 'Trésor' }).waitFor()
    const vault = root.getByRole('listitem').getByRole('button')
    await vault.waitFor()
    expect(await vault.count()).toBe(1)
    expect(await vault.textContent()).toMatch(/\d(,\d+)?[\u202f\u00a0]% par an/)
    expect(await root.getByRole('searchbox').count()).toBe(0)
    await page.tab.evaluate(`document.body.style.setProperty('--openearn-background', 'rgb(1, 2, 3)')`)
    const drawn = `document.querySelector('[data-openearn]').shadowRoot.querySelector('.root')`
    expect(await page.tab.evaluate(`getComputedStyle(${drawn}).backgroundColor`)).toBe('rgb(1, 2, 3)')
    await vault.click()
    await root.getByRole('textbox').fill('1.5')
    await root.getByRole('button', { name: 'Déposer' }).click()
    await root.getByRole('alert').filter({ hasText: '1,5' }).waitFor()
    await root.getByRole('textbox').fill('1,5')
    await root.getByRole('button', { name: 'Déposer' }).click()
    await root.getByText('Go to the wallet').waitFor()
    expect(await root.getByText('to take exactly 1.5 (1500000 units)').count()).toBe(1)
    await page.close()
  }, 60_000)

  it('works with React 18 too', async () => {
    const old = await openWidgets(devnet.dev, trust, 18)
    try {
      const page = await show(old, 6, '', { trust })
      await begin(page)
      await page.finish('Deposit', 'Done.')
      expect(page.failures).toEqual([])
      await page.close()
    } finally {
      await old.close()
    }
  }, 60_000)

  it('says so when its key is revoked while it is open', async () => {
    const env = { OPENEARN_DATA_DIR: dataDir }
    const organization = (await runOpenEarn(['orgs', 'create', '--name', 'Short'], env)).trim()
    const said = await runOpenEarn(['keys', 'create', '--org', organization, '--kind', 'publishable'], env)
    const [apiKey = ''] = /pk_live_[0-9A-Za-z]{38}/.exec(said) ?? []
    const page = await show(app, 5, '', { apiKey })
    await page.tab.getByRole('button', { name }).first().waitFor()
    await runOpenEarn(['keys', 'revoke', apiKey.replace(/^(.{12}).*(.{4})$/, '$1…$2')], env)
    const tell = async () => {
      await page.button('Vaults').click()
      await page.button('Yours').click()
      return page.tab.getByText('no longer accepts the key').count()
    }
    await expect.poll(tell, { interval: 500, timeout: patient(30_000) }).toBeGreaterThan(0)
    await page.close()
  }, 60_000)

  it('is drawn once for what changes, and not at all while nothing does', async () => {
    const page = await show(app, 6, '', { trust, vaults: [find('erc4626').id] })
    await page.tab.getByRole('button', { name }).click()
    await page.tab.getByText('You have').first().waitFor()
    const drawings = async () => (await page.told()).drawings
    const frames = () =>
      page.tab.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
    await page.tab.locator('form button.main:enabled').first().waitFor()
    await frames()
    const before = await drawings()
    for (let turn = 0; turn < 20; turn++) await frames()
    expect(await drawings()).toBe(before)
    await page.amount.pressSequentially('1.25')
    expect(await drawings()).toBe(before + 4)
    const calls = page.calls.length
    await page.button('Deposit').click()
    await page.finish('Deposit', 'Done.')
    await frames()
    // A flow has 10 to 12 states and two words; each read of the page has a beginning and an answer.
    const reads = page.calls.length - calls
    expect(await drawings()).toBeLessThanOrEqual(before + 4 + 3 + 12 + 2 * 2 + 2 * reads)
    await page.close()
  }, 60_000)
})

describe('a service that lies to the widget', () => {
  it.each<[string, (transactions: Prepared[]) => Prepared[]]>([
    ['another receiver', (all) => all.map((each) => changed(each, { to: other }))],
    ['a raw call beside it', ([first, ...rest]) => [first!, first!, ...rest]],
    ['native money with it', (all) => all.map((each) => changed(each, { value: '1' }))],
    ['another chain', (all) => all.map((each) => changed(each, { chainId: 1 }))],
  ])(
    'with %s in a plan gets nothing signed, and is told of',
    async (_, spoil) => {
      const page = await show(app, 4, '', { trust })
      await rewrite(page.context, /\/v2\/actions\/deposit/, (plan: { transactions: Prepared[] }) => ({
        ...plan,
        transactions: spoil(plan.transactions),
      }))
      await page.open(name)
      await page.amount.fill('1')
      await page.button('Deposit').click()
      await panelOf(page).getByText('The service answered with something else than you asked for').waitFor()
      expect(await panelOf(page).getByRole('button', { name: 'Go to the wallet' }).count()).toBe(0)
      expect(page.asked).toEqual([])
      await page.close()
    },
    60_000,
  )
})

const other = '0x00000000000000000000000000000000000000Ad'
type Prepared = { transaction: object }
const changed = (each: Prepared, part: object) => ({ ...each, transaction: { ...each.transaction, ...part } })
