import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openClient } from './client.js'
import { openEmbed } from './embedInPage.js'
import { runOpenEarn } from './process.js'
import { startTrustedDevnet, type TrustedDevnet } from './trustedDevnet.js'
import { findCut, findFaults } from './widgetInPage.js'

let trusted: TrustedDevnet
let devnet: TrustedDevnet['devnet']
let embed: Awaited<ReturnType<typeof openEmbed>>
let name: string
let key: string
let origin: string

beforeAll(async () => {
  trusted = await startTrustedDevnet('openearn-embed-')
  devnet = trusted.devnet
  const { dev } = devnet
  const vault = dev.opportunities.find(({ kind }) => kind === 'erc4626')!
  name = (await openClient(dev).call('GET', `/v2/opportunities/${vault.id}`)).name
  await openClient(dev).join(dev.accounts[5]!.privateKey)
  embed = await openEmbed(trusted)
  key = embed.key
  origin = embed.app.pages.origin
}, 180_000)
afterAll(async () => {
  await embed?.close()
  await trusted?.close()
}, 60_000)

const pageOf = (apiKey: string, more = '') => fetch(`${devnet.dev.baseUrl}/embed/${apiKey}${more}`)

describe('the widget in the frame of a plain page', () => {
  it('deposits with the wallet of the page, grows with what it shows, and tells what came of it', async () => {
    const { tab, frame, amount, button, open, finish, counted, failures, close } = await embed.show(5)
    await open(name)
    await amount.fill('2')
    await button('Deposit').click()
    const panel = await finish('Deposit', 'Done.')
    await panel.page().getByRole('status').filter({ hasText: 'deposit: credited' }).waitFor()
    expect(counted(/^eth_sendTransaction$/)).toBe(2)
    const height = () => tab.locator('iframe').evaluate((each) => (each as { clientHeight?: number }).clientHeight ?? 0)
    expect(await height()).toBeGreaterThan(200)
    await tab.setViewportSize({ width: 340, height: 800 })
    const inner = tab.frames().find((each) => each.url().startsWith(devnet.dev.baseUrl))!
    expect([await findFaults(inner), await findCut(inner)]).toEqual([[], []])
    expect(await frame.getByRole('heading', { level: 1 }).count()).toBe(1)
    expect(failures).toEqual([])
    await close()
  }, 180_000)

  it('is framed by the pages of its key’s list alone: the browser blocks another site, and a key without a list', async () => {
    const { tab, frame, failures, close } = await embed.show(5)
    await frame.getByRole('searchbox').waitFor()
    expect(failures).toEqual([])
    const blocked = async () => {
      await expect.poll(() => failures.some((each) => /frame-ancestors/.test(each))).toBe(true)
      expect(tab.frames().filter((each) => each.url().startsWith(devnet.dev.baseUrl))).toEqual([])
      failures.length = 0
    }
    await tab.goto(origin.replace('127.0.0.1', 'localhost'))
    await blocked()
    embed.frameKey(devnet.dev.keys.publishable)
    await tab.goto(origin)
    await blocked()
    embed.frameKey(key)
    await close()
  }, 60_000)

  it('comes with a strict policy, for good publishable keys alone', async () => {
    const response = await pageOf(key)
    const headers = Object.fromEntries(response.headers)
    expect(response.status).toBe(200)
    const policy = headers['content-security-policy']!
    expect(policy).toContain(`frame-ancestors ${origin}`)
    for (const each of [
      "default-src 'none'",
      "script-src 'self'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ])
      expect(policy).toContain(each)
    expect(policy).not.toMatch(/unsafe|\*/)
    expect([headers['x-content-type-options'], headers['referrer-policy']]).toEqual(['nosniff', 'no-referrer'])
    const [script] = /files\/embed-[\w-]+\.js/.exec(await response.text())!
    const below = await pageOf(key, '/')
    expect(await below.text()).toContain(`"../${script}"`)
    const file = await fetch(`${devnet.dev.baseUrl}/embed/${script}`, { headers: { origin: 'https://a.example' } })
    expect([file.status, file.headers.get('content-type'), file.headers.get('access-control-allow-origin')]).toEqual([
      ...[200, 'text/javascript; charset=utf-8', null],
    ])
    expect((await pageOf(devnet.dev.keys.publishable)).headers.get('content-security-policy')).toContain(
      "frame-ancestors 'none'",
    )
    const gone = await embed.createKey(origin)
    const hint = gone.replace(/^(.{12}).*(.{4})$/, '$1…$2')
    await runOpenEarn(['keys', 'revoke', hint], { OPENEARN_DATA_DIR: trusted.dataDir })
    for (const wrong of [devnet.dev.keys.secret, gone, `${key.slice(0, -1)}_`, 'x', 'files/../x', 'files/LICENCES.txt'])
      expect([wrong, (await pageOf(wrong)).status]).toEqual([wrong, 404])
  }, 60_000)

  it('calls with its key from its own origin, and other pages outside of the list do not', async () => {
    const call = (from: string) =>
      fetch(`${devnet.dev.baseUrl}/v2/chains/`, { headers: { origin: from, 'x-api-key': key } }).then(
        ({ status }) => status,
      )
    const own = new URL(devnet.dev.baseUrl).origin
    expect([await call(own), await call(origin), await call('https://a.example')]).toEqual([200, 200, 403])
  })
})
