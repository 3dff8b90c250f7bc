import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Trust } from '@openearn/sdk'
import type { Flow, Provider, Word } from '@openearn/sdk/flows'
import { rolldown } from 'rolldown'
import type { Hex } from 'viem'
import { until } from '../../../contracts/test/until.js'
import { openChromium } from '../chromium.js'
import { openClient } from './client.js'
import type { Dev } from './process.js'
import type { SmartWallet } from './smartWallets.js'

/** The page's own program: it advances one flow a step at a time, so that a test can reload between any two. */
const program = (sdk: string, trust: string) => `
import { createEarnClient } from ${JSON.stringify(`${sdk}/dist/client/index.js`)}
import * as flows from ${JSON.stringify(`${sdk}/dist/flows/index.js`)}
const provider = {
  request: async (call) => {
    const { error, result } = await globalThis.wallet(call)
    if (error) throw Object.assign(new Error(error.message), { code: error.code })
    return result
  },
}
let flow
globalThis.app = {
  open: (baseUrl, apiKey) => {
    const earn = createEarnClient({ baseUrl, apiKey, trust: ${trust} })
    globalThis.app.world = { earn, provider, url: location.href }
    const kept = localStorage.getItem('flow')
    flow = kept === null ? undefined : JSON.parse(kept)
    return flow
  },
  begin: (kind, params) => {
    flow = flows['begin' + kind](params)
    localStorage.setItem('flow', JSON.stringify(flow))
  },
  step: async (word) => {
    flow = await flows.advance(flow, globalThis.app.world, word)
    localStorage.setItem('flow', JSON.stringify(flow))
    return JSON.parse(JSON.stringify(flow))
  },
}
document.title = 'ready'
`

export type World = { dev: Dev; dataDir: string; trust: Trust }

/** Serves the app, made of the built sdk as its users make theirs, and opens a browser. */
export async function openApp({ dev, dataDir, trust }: World) {
  const sdk = fileURLToPath(new URL('../../../sdk', import.meta.url))
  await writeFile(join(dataDir, 'app.mjs'), program(sdk, JSON.stringify(trust)))
  const bundle = await rolldown({ input: join(dataDir, 'app.mjs'), platform: 'browser' })
  const { output } = await bundle.generate({ format: 'esm', minify: true })
  await bundle.close()
  const files = new Map(output.map((chunk) => [`/${chunk.fileName}`, 'code' in chunk ? chunk.code : '']))
  const entry = output.find((chunk) => 'isEntry' in chunk && chunk.isEntry)?.fileName
  const server = createServer(({ url }, response) => {
    const code = files.get(url ?? '')
    const html = `<!doctype html><meta charset="utf-8"><script type="module" src="/${entry}"></script>`
    response.setHeader('content-type', code === undefined ? 'text/html' : 'text/javascript')
    response.end(code ?? html)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const browser = await openChromium()
  const close = async () => {
    await browser.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { dev, browser, origin, close }
}

export type App = Awaited<ReturnType<typeof openApp>>
type Call = { method: string; params: unknown }

/** Where a flow is: a page or a program, which may be gone between any two steps. */
export type Place = {
  begin(kind: Begun, params: object): Promise<unknown>
  /** Brings the flow one step further. */
  step(word?: Word): Promise<Flow>
  /** Begins again from what was stored. */
  load(): Promise<unknown>
  mood: Mood
  failures: string[]
  close(): Promise<void>
}
export type Begun = 'Deposit' | 'Withdraw' | 'Claim' | 'Cancel' | 'Swap' | 'Order' | 'ClaimRewards' | 'Join'
/** How often the user says no, and how often an answer of the wallet is lost. */
export type Mood = { refuses: number; loses: number }
export type Wallet = { provider: Provider; address: Hex; asked: string[] }

const isRequest = /^eth_send|^wallet_send|^personal|^eth_sign/

/** A page with the app, and a wallet of the machine behind it, which may say no or never answer. */
export async function openPage({ dev, browser, origin }: App, { provider }: Wallet): Promise<Place> {
  const mood: Mood = { refuses: 0, loses: 0 }
  const lost = { tell: (): void => undefined }
  const context = await browser.newContext()
  const page = await context.newPage()
  const failures: string[] = []
  page.on('pageerror', (error) => failures.push(String(error)))
  await page.exposeFunction('wallet', async (call: Call) => {
    const isAsked = isRequest.test(call.method)
    if (isAsked && mood.refuses-- > 0) return { error: { code: 4001, message: 'the user said no' } }
    try {
      const result = (await (provider.request as (call: Call) => Promise<unknown>)(call)) ?? null
      if (!isAsked || mood.loses-- <= 0) return { result }
      lost.tell()
      return new Promise<never>(() => undefined)
    } catch (error) {
      const { code, message } = error as { code?: number; message: string }
      return { error: { code, message } }
    }
  })
  const load = async (): Promise<Flow | undefined> => {
    await page.goto(origin)
    await page.waitForFunction('document.title === "ready"')
    const { baseUrl, keys } = dev
    return page.evaluate(`app.open(${JSON.stringify(baseUrl)}, ${JSON.stringify(keys.publishable)})`)
  }
  await load()
  const begin = (kind: Begun, params: object) =>
    page.evaluate(
      `app.begin(${JSON.stringify(kind)}, ${JSON.stringify(params, (_, value) => (typeof value === 'bigint' ? `${value}` : value))})`,
    )
  const step = async (word?: Word): Promise<Flow> => {
    const noAnswer = new Promise<undefined>((resolve) => {
      lost.tell = () => resolve(undefined)
    })
    const stepped = page.evaluate(`app.step(${JSON.stringify(word)})`) as Promise<Flow>
    const flow = await Promise.race([stepped, noAnswer])
    if (flow) return flow
    // The step ends with its page.
    stepped.catch(() => undefined)
    return (await load()) as Flow
  }
  return { mood, failures, load, begin, step, close: () => context.close() }
}

const ends = [
  ...['credited', 'requested', 'done', 'mined, not credited', 'member', 'claimed', 'refused', 'replaced', 'reverted'],
  ...['filled', 'partially-filled', 'cancelled', 'expired'],
]

const aMoment = () => {
  let looks = 0
  return until('a moment', () => ++looks === 5)
}

/**
 * A user who says yes to what is shown. `reloads`: the place is loaded again in each status, the first time it is there. `smart`:
 * its wallet sends later; the user says a second word only while that has no request which this step could have made.
 */
export async function insist(
  dev: Dev,
  place: Place,
  { reloads = false, smart }: { reloads?: boolean; smart?: SmartWallet } = {},
) {
  const node = openClient(dev)
  const statuses: string[] = []
  let taken = smart?.taken()
  for (let turn = 0; turn < 400; turn++) {
    let flow = await place.step()
    if (flow.status === 'ready') taken = smart?.taken()
    const word = flow.needs === 'again' && smart?.taken() !== taken ? undefined : flow.needs
    if (word) flow = await place.step(word)
    statuses.push(flow.status)
    if (ends.includes(flow.status)) return { flow, statuses }
    if (reloads && statuses.indexOf(flow.status) === statuses.length - 1) await place.load()
    if (turn > 60 && flow.status === statuses.at(-2)) await aMoment()
    if (turn % 4 !== 3) continue
    await smart?.confirm()
    // A devnet has a block only when it is asked for one.
    await node.request('evm_mine', [])
  }
  throw new Error(`no end: ${statuses.join(' ')}`)
}
