import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Trust } from '@openearn/sdk'
import type { Flow } from '@openearn/sdk/flows'
import type { Browser, Frame, Page } from 'playwright-core'
import { bundle, type ReactVersion } from '../../../react/test/bundles.js'
import { openChromium } from '../chromium.js'
import { openClient } from './client.js'
import type { Dev } from './process.js'
import { tellPage } from './tellPage.js'
import { openWallet, type WalletOptions } from './wallet.js'

export type World = { dev: Dev; dataDir: string; trust: Trust }
export type HooksApp = Awaited<ReturnType<typeof openHooks>>
export type HooksPage = Awaited<ReturnType<HooksApp['openPage']>>

type Call = { method: string; params: unknown }

const types: Record<string, string> = { js: 'text/javascript', css: 'text/css' }

/** A server of pages: the built program, and what stands in `#root` before it runs. */
export async function servePages(files: Map<string, string>) {
  const shown = { html: '' }
  const page = () => {
    const program = '<script type="module" src="/entry.js"></script>'
    return `<!doctype html><meta charset="utf-8"><div id="root">${shown.html}</div>${program}`
  }
  const server = createServer(({ url = '' }, response) => {
    const name = url.slice(1) || 'index.html'
    response.setHeader('content-type', types[name.split('.').at(-1) ?? ''] ?? 'text/html')
    response.end(files.get(name) ?? page())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, shown, close }
}

/** What a server draws of the page, in a process of its own, as it has no page. */
export async function renderOnServer(folder: string, version: ReactVersion, settings: object) {
  const place = join(folder, `server-${version}`)
  await mkdir(place, { recursive: true })
  await writeFile(join(place, 'package.json'), '{"type":"module"}')
  for (const [name, code] of await bundle('server.tsx', version, 'node')) await writeFile(join(place, name), code)
  const run = `const { renderPage } = await import('./entry.js')
    console.log(JSON.stringify(await renderPage(JSON.parse(process.argv[1]))))`
  const words = ['--input-type=module', '-e', run, JSON.stringify(settings)]
  const { stdout, stderr } = await promisify(execFile)(process.execPath, words, { cwd: place })
  return { ...(JSON.parse(stdout) as { version: string; html: string; state: unknown }), stderr }
}

/** A program of the hooks' package, or the text of one, or the files of an app. */
type Program = { version?: ReactVersion; program?: string; text?: string; files?: Map<string, string> }

/** The things that stand in the way of a request, or of a look at what came of it. */
export type Mood = {
  /** How many requests the user refuses. */
  refuses: number
  /** The chain that the wallet is on, where it is another one than that of the devnet. */
  chain?: number | undefined
  /** The account that it shows instead of its own. */
  account?: string | undefined
  /** The chain that it is on once it sent something. */
  leavesFor?: number | undefined
}

const isRequest = /^(eth_send|eth_sign|personal_|wallet_sendCalls)/
const isSending = /^(eth_sendTransaction|wallet_sendCalls)$/

/** A wallet as pages find one, behind the function that answers its requests. */
export const ethereum = `globalThis.ethereum = {
  listeners: [],
  request: async (call) => {
    const { error, result } = await globalThis.wallet(call)
    if (error) throw Object.assign(new Error(error.message), { code: error.code })
    return result
  },
  on: (name, listener) => { if (name === 'accountsChanged') ethereum.listeners.push(listener) },
  removeListener: (_, listener) => { ethereum.listeners = ethereum.listeners.filter((each) => each !== listener) },
}`

/** It announces itself too (EIP-6963). */
export const announced = `${ethereum}
addEventListener('eip6963:requestProvider', () => dispatchEvent(new CustomEvent('eip6963:announceProvider', {
  detail: Object.freeze({ info: { uuid: '1', name: 'Wallet of the test', rdns: 'example.wallet', icon: 'data:,' }, provider: ethereum }),
})))`

/** The wallet of an account as a page asks it, which may say no or be elsewhere. */
function answerAs({ provider }: ReturnType<typeof openWallet>, mood: Mood) {
  const refuse = (code: number, message: string) => ({ error: { code, message } })
  return async (call: Call) => {
    if (isRequest.test(call.method) && mood.refuses-- > 0) return refuse(4001, 'the user said no')
    if (call.method === 'eth_chainId' && mood.chain) return { result: `0x${mood.chain.toString(16)}` }
    if (call.method === 'wallet_switchEthereumChain') return refuse(4902, 'no such chain')
    if (call.method === 'eth_accounts' && mood.account) return { result: [mood.account] }
    try {
      const result = (await (provider.request as (call: Call) => Promise<unknown>)(call)) ?? null
      if (isSending.test(call.method) && mood.leavesFor) mood.chain = mood.leavesFor
      return { result }
    } catch (error) {
      const { code, message } = error as { code?: number; message: string }
      return { error: { code, message } }
    }
  }
}

/** Whether an opened app is there. React draws in a task of its own: on a busy machine the next look can come before it. */
export const opened = 'Object.keys(app.told().flows).length > 0'

/** The hooks of a page or frame, as a test uses them. */
export function tellHooks(dev: Dev, find: () => Page | Frame) {
  const node = openClient(dev)
  const evaluate = <T>(code: string) => find().evaluate(code) as Promise<T>
  const flowOf = (kind: string) => evaluate<Flow | undefined>(`app.told().flows.${kind}.flow`)
  const wordOf = (kind: string) => evaluate<string | undefined>(`app.told().flows.${kind}.needs`)
  const say = (kind: string, word: string) => evaluate(`app.told().flows.${kind}.say(${JSON.stringify(word)})`)
  const begin = (kind: string, params: object) => {
    const json = JSON.stringify(params, (_, value) => (typeof value === 'bigint' ? `${value}` : value))
    return evaluate<boolean>(`app.told().flows.${kind}.begin(${json})`)
  }
  /** Says yes to whatever is asked until the flow is at one of these states. */
  const reach = async (kind: string, states: readonly string[]): Promise<Flow> => {
    for (let turn = 0; turn < 150; turn++) {
      const flow = await flowOf(kind)
      if (flow && states.includes(flow.status)) return flow
      const word = await wordOf(kind)
      if (word) await say(kind, word)
      // A devnet has a block only when it is asked for one.
      if (turn % 4 === 3) await node.request('evm_mine', [])
      await find()
        .waitForFunction(
          `((app.told().flows.${kind} ?? {}).flow ?? {}).status !== ${JSON.stringify(flow?.status)}`,
          undefined,
          { timeout: 500 },
        )
        .catch(() => undefined)
    }
    throw new Error(`no ${states}: ${JSON.stringify(await flowOf(kind))}`)
  }
  const drawn = <T>(name: string) => evaluate<T[]>(`app.told().drawn.${name} ?? []`)
  /** What was drawn a second time although it was as before. */
  const drawnTwice = async (name: string) => {
    const texts = (await drawn(name)).map((each) => JSON.stringify(each) ?? 'nothing')
    return texts.filter((text, index) => text === texts[index - 1])
  }
  return { evaluate, flowOf, wordOf, say, begin, reach, drawn, drawnTwice }
}

/** The app of the hooks' package in a browser, built with one version of React. */
export async function openHooks(
  { dev, trust }: Omit<World, 'dataDir'>,
  { version = 19, program = 'browser.tsx', text, files }: Program = {},
) {
  const pages = await servePages(files ?? (await bundle(program, version, 'browser', text)))
  const browser: Browser = await openChromium()

  /** A page with a wallet of the machine behind it. */
  const openPage = async (
    at: number,
    more: object = {},
    scripts: readonly string[] = [],
    options: WalletOptions = {},
  ) => {
    const wallet = openWallet(dev, at, options)
    const { address, asked } = wallet
    const mood: Mood = { refuses: 0 }
    const context = await browser.newContext()
    for (const script of scripts) await context.addInitScript(script)
    const settings = { baseUrl: dev.baseUrl, apiKey: dev.keys.publishable, wallet: address, trust, ...more }
    const failures: string[] = []
    const calls: string[] = []
    await context.exposeFunction('wallet', answerAs(wallet, mood))
    const load = async (tab: Page): Promise<Page> => {
      await tab.goto(pages.origin)
      if (!files) await tab.waitForFunction('document.title === "ready"')
      return tab
    }
    const openTab = async () => {
      const tab = await context.newPage()
      tellPage(tab)
      tab.on('pageerror', (error) => failures.push(String(error)))
      tab.on('console', (message) => {
        if (message.type() === 'error') failures.push(message.text())
      })
      tab.on('request', (request) => {
        if (request.url().startsWith(dev.baseUrl)) calls.push(new URL(request.url()).pathname)
      })
      return load(tab)
    }
    const tellTab = (page: Page) => {
      const hooks = tellHooks(dev, () => page)
      const open = async (isConnected = true) => {
        await hooks.evaluate(`app.open(${JSON.stringify(settings)}, ${isConnected})`)
        await page.waitForFunction(opened)
      }
      return { page, ...hooks, open, load: () => load(page) }
    }
    return {
      ...tellTab(await openTab()),
      ...{ dev, address, asked, mood, settings, failures, calls, context },
      openTab: async () => tellTab(await openTab()),
      close: () => context.close(),
    }
  }
  const close = async () => {
    await browser.close()
    await pages.close()
  }
  return { dev, pages, openPage, close }
}
