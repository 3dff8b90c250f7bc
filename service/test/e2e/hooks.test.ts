import type { Trust } from '@openearn/sdk'
import type { Flow } from '@openearn/sdk/flows'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../../contracts/test/until.js'
import { bundleExample } from '../../../react/test/bundles.js'
import { readSnippets } from '../documents.js'
import { openClient } from './client.js'
import { announced, ethereum, type HooksApp, openHooks, renderOnServer } from './hooksInPage.js'
import { startTrustedDevnet, type TrustedDevnet } from './trustedDevnet.js'

let trusted: TrustedDevnet
let dataDir: string
let devnet: TrustedDevnet['devnet']
let trust: Trust

beforeAll(async () => {
  trusted = await startTrustedDevnet('openearn-hooks-')
  ;({ dataDir, devnet, trust } = trusted)
}, 180_000)
afterAll(async () => {
  await trusted?.close()
}, 60_000)

const find = (kind: string) => devnet.dev.opportunities.find((each) => each.kind === kind)!
const distributorId = () => devnet.dev.distributorIds[0]!
const units = (decimals: number, whole: bigint) => whole * 10n ** BigInt(decimals)
const depositOf = (wallet: string, whole: bigint, kind = 'erc4626') => {
  const { id: opportunityId, asset } = find(kind)
  const amount = units(asset.decimals, whole)
  return { opportunityId, userAddress: wallet, tokenIn: asset.address, amount, distributorId: distributorId() }
}
const ends = [
  'credited',
  'requested',
  'done',
  'member',
  'filled',
  'refused',
  'reverted',
  'replaced',
  'mined, not credited',
]

describe.each([18, 19] as const)('the hooks with React %i', (version) => {
  let app: HooksApp
  beforeAll(async () => {
    app = await openHooks({ dev: devnet.dev, trust }, { version })
    await openClient(devnet.dev).join(devnet.dev.accounts[at]!.privateKey)
  }, 60_000)
  afterAll(() => app?.close(), 60_000)
  const at = version === 18 ? 5 : 6

  it('draw on a server what the browser goes on with: nothing of the page changes, and nothing is read again', async () => {
    const page = await app.openPage(at)
    const { baseUrl, apiKey } = page.settings
    const sent = await renderOnServer(dataDir, version, { baseUrl, apiKey })
    expect([sent.version.split('.')[0], sent.stderr]).toEqual([`${version}`, ''])
    expect(sent.html).toMatch(/<h1>\d+ vaults<\/h1>/)
    expect(sent.html).not.toMatch(/loading|no vault/)
    app.pages.shown.html = sent.html
    await page.load()
    const text = await page.evaluate('document.getElementById("root").innerText')
    const json = `${JSON.stringify({ baseUrl, apiKey })}, ${JSON.stringify(sent.state)}`
    await page.evaluate(`globalThis.changes = app.hydrate(${json})`)
    await page.page.waitForFunction('(app.told().drawn.vault ?? []).length > 0')
    // The effects have run when a hook has told its slot whom to tell.
    await page.page.waitForFunction('app.told().flows.deposit !== undefined')
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
    expect(await page.evaluate('globalThis.changes')).toEqual([])
    expect(await page.evaluate('document.getElementById("root").innerText')).toBe(text)
    expect(await page.evaluate('app.faults')).toEqual([])
    expect([page.calls, page.failures]).toEqual([[], []])
    expect([(await page.drawn('vaults')).length, (await page.drawn('vault')).length]).toEqual([1, 1])
    app.pages.shown.html = ''
    await page.close()
  }, 120_000)

  it('draw once for each state: of what is read, and of a flow', async () => {
    const page = await app.openPage(at)
    await page.open()
    await page.page.waitForFunction(
      '(app.told().drawn.portfolio ?? []).at(-1)?.portfolio && app.told().drawn.vault?.at(-1)',
    )
    expect((await page.drawn('vaults')).length).toBe(2)
    expect((await page.drawn('vault')).length).toBe(3)
    expect((await page.drawn('portfolio')).length).toBe(2)
    // What comes again as it was is not drawn.
    await page.evaluate('app.queries.invalidateQueries({ queryKey: ["openearn", "opportunities"] })')
    expect(await page.drawnTwice('vaults')).toEqual([])
    expect(await page.begin('deposit', depositOf(page.address, 2n))).toBe(true)
    expect(await page.begin('deposit', depositOf(page.address, 2n))).toBe(false)
    const flow = await page.reach('deposit', ends)
    expect([flow.status, flow.problem, flow.trusts]).toEqual(['credited', undefined, 'file'])
    expect(await page.drawnTwice('deposit')).toEqual([])
    const drawn = await page.drawn<Flow | undefined>('deposit')
    expect(drawn.map((each) => each?.status ?? 'none').filter((each, index, all) => each !== all[index - 1])).toEqual([
      ...['none', 'building', 'ready', 'asking', 'sent', 'ready', 'asking', 'sent', 'mined', 'credited'],
    ])
    // Nothing else of the page was drawn for it.
    expect((await page.drawn('withdraw')).length).toBe(1)
    expect(page.failures).toEqual([])
    await page.close()
  }, 120_000)

  it('show a portfolio with the deposit after the flow, which the page did not ask for', async () => {
    const page = await app.openPage(at)
    await page.open()
    await page.page.waitForFunction('(app.told().drawn.portfolio ?? []).at(-1)?.portfolio')
    const before = page.calls.filter((path) => path.endsWith('/portfolio')).length
    await page.begin('deposit', depositOf(page.address, 1n))
    await page.reach('deposit', ends)
    await until(
      'the portfolio to be read',
      () => page.calls.filter((path) => path.endsWith('/portfolio')).length > before,
    )
    await page.close()
  }, 120_000)

  it('go on after the page is loaded again in each status, and deposit once', async () => {
    const page = await app.openPage(at, { strict: true })
    await page.open()
    await page.begin('deposit', depositOf(page.address, 3n))
    const node = openClient(page.dev)
    const seen = new Set<string>()
    let status: string | undefined
    for (let turn = 0; turn < 3_000 && !ends.includes(status ?? ''); turn++) {
      const flow = await page.flowOf('deposit')
      status = flow?.status
      const word = await page.wordOf('deposit')
      if (word) await page.say('deposit', word)
      else if (status && !seen.has(status)) {
        seen.add(status)
        await page.load()
        await page.open()
      }
      if (turn % 4 === 3) await node.request('evm_mine', [])
      await page.evaluate('new Promise((resolve) => requestAnimationFrame(resolve))')
    }
    expect(status).toBe('credited')
    expect(page.asked.filter((method) => method === 'eth_sendTransaction').length).toBeLessThanOrEqual(2)
    // A page that is loaded again while its plan is being built asks with the same key: the first call is still under way.
    expect(page.failures.filter((each) => !each.includes('409 (Conflict)'))).toEqual([])
    await page.close()
  }, 120_000)
})

describe('the hooks in a page', () => {
  let app: HooksApp
  beforeAll(async () => {
    app = await openHooks({ dev: devnet.dev, trust })
    await openClient(devnet.dev).join(devnet.dev.accounts[4]!.privateKey)
  }, 60_000)
  afterAll(() => app?.close(), 60_000)

  it('stop before each request where they are told to, with its sentences', async () => {
    const page = await app.openPage(4, { review: true })
    await page.open()
    await page.begin('deposit', depositOf(page.address, 1n))
    await page.page.waitForFunction('app.told().flows.deposit.needs === "go"')
    const flow = await page.flowOf('deposit')
    expect([flow?.status, flow?.sentences?.length, flow?.trusts]).toEqual(['ready', 2, 'file'])
    expect(page.asked).toEqual([])
    await page.say('deposit', 'go')
    await page.reach('deposit', ['credited'])
    await page.close()
  }, 120_000)

  it('wait for a wallet that is connected later, and use it then', async () => {
    const page = await app.openPage(4)
    await page.open(false)
    await page.begin('deposit', depositOf(page.address, 1n))
    await page.page.waitForFunction('app.told().flows.deposit.flow?.problem')
    expect((await page.flowOf('deposit'))?.problem).toMatchObject({ text: 'no wallet is connected' })
    await page.evaluate('app.connect()')
    expect((await page.reach('deposit', ends)).status).toBe('credited')
    await page.close()
  }, 120_000)

  it('hand a flow to another tab when theirs is closed, and send nothing twice', async () => {
    const page = await app.openPage(4, { review: true })
    await page.open()
    await page.begin('deposit', depositOf(page.address, 1n))
    await page.page.waitForFunction('app.told().flows.deposit.needs === "go"')
    const other = await page.openTab()
    await other.open()
    await other.page.waitForFunction('app.told().flows.deposit.needs === "go"')
    await page.reach('deposit', ['mined'])
    await page.page.close()
    expect((await other.reach('deposit', ends)).status).toBe('credited')
    expect(page.asked.filter((method) => method === 'eth_sendTransaction')).toHaveLength(2)
    expect(page.failures).toEqual([])
    await page.close()
  }, 120_000)

  it('go on after their provider was taken away and put back, as by another page of the app', async () => {
    const page = await app.openPage(4, { review: true })
    await page.open()
    await page.begin('deposit', depositOf(page.address, 1n))
    await page.page.waitForFunction('app.told().flows.deposit.needs === "go"')
    await page.evaluate('app.close()')
    await page.open()
    expect((await page.reach('deposit', ends)).status).toBe('credited')
    await page.close()
  }, 120_000)
})

describe('examples/react', () => {
  let app: HooksApp
  beforeAll(async () => {
    const { baseUrl, keys } = devnet.dev
    const env = { VITE_EARN_URL: baseUrl, VITE_EARN_KEY: keys.publishable, VITE_DISTRIBUTOR: distributorId() }
    app = await openHooks({ dev: devnet.dev, trust }, { files: await bundleExample(env) })
  }, 60_000)
  afterAll(() => app?.close(), 60_000)

  it.each([
    ['finds a wallet that announced itself', '', 9],
    ['takes the wallet of wagmi', '/wagmi.html', 2],
  ])(
    '%s, links it and deposits',
    async (_, path, at) => {
      const page = await app.openPage(at, {}, [announced])
      const tab = page.page
      await tab.goto(`${app.pages.origin}${path}`)
      // wagmi connects by itself to a wallet that shows its accounts.
      if (path === '') await tab.getByRole('button', { name: 'Connect Wallet of the test' }).click()
      await tab.getByRole('button', { name: 'Link this wallet' }).click()
      await tab.getByRole('button', { name: 'Go to the wallet' }).click()
      await tab.getByRole('region', { name: 'Membership' }).waitFor({ state: 'detached' })
      const { name } = await openClient(devnet.dev).call('GET', `/v2/opportunities/${find('erc4626').id}`)
      const vault = tab.locator('li', { hasText: name })
      await vault.getByRole('textbox').fill('1.5')
      await vault.getByRole('button', { name: 'Deposit' }).click()
      const sent = () => page.asked.filter((method) => method === 'eth_sendTransaction').length
      for (const count of [1, 2]) {
        await vault.getByRole('button', { name: 'Go to the wallet' }).click()
        await until('a transaction', () => sent() === count)
      }
      await vault.locator('output', { hasText: 'credited' }).waitFor()
      expect([page.asked.filter((method) => method === 'personal_sign').length, sent()]).toEqual([1, 2])
      expect(page.failures).toEqual([])
      await page.close()
    },
    120_000,
  )
})

describe('react/README.md', () => {
  it('shows an app that deposits: each request of the wallet follows a click on what was read', async () => {
    const [first] = (await readSnippets('react/README.md')).filter(({ language }) => language === 'tsx')
    const text = `const settings = globalThis.settings\n${first!.lines.join('\n')}\ndocument.title = 'ready'`
    const { dev } = devnet
    const account = dev.accounts[8]!
    await openClient(dev).join(account.privateKey)
    const app = await openHooks({ dev, trust }, { program: 'readme.tsx', text })
    try {
      const given = { baseUrl: dev.baseUrl, publishableKey: dev.keys.publishable, account: account.address }
      const settings = `globalThis.settings = ${JSON.stringify({ ...given, distributorId: distributorId() })}`
      const page = await app.openPage(8, {}, [ethereum, settings])
      const { name } = await openClient(dev).call('GET', `/v2/opportunities/${find('erc4626').id}`)
      await page.page.locator('li', { hasText: name }).getByRole('button').click()
      const sent = () => page.asked.filter((method) => method === 'eth_sendTransaction').length
      for (const count of [1, 2]) {
        await page.page.getByRole('button', { name: 'Sign' }).click()
        await until('a transaction', () => sent() === count)
      }
      await page.page.locator('output', { hasText: 'credited' }).waitFor()
      expect(sent()).toBe(2)
      expect(page.failures).toEqual([])
      await page.close()
    } finally {
      await app.close()
    }
  }, 120_000)
})

describe('the hooks with wagmi', () => {
  it('take its connector client as the wallet: join and deposit', async () => {
    const app = await openHooks({ dev: devnet.dev, trust }, { program: 'wagmi.tsx' })
    try {
      const page = await app.openPage(7, {}, [ethereum])
      await page.open()
      await page.begin('join', { wallet: page.address, chainId: 31_337 })
      expect((await page.reach('join', ends)).status).toBe('member')
      await page.begin('deposit', depositOf(page.address, 1n))
      expect((await page.reach('deposit', ends)).status).toBe('credited')
      expect(page.failures).toEqual([])
      await page.close()
    } finally {
      await app.close()
    }
  }, 120_000)
})
