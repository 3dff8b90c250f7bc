import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Trust } from '@openearn/sdk'
import type { PlanFlow } from '@openearn/sdk/flows'
import { rolldown } from 'rolldown'
import { erc4626Abi, type Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openChromium } from '../chromium.js'
import { openClient } from './client.js'
import type { Dev } from './process.js'
import { openWallet } from './wallet.js'

/** The page's own program: it advances one flow a step at a time, so that a test can reload between any two. */
const program = (sdk: string, trust: string) => `
import { createEarnClient } from ${JSON.stringify(`${sdk}/dist/client/index.js`)}
import { advance, beginDeposit, beginJoin, beginWithdraw } from ${JSON.stringify(`${sdk}/dist/flows/index.js`)}
const begin = { deposit: beginDeposit, join: beginJoin, withdraw: beginWithdraw }
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
    flow = begin[kind](params)
    localStorage.setItem('flow', JSON.stringify(flow))
  },
  step: async (word) => {
    flow = await advance(flow, globalThis.app.world, word)
    localStorage.setItem('flow', JSON.stringify(flow))
    return JSON.parse(JSON.stringify(flow))
  },
}
document.title = 'ready'
`

type World = { dev: Dev; dataDir: string; trust: Trust }

/** Serves the app, made of the built sdk as its users make theirs, and opens a browser. */
async function openApp({ dev, dataDir, trust }: World) {
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

type App = Awaited<ReturnType<typeof openApp>>
type Call = { method: string; params: unknown }

/** A page with the app, and a wallet of the machine behind it, which may say no. */
async function openPage({ dev, browser, origin }: App, at: number) {
  const { provider, address, asked } = openWallet(dev, at)
  const mood: { refuses: number } = { refuses: 0 }
  const context = await browser.newContext()
  const page = await context.newPage()
  const failures: string[] = []
  page.on('pageerror', (error) => failures.push(String(error)))
  await page.exposeFunction('wallet', async (call: Call) => {
    if (/^eth_send|^personal/.test(call.method) && mood.refuses-- > 0)
      return { error: { code: 4001, message: 'the user said no' } }
    try {
      return { result: (await (provider.request as (call: Call) => Promise<unknown>)(call)) ?? null }
    } catch (error) {
      const { code, message } = error as { code?: number; message: string }
      return { error: { code, message } }
    }
  })
  const load = async (): Promise<PlanFlow | undefined> => {
    await page.goto(origin)
    await page.waitForFunction('document.title === "ready"')
    const { baseUrl, keys } = dev
    return page.evaluate(`app.open(${JSON.stringify(baseUrl)}, ${JSON.stringify(keys.publishable)})`)
  }
  await load()
  const begin = (kind: string, params: object) =>
    page.evaluate(
      `app.begin(${JSON.stringify(kind)}, ${JSON.stringify(params, (_, value) => (typeof value === 'bigint' ? `${value}` : value))})`,
    )
  const step = (word?: string): Promise<PlanFlow> => page.evaluate(`app.step(${JSON.stringify(word)})`)
  return { dev, address, asked, mood, failures, load, begin, step, close: () => context.close() }
}

const ends = ['credited', 'member', 'refused', 'replaced', 'reverted', 'mined, not credited']

/** A user who says yes to what is shown. `reloads`: the page is loaded again in each status, the first time it is there. */
async function insist(page: Awaited<ReturnType<typeof openPage>>, reloads: boolean) {
  const node = openClient(page.dev)
  const statuses: string[] = []
  for (let turn = 0; turn < 400; turn++) {
    let flow = await page.step()
    if (flow.needs) flow = await page.step(flow.needs)
    statuses.push(flow.status)
    if (ends.includes(flow.status)) return { flow, statuses }
    if (reloads && statuses.indexOf(flow.status) === statuses.length - 1) await page.load()
    // A devnet has a block only when it is asked for one.
    if (turn % 4 === 3) await node.request('evm_mine', [])
  }
  throw new Error(`no end: ${statuses.join(' ')}`)
}

/** A wallet that deposits into one vault, and what its shares are worth. */
function tell(dev: Dev, owner: Hex) {
  const vault = dev.opportunities.find(({ kind }) => kind === 'erc4626')!
  const { chain } = openClient(dev)
  const contract = { address: vault.vaultAddress, abi: erc4626Abi } as const
  const readShares = () => chain.readContract({ ...contract, functionName: 'balanceOf', args: [owner] })
  const who = { opportunityId: vault.id, userAddress: owner, distributorId: dev.distributorIds[0]! }
  return {
    who,
    readShares,
    deposit: (whole: bigint) => ({
      ...{ ...who, tokenIn: vault.asset.address, amount: whole * 10n ** BigInt(vault.asset.decimals) },
    }),
    readAssets: async () =>
      chain.readContract({ ...contract, functionName: 'convertToAssets', args: [await readShares()] }),
  }
}

/**
 * Flows in a page as an app has them: the program in Chromium, a wallet that the page finds, the flow in `localStorage`, and a
 * user who reloads.
 */
export function testFlowsInPage(find: () => World): void {
  describe('a flow in a page', () => {
    let app: App
    beforeAll(async () => {
      app = await openApp(find())
    }, 60_000)
    afterAll(() => app?.close(), 60_000)

    it('joins, deposits once and withdraws, though the page is loaded again at each step', async () => {
      const page = await openPage(app, 5)
      const { deposit, who, readShares, readAssets } = tell(page.dev, page.address)
      await page.begin('join', { wallet: page.address, chainId: 31_337 })
      expect((await insist(page, true)).flow.status).toBe('member')
      const before = await readAssets()
      await page.begin('deposit', deposit(3n))
      const { flow, statuses } = await insist(page, true)
      expect([flow.status, flow.problem, flow.trusts]).toEqual(['credited', undefined, 'file'])
      for (const status of ['ready', 'asking', 'unknown', 'sent', 'mined'] as const) expect(statuses).toContain(status)
      expect(Number((await readAssets()) - before) / Number(deposit(3n).amount)).toBeCloseTo(1, 2)
      await page.begin('withdraw', { ...who, amount: await readShares() })
      expect((await insist(page, true)).flow).toMatchObject({ status: 'credited', trusts: 'file' })
      expect(page.failures).toEqual([])
      await page.close()
    }, 120_000)

    it('is asked for again after the wallet said no, and by the user’s word alone', async () => {
      const page = await openPage(app, 6)
      await page.begin('join', { wallet: page.address, chainId: 31_337 })
      expect((await insist(page, false)).flow.status).toBe('member')
      await page.begin('deposit', tell(page.dev, page.address).deposit(2n))
      page.mood.refuses = 1
      let flow = await page.step()
      for (let turn = 0; turn < 6 && flow.problem?.code !== 'REJECTED'; turn++) flow = await page.step()
      expect([flow.status, flow.needs]).toEqual(['ready', 'go'])
      for (let turn = 0; turn < 3; turn++) expect((await page.step()).status).toBe('ready')
      const sent = () => page.asked.filter((method) => method === 'eth_sendTransaction')
      expect(sent()).toEqual([])
      expect((await insist(page, false)).flow.status).toBe('credited')
      expect(sent()).toHaveLength(2)
      await page.close()
    }, 120_000)
  })
}
