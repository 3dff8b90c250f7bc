import type { Trust } from '@openearn/sdk'
import type { Flow } from '@openearn/sdk/flows'
import { type Address, erc20Abi } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { patience } from '../../../contracts/test/patience.js'
import { until } from '../../../contracts/test/until.js'
import { bundle } from '../../../react/test/bundles.js'
import { devAccount } from '../../src/cli/dev/anvil.js'
import { openClient } from './client.js'
import { ethereum, type HooksApp, opened, openHooks, servePages, tellHooks } from './hooksInPage.js'
import { settleRequests } from './settleRequests.js'
import { meetAll, waitUntilLeft } from './troubles.js'
import { startTrustedDevnet, type TrustedDevnet } from './trustedDevnet.js'
import { delegate, type WalletOptions } from './wallet.js'

let trusted: TrustedDevnet
let dev: TrustedDevnet['devnet']['dev']
let trust: Trust
/** The hooks in a page. */
let app: HooksApp
/** A page with a wallet, around a frame with the hooks. */
let host: HooksApp
let frames: Awaited<ReturnType<typeof servePages>>
/** The accounts 8 and 9 take several calls at once. */
let batcher: WalletOptions['batcher']

beforeAll(async () => {
  trusted = await startTrustedDevnet('openearn-hooks-flows-')
  ;({ trust } = trusted)
  dev = trusted.devnet.dev
  for (const at of [8, 9]) {
    await openClient(dev).join(dev.accounts[at]!.privateKey)
    batcher = await delegate(dev, at)
  }
  app = await openHooks({ dev, trust })
  frames = await servePages(await bundle('../../widget/test/hooks.tsx', 19, 'browser'))
  const files = await bundle('../../widget/test/host.ts', 19, 'browser')
  const html = `<!doctype html><meta charset="utf-8"><iframe src="${frames.origin}"></iframe>`
  files.set('index.html', `${html}<script type="module" src="/entry.js"></script>`)
  host = await openHooks({ dev, trust }, { files })
}, 180_000)
afterAll(async () => {
  await app?.close()
  await host?.close()
  await frames?.close()
  await trusted?.close()
}, 60_000)

const ends = [
  ...['credited', 'requested', 'done', 'member', 'filled', 'claimed', 'cancelled', 'open'],
  ...['refused', 'reverted', 'replaced', 'mined, not credited'],
]
const find = (kind: string) => dev.opportunities.find((each) => each.kind === kind)!
const units = ({ decimals }: { decimals: number }, whole: bigint) => whole * 10n ** BigInt(decimals)

async function openPage(at: number, options: WalletOptions) {
  const page = await app.openPage(at, { review: true }, [], options)
  const reload = async () => {
    await page.load()
    await page.open()
  }
  await page.open()
  return { ...page, reload }
}

async function openFrame(at: number, options: WalletOptions) {
  const page = await host.openPage(at, {}, [ethereum], options)
  const tab = page.page
  const frame = () => tab.frames().find((each) => each.url().startsWith(frames.origin))!
  const hooks = tellHooks(dev, frame)
  const url = `${host.pages.origin}/`
  const limits = { trust, distributorId: dev.distributorIds[0] }
  const reload = async () => {
    await tab.goto(url)
    await tab.waitForFunction('globalThis.told !== undefined')
    await tab.evaluate(`open(${JSON.stringify(limits)})`)
    await frame().waitForFunction('document.title === "ready"')
    await hooks.evaluate(`app.open(${JSON.stringify({ ...page.settings, review: true, url })})`)
    await frame().waitForFunction(opened)
  }
  await reload()
  return { ...page, ...hooks, reload }
}

type Place = Awaited<ReturnType<typeof openPage | typeof openFrame>>
const countOf = ({ asked }: Place, method: RegExp) => asked.filter((each) => method.test(each)).length
const request = /^(eth_send|eth_sign|personal_|wallet_sendCalls)/
const sending = /^(eth_sendTransaction|wallet_sendCalls)$/

/** Waits until a flow asks for a word, or is at its end. */
function settle(place: Place, kind: string): Promise<{ flow: Flow; word: string | undefined }> {
  let looks = 0
  return until(
    `a word of ${kind}`,
    async () => {
      const flow = await place.flowOf(kind)
      const word = await place.wordOf(kind)
      if (flow && (word || ends.includes(flow.status))) return { flow, word }
      // A devnet has a block only when it is asked for one.
      if (++looks % 20 === 0) await openClient(dev).request('evm_mine', [])
      return undefined
    },
    1_500 * patience,
  )
}

/** Carries a flow to its end. Before each request all stands in its way that may, and the page is loaded again there and after it. */
async function insist(place: Place, kind: Flow['kind'], params: object): Promise<Flow> {
  const { mood, reload, say } = place
  const codeOf = async () => (await place.flowOf(kind))?.problem?.code
  expect(await place.begin(kind, params)).toBe(true)
  for (;;) {
    const { flow, word } = await settle(place, kind)
    if (!word) return flow
    const [asked, sent] = [countOf(place, request), countOf(place, sending)]
    await meetAll(place, kind !== 'join', async ({ code }) => {
      await say(kind, (await settle(place, kind)).word ?? '')
      await until(`${code} of ${kind}`, async () => (await codeOf()) === code)
      await settle(place, kind)
    })
    expect(countOf(place, request)).toBe(asked)
    await reload()
    mood.leavesFor = 1
    await say(kind, (await settle(place, kind)).word ?? '')
    await until(`a request of ${kind}`, () => countOf(place, request) > asked)
    if (countOf(place, sending) > sent) {
      await waitUntilLeft(mood)
      await until(`${kind} to miss its chain`, async () => (await codeOf()) === 'WRONG_CHAIN')
    } else {
      // A signature is not kept: a page that is loaded again before it has handed it on asks for another one.
      await until(`${kind} to be handed on`, async () => ends.includes((await place.flowOf(kind))?.status ?? ''))
    }
    Object.assign(mood, { chain: undefined, account: undefined, leavesFor: undefined })
    // A membership ends with its one signature; a page that is loaded again has nothing of it left to show.
    if (kind === 'join') return (await settle(place, kind)).flow
    await reload()
  }
}

describe.concurrent.each([
  ['a page', 3, 5, 8, 17],
  ['the frame of a page', 4, 6, 9, 18],
] as const)(
  'the hooks in %s, with a no, a reload, another chain and another account at each step',
  (where, first, second, batching, holder) => {
    const open = (at: number, options: WalletOptions = {}): Promise<Place> =>
      where === 'a page' ? openPage(at, options) : openFrame(at, options)
    const distributorId = () => dev.distributorIds[0]!
    const depositOf = (userAddress: string, whole: bigint, kind = 'erc4626') => {
      const { id: opportunityId, asset } = find(kind)
      return {
        opportunityId,
        userAddress,
        tokenIn: asset.address,
        amount: units(asset, whole),
        distributorId: distributorId(),
      }
    }
    const run = async (place: Place, kind: Flow['kind'], params: object) => {
      const { status, problem } = await insist(place, kind, params)
      return { status, problem }
    }
    const good = (status: string) => ({ status, problem: undefined })

    it('link, deposit, request, claim, cancel and withdraw', async () => {
      const place = await open(first)
      const wallet = place.address as Address
      const sharesOf = (kind: string) =>
        openClient(dev).chain.readContract({
          ...{ address: find(kind).vaultAddress, abi: erc20Abi, functionName: 'balanceOf', args: [wallet] },
        })
      expect(await run(place, 'join', { wallet, chainId: 31_337 })).toEqual(good('member'))
      expect(await run(place, 'deposit', depositOf(wallet, 5n, 'erc7540'))).toEqual(good('requested'))
      const { tokenIn: _, amount: __, ...sync } = depositOf(wallet, 1n)
      const waiting = { ...sync, opportunityId: find('erc7540').id }
      expect(await run(place, 'deposit', depositOf(wallet, 2n))).toEqual(good('credited'))
      expect(await run(place, 'withdraw', { ...sync, amount: await sharesOf('erc4626') })).toEqual(good('credited'))
      await settleRequests(dev, wallet)
      expect(await run(place, 'claim', waiting)).toEqual(good('credited'))
      const amount = await sharesOf('erc7540')
      expect(amount > 0n).toBe(true)
      expect(await run(place, 'withdraw', { ...waiting, amount })).toEqual(good('requested'))
      expect(await run(place, 'deposit', depositOf(wallet, 6n, 'erc7540'))).toEqual(good('requested'))
      expect(await run(place, 'cancel', waiting)).toEqual(good('done'))
      await settleRequests(dev, wallet)
      expect(await run(place, 'withdraw', { ...waiting, amount })).toEqual(good('credited'))
      expect(place.failures).toEqual([])
      await place.close()
    }, 300_000)

    it('swap, deposit another token by a swap, place an order, and end one', async () => {
      const place = await open(second)
      const wallet = place.address
      await openClient(dev).join(dev.accounts[second]!.privateKey)
      const { asset } = find('erc4626')
      const other = dev.opportunities.find(
        (each) => each.asset.symbol !== asset.symbol && each.kind === 'erc4626',
      )!.asset
      const zap = { ...depositOf(wallet, 1n), tokenIn: other.address, amount: units(other, 2n), mode: 'swap' }
      expect(await run(place, 'deposit', zap)).toEqual(good('credited'))
      const pair = {
        chainId: 31_337,
        tokenIn: asset.address,
        tokenOut: 'native',
        slippageBps: 100,
        distributorId: distributorId(),
      }
      expect(await run(place, 'swap', { ...pair, user: wallet, amountIn: units(asset, 1n) })).toEqual(good('done'))
      const order = { ...pair, userAddress: wallet }
      await run(place, 'order', { ...order, amountIn: units(asset, 4n) })
      expect((await place.reach('order', ['filled'])).problem).toBeUndefined()
      // Too small to be worth its gas.
      expect(await run(place, 'order', { ...order, amountIn: 1_000n })).toEqual(good('open'))
      const cancel = () =>
        place.evaluate<string>(`app.told().flows.order.cancel().then(() => 'asked', (error) => error.message)`)
      const asked = countOf(place, request)
      await meetAll(place, true, async ({ text }) => expect(await cancel()).toMatch(text))
      expect(countOf(place, request)).toBe(asked)
      await place.reload()
      await place.reach('order', ['open'])
      expect(await cancel()).toBe('asked')
      await place.reload()
      expect((await place.reach('order', ['cancelled'])).problem).toBeUndefined()
      expect([countOf(place, request), place.failures]).toEqual([asked + 1, []])
      await place.close()
    }, 240_000)

    it('deposit by one batch where the wallet takes several calls at once', async () => {
      const place = await open(batching, { batcher })
      expect(await run(place, 'deposit', depositOf(place.address, 2n))).toEqual(good('credited'))
      expect([countOf(place, /^wallet_sendCalls$/), countOf(place, /^eth_sendTransaction$/)]).toEqual([1, 0])
      expect(place.failures).toEqual([])
      await place.close()
    }, 120_000)

    it('claim a reward, and say where there is nothing more of it', async () => {
      // A stream has run for it on the devnet.
      const place = await open(dev.accounts.push(devAccount(holder)) - 1)
      const { streams } = await openClient(dev).call('GET', `/v2/streams/wallets/${place.address}`)
      const [{ streamId }] = streams.filter(({ stream }: { stream: { rewardToken?: object } }) => stream.rewardToken)
      const reward = { streamId, wallet: place.address }
      expect(await run(place, 'claimRewards', reward)).toEqual(good('claimed'))
      const none = { ...reward, streamId: '117fbf7f-1755-4202-9bea-f02ff57091cb' }
      expect(await run(place, 'claimRewards', none)).toMatchObject({
        status: 'refused',
        problem: { code: 'NOTHING_TO_CLAIM' },
      })
      expect(countOf(place, request)).toBe(1)
      expect(place.failures).toEqual([])
      await place.close()
    }, 120_000)
  },
)
