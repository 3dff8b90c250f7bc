import { readFile } from 'node:fs/promises'
import type { Trust } from '@openearn/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { patience } from '../../../contracts/test/patience.js'
import { bundle } from '../../../react/test/bundles.js'
import { organizations } from '../../src/cli/dev/names.js'
import { root } from '../documents.js'
import { openClient } from './client.js'
import { type HooksApp, openHooks } from './hooksInPage.js'
import { runOpenEarn } from './process.js'
import { startTrustedDevnet, type TrustedDevnet } from './trustedDevnet.js'

let trusted: TrustedDevnet
let devnet: TrustedDevnet['devnet']
let trust: Trust
let app: HooksApp
let name: string
/** A key whose list has the origin of the page. */
let key: string
const files = new Map<string, string>()

beforeAll(async () => {
  trusted = await startTrustedDevnet('openearn-embed-')
  ;({ devnet, trust } = trusted)
  const { dev } = devnet
  const vault = dev.opportunities.find(({ kind }) => kind === 'erc4626')!
  name = (await openClient(dev).call('GET', `/v2/opportunities/${vault.id}`)).name
  await openClient(dev).join(dev.accounts[5]!.privateKey)
  for (const [file, code] of await bundle('../../examples/iframe/host.js', 19, 'browser'))
    files.set(file === 'entry.js' ? 'host.js' : file, code)
  files.set('trust.json', JSON.stringify(trust))
  app = await openHooks({ dev, trust }, { files })
  key = await createKey(app.pages.origin)
  await showFrame(key)
}, 180_000)
afterAll(async () => {
  await app?.close()
  await trusted?.close()
}, 60_000)

async function createKey(...origins: string[]): Promise<string> {
  const env = { OPENEARN_DATA_DIR: trusted.dataDir }
  const organization = organizations[0].id
  const listed = origins.flatMap((origin) => ['--origin', origin])
  const said = await runOpenEarn(['keys', 'create', '--org', organization, '--kind', 'publishable', ...listed], env)
  return /pk_live_[0-9A-Za-z]{38}/.exec(said)![0]
}

/** The page of `examples/iframe`, with the page of a key in its frame. */
async function showFrame(apiKey: string): Promise<void> {
  const { baseUrl, distributorIds } = devnet.dev
  const html = await readFile(`${root}examples/iframe/index.html`, 'utf8')
  const framed = html.replace('https://earn.example/embed/pk_live_…', `${baseUrl}/embed/${apiKey}`)
  files.set('index.html', framed.replace('data-distributor="code"', `data-distributor="${distributorIds[0]}"`))
}

const ethereum = `globalThis.ethereum = { request: async (call) => {
  const { error, result } = await globalThis.wallet(call)
  if (error) throw Object.assign(new Error(error.message), { code: error.code })
  return result
} }`

async function show(at: number, origin = app.pages.origin) {
  const page = await app.openPage(at, {}, [ethereum])
  page.context.setDefaultTimeout(60_000 * patience)
  const tab = page.page
  await tab.goto(origin)
  const frame = tab.frameLocator('iframe')
  const panel = frame.getByRole('region', { name: 'Deposit', exact: true })
  const go = panel.getByRole('button', { name: 'Go to the wallet' })
  const counted = () => page.asked.filter((each) => each === 'eth_sendTransaction').length
  return { ...page, tab, frame, panel, go, counted }
}

const pageOf = (apiKey: string, more = '') => fetch(`${devnet.dev.baseUrl}/embed/${apiKey}${more}`)

describe('the widget in the frame of a plain page', () => {
  it('deposits with the wallet of the page: after a no, on another chain, of another account, after a reload', async () => {
    const { tab, frame, panel, go, mood, counted, failures, close } = await show(5)
    await frame.getByRole('searchbox').fill(name)
    await frame.getByRole('button', { name }).first().click()
    await frame.getByRole('form', { name: 'Deposit' }).getByRole('textbox').fill('2')
    await frame.getByRole('button', { name: 'Deposit', exact: true }).click()
    await go.waitFor()
    await panel.getByText('Compared with addresses that this app brought along.').waitFor()
    const says = async (state: object, text: RegExp) => {
      Object.assign(mood, state)
      await go.click()
      await panel.getByRole('alert').filter({ hasText: text }).waitFor()
      Object.assign(mood, { refuses: 0, chain: undefined, account: undefined })
    }
    await says({ refuses: 1 }, /the user said no/)
    await says({ chain: 1 }, /chain/)
    await says({ account: '0x00000000000000000000000000000000000000ad' }, /account/)
    expect(counted()).toBe(0)
    const height = () => tab.locator('iframe').evaluate((each) => (each as { clientHeight?: number }).clientHeight ?? 0)
    expect(await height()).toBeGreaterThan(200)
    await tab.reload()
    const end = panel.getByRole('status').filter({ hasText: 'Done.' })
    for (;;) {
      await end.or(go).first().waitFor()
      if (await end.isVisible()) break
      await go.click({ timeout: 5_000 * patience }).catch(() => undefined)
    }
    expect(counted()).toBe(2)
    await tab.getByRole('status').filter({ hasText: 'deposit: credited' }).waitFor()
    expect(failures).toEqual([])
    await close()
  }, 180_000)

  it('is framed by the pages of its key’s list alone: the browser blocks another site, and a key without a list', async () => {
    const { tab, frame, failures, close } = await show(5)
    await frame.getByRole('searchbox').waitFor()
    expect(failures).toEqual([])
    const blocked = async () => {
      await expect.poll(() => failures.some((each) => /frame-ancestors/.test(each))).toBe(true)
      expect(tab.frames().filter((each) => each.url().startsWith(devnet.dev.baseUrl))).toEqual([])
      failures.length = 0
    }
    await tab.goto(app.pages.origin.replace('127.0.0.1', 'localhost'))
    await blocked()
    await showFrame(devnet.dev.keys.publishable)
    await tab.goto(app.pages.origin)
    await blocked()
    await showFrame(key)
    await close()
  }, 60_000)

  it('comes with a strict policy, for good publishable keys alone', async () => {
    const response = await pageOf(key)
    const headers = Object.fromEntries(response.headers)
    expect(response.status).toBe(200)
    const policy = headers['content-security-policy']!
    expect(policy).toContain(`frame-ancestors ${app.pages.origin}`)
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
    const gone = await createKey(app.pages.origin)
    const hint = gone.replace(/^(.{12}).*(.{4})$/, '$1…$2')
    await runOpenEarn(['keys', 'revoke', hint], { OPENEARN_DATA_DIR: trusted.dataDir })
    for (const wrong of [devnet.dev.keys.secret, gone, `${key.slice(0, -1)}_`, 'x', 'files/../x', 'files/LICENCES.txt'])
      expect([wrong, (await pageOf(wrong)).status]).toEqual([wrong, 404])
  }, 60_000)

  it('calls with its key from its own origin, and other pages outside of the list do not', async () => {
    const call = (origin: string) =>
      fetch(`${devnet.dev.baseUrl}/v2/chains/`, { headers: { origin, 'x-api-key': key } }).then(({ status }) => status)
    const { origin } = new URL(devnet.dev.baseUrl)
    expect([await call(origin), await call(app.pages.origin), await call('https://a.example')]).toEqual([200, 200, 403])
  })
})
