import type { Trust } from '@openearn/sdk'
import type { BrowserContext, Frame, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { bundle } from '../../../react/test/bundles.js'
import { openClient } from './client.js'
import { ethereum, type HooksApp, openHooks } from './hooksInPage.js'
import { startTrustedDevnet, type TrustedDevnet } from './trustedDevnet.js'

/** One page with the host's half, and a frame whose program the test plays: everything is said by the frame itself. */
const service = 'http://service.test'
let trusted: TrustedDevnet
let trust: Trust
let app: HooksApp
let page: Awaited<ReturnType<HooksApp['openPage']>>
let tab: Page
/** A deposit as it should be: its plan and what was asked for. */
let good: { asked: Record<string, unknown>; plan: Plan; agreement: { message: string; nonce: string } }
type Planned = { type: string; transaction: Record<string, unknown> }
type Plan = { transactions: Planned[]; batch: object }

/** What a frame hears is kept, and each of them says that it is there, as that of the service does. */
const hears = `addEventListener('message', (event) => {
  const { openearn, nonce } = event.data ?? {}
  if (openearn === 'here') return parent.postMessage({ openearn, nonce }, '*')
  ;(globalThis.heard ??= []).push(event)
  globalThis.onHeard?.(event)
})`

beforeAll(async () => {
  trusted = await startTrustedDevnet('openearn-tricks-')
  trust = trusted.trust
  const { dev } = trusted.devnet
  const files = await bundle('../../widget/test/host.ts', 19, 'browser')
  const html = `<!doctype html><meta charset="utf-8"><iframe src="${service}/frame"></iframe>`
  files.set('index.html', `${html}<script type="module" src="/entry.js"></script>`)
  app = await openHooks({ dev, trust }, { files })
  page = await app.openPage(4, {}, [ethereum, hears])
  tab = page.page
  await serveFrames(page.context)
  const client = openClient(dev)
  const vault = dev.opportunities.find(({ kind }) => kind === 'erc4626')!
  const body = {
    ...{ userAddress: page.address, tokenIn: vault.asset.address, amount: '1000000', mode: 'direct' },
    distributorId: dev.distributorIds[0]!,
  }
  const who = { address: page.address, walletEcosystem: 'evm', chainId: 1 }
  const agreement = await client.call('POST', '/v2/membership/agreement/', { ...who, url: 'https://other.example/' })
  await client.join(dev.accounts[4]!.privateKey)
  const plan = await client.call('POST', `/v2/actions/deposit/${vault.id}`, body)
  const asked = { ...body, type: 'deposit', chainId: dev.chainId, opportunityId: vault.id }
  // The account has a past, which a frame may name.
  await client.request('anvil_setNonce', [page.address, '0x5'])
  good = { asked, plan, agreement }
}, 180_000)
afterAll(async () => {
  await app?.close()
  await trusted?.close()
}, 60_000)

beforeEach(() => {
  page.asked.length = 0
})

/** `/endless` is never loaded to its end. */
const serveFrames = (context: BrowserContext) =>
  context.route(/\/\/(service|evil)\.test\//, (route) => {
    const { pathname } = new URL(route.request().url())
    if (pathname === '/never') return
    const body = `<!doctype html><title>${pathname}</title>${pathname === '/endless' ? '<img src="/never">' : ''}`
    return route.fulfill({ contentType: 'text/html', body })
  })

/** Loads the page anew, and lets the host listen. Returns the frame. */
async function begin(): Promise<Frame> {
  await tab.goto(app.pages.origin)
  const options = { trust, distributorId: trusted.devnet.dev.distributorIds[0] }
  await tab.waitForFunction('globalThis.open !== undefined && globalThis.told !== undefined')
  await tab.evaluate(`open(${JSON.stringify(options)})`)
  return frameOf()
}

const frameOf = (): Frame => tab.frames().find((each) => each !== tab.mainFrame())!

/** In a frame: the nonce that it gets, and the port once it is let in. `undefined` where nothing comes. */
const steps = `
  const next = (kind) => new Promise((resolve) => {
    const look = () => (globalThis.heard ?? []).findLast(({ data }) => data?.openearn === kind)
    globalThis.onHeard = () => look() && resolve(look())
    if (look()) resolve(look())
  })
  const say = (data, to = '*', transfer = []) => parent.postMessage(data, to, transfer)
  const enter = async () => {
    globalThis.heard = []
    say({ openearn: 'hello' })
    const { data } = await next('nonce')
    say({ openearn: 'nonce', nonce: data.nonce })
    return (await next('port')).ports[0]
  }
  const on = (port) => {
    const waiting = {}
    port.onmessage = ({ data }) => waiting[data.id]?.(data)
    return (message, id = (globalThis.lastId = (globalThis.lastId ?? 0) + 1)) =>
      new Promise((resolve) => { waiting[id] = resolve; port.postMessage({ id, ...message }) })
  }
  const hasPort = () => (globalThis.heard ?? []).some(({ data }) => data?.openearn === 'port')
`

/** Messages to the host and back are in order: when a later one was answered, the earlier ones were judged. */
const settled = `await new Promise((resolve) => { const { port1, port2 } = new MessageChannel(); port1.onmessage = resolve; port2.postMessage(0) })`
const play = <T>(frame: Frame | Page, code: string) =>
  frame.evaluate(`(async () => { ${steps} ${code} })()`) as Promise<T>

const signs = () => page.asked.filter((each) => /^(eth_send|eth_sign|personal_|wallet_send)/.test(each))

describe('a page that lets a frame use its wallet', () => {
  it('opens its channel for the right page, and lets a right plan through', async () => {
    const frame = await begin()
    const given = { asked: good.asked, plan: good.plan, position: 0 }
    const answer = await play<{ result?: string; error?: object }>(
      frame,
      `const ask = on(await enter()); return ask({ handed: { kind: 'transaction', given: ${JSON.stringify(given)} } })`,
    )
    // The account of the test has no place of its own to send from: the request itself is what counts.
    expect([signs().length, answer.error ? JSON.stringify(answer.error) : '']).toEqual([1, expect.any(String)])
  })

  it.each<[string, string]>([
    ['says a nonce of its own', `say({ openearn: 'nonce', nonce: 'a-b-c' })`],
    ['says no nonce', `say({ openearn: 'nonce' })`],
    ['says undefined for a nonce', `say({ openearn: 'nonce', nonce: undefined })`],
    [
      'says a list with the nonce',
      `const { data } = await next('nonce'); say({ openearn: 'nonce', nonce: [data.nonce] })`,
    ],
    [
      'sends a port of its own',
      `const { port1 } = new MessageChannel(); say({ openearn: 'port', settings: {} }, '*', [port1])`,
    ],
    ['speaks of nothing', `say(null); say('nonce'); say(7)`],
    ['asks outside of a channel', `say({ id: 1, method: 'eth_requestAccounts', params: [] })`],
    [
      'says an older nonce again',
      `const { data } = await next('nonce'); globalThis.heard = []; say({ openearn: 'hello' }); await next('nonce')
       say({ openearn: 'nonce', nonce: data.nonce })`,
    ],
  ])('lets in no frame that %s', async (_, code) => {
    const frame = await begin()
    await play(
      frame,
      `say({ openearn: 'hello' }); ${code}; globalThis.heard = (globalThis.heard ?? []).filter(({ data }) => data?.openearn !== 'nonce')
      say({ openearn: 'hello' }); await next('nonce'); ${settled}`,
    )
    expect(await play(frame, 'return hasPort()')).toBe(false)
    expect(signs()).toEqual([])
  })

  it('lets in no frame of another origin, sandboxed, or next to its own, though it has the right nonce', async () => {
    for (const [sandbox, src] of [
      ['', 'http://evil.test/frame'],
      ['allow-scripts', `${service}/frame`],
    ] as const) {
      await begin()
      const made = `const frame = document.createElement('iframe'); ${sandbox ? `frame.sandbox = '${sandbox}'` : ''}
        frame.src = '${src}'; document.body.append(frame); await new Promise((resolve) => { frame.onload = resolve })`
      await play(tab, made)
      const other = tab.frames().at(-1)!
      // The right frame gives away its nonce.
      const nonce = await play<string>(frameOf(), `say({ openearn: 'hello' }); return (await next('nonce')).data.nonce`)
      await play(other, `say({ openearn: 'nonce', nonce: '${nonce}' }); say({ openearn: 'hello' }); ${settled}`)
      await tab.evaluate('0')
      expect([src, await play(other, 'return hasPort() || (globalThis.heard ?? []).length > 0')]).toEqual([src, false])
    }
    // The frame itself shows another page, or is sandboxed.
    await begin()
    for (const change of [
      `frame.src = 'http://evil.test/frame'`,
      `frame.sandbox = 'allow-scripts'; frame.src = '${service}/frame?2'`,
    ]) {
      await play(
        tab,
        `const frame = document.querySelector('iframe'); const loaded = new Promise((resolve) => { frame.onload = resolve }); ${change}; await loaded`,
      )
      await play(frameOf(), `say({ openearn: 'hello' }); say({ openearn: 'nonce', nonce: '' }); ${settled}`)
      expect([change, await play(frameOf(), 'return (globalThis.heard ?? []).length')]).toEqual([change, 0])
    }
    expect(signs()).toEqual([])
  })

  it('uses a nonce once, and one channel at a time: an earlier one is closed', async () => {
    const frame = await begin()
    const twice = await play<number>(
      frame,
      `await enter(); const { data } = heard.find(({ data }) => data?.openearn === 'nonce'); say({ openearn: 'nonce', nonce: data.nonce })
       say({ openearn: 'hello' }); const before = heard.length; ${settled}
       return heard.filter(({ data }) => data?.openearn === 'port').length`,
    )
    expect(twice).toBe(1)
    const late = await play<string>(
      frame,
      `const first = on(await enter()); const second = on(await enter())
       const lost = first({ method: 'eth_accounts', params: [] }).then(() => 'answered')
       await second({ method: 'eth_accounts', params: [] })
       return Promise.race([lost, Promise.resolve('silent')])`,
    )
    expect(late).toBe('silent')
    expect(signs()).toEqual([])
  })

  it.each<[string, string, boolean]>([
    [
      'shows another page',
      `frame.src = 'http://evil.test/frame'; await new Promise((loaded) => { frame.onload = loaded })`,
      true,
    ],
    [
      'shows its own page again',
      `frame.src += '?again'; await new Promise((loaded) => { frame.onload = loaded })`,
      true,
    ],
    ['is taken out of the page', 'frame.remove()', true],
    ['is closed by the page', 'shut()', true],
    [
      'shows another page that is never loaded to its end, and speaks',
      `frame.src = 'http://evil.test/endless'; speaks`,
      true,
    ],
    [
      'shows another page that is never loaded to its end, and is silent',
      `frame.src = 'http://evil.test/endless'`,
      false,
    ],
  ])('asks nothing for a channel that was kept elsewhere when its frame %s', async (_, change, isClosed) => {
    const frame = await begin()
    await play(
      tab,
      `const other = document.createElement('iframe'); other.src = '${service}/other'; document.body.append(other)
      await new Promise((loaded) => { other.onload = loaded })`,
    )
    const keeper = tab.frames().find((each) => each.url() === `${service}/other`)!
    await play(frame, `parent.frames[1].postMessage({ openearn: 'kept' }, '*', [await enter()])`)
    const kept = `globalThis.keep ??= on((await next('kept')).ports[0])`
    expect(await play(keeper, `${kept}; return keep({ method: 'eth_accounts' })`)).toMatchObject({
      result: [page.address],
    })
    const [code, speaks] = change.split('; speaks')
    await play(tab, `const frame = document.querySelector('iframe'); ${code}`)
    if (change.includes('endless')) await expect.poll(() => frameOf().title()).toBe('/endless')
    if (speaks !== undefined) await play(frameOf(), `say('well')`)
    const given = JSON.stringify({ asked: good.asked, plan: good.plan, position: 0 })
    await play(
      keeper,
      `${kept}; globalThis.answers = []; for (const ask of [{ method: 'eth_accounts' }, { handed: { kind: 'transaction', given: ${given} } }])
      keep(ask).then(() => answers.push(ask.method ?? 'transaction'))`,
    )
    // The wallet answers in order: what was asked for before is answered or refused by then.
    for (let turn = 0; turn < 100; turn++) await tab.evaluate(`wallet({ method: 'eth_chainId', params: [] })`)
    const answers = await play<string[]>(keeper, 'return answers')
    // The browser tells the page only of a document that is loaded or speaks: until then the accounts may be told.
    expect(isClosed ? answers : answers.filter((each) => each === 'transaction')).toEqual([])
    expect(signs()).toEqual([])
  })

  it.each<[string, string, unknown[]]>([
    ['a raw call', 'eth_sendTransaction', [{ to: `0x${'ad'.repeat(20)}`, data: '0x', value: '0x1' }]],
    ['a signed raw call', 'eth_sendRawTransaction', ['0x00']],
    ['eth_sign', 'eth_sign', [`0x${'ad'.repeat(20)}`, '0x00']],
    ['a message', 'personal_sign', ['0x00', `0x${'ad'.repeat(20)}`]],
    ['typed data', 'eth_signTypedData_v4', [`0x${'ad'.repeat(20)}`, '{}']],
    ['older typed data', 'eth_signTypedData', [[], `0x${'ad'.repeat(20)}`]],
    ['a raw batch', 'wallet_sendCalls', [{ calls: [] }]],
    ['a chain of its own', 'wallet_addEthereumChain', [{ chainId: '0x1', rpcUrls: ['http://evil.test'] }]],
    ['a switch to an unknown chain', 'wallet_switchEthereumChain', [{ chainId: '0x5' }]],
    ['permissions', 'wallet_requestPermissions', [{ eth_accounts: {} }]],
    ['a member of every object', 'constructor', []],
    ['a signature in a call', 'eth_signTransaction', [{}]],
    ['a read with more', 'eth_call', [{ to: `0x${'ad'.repeat(20)}`, data: '0x00', from: 'x' }, 'pending']],
  ])('hands on no %s', async (_, method, params) => {
    const frame = await begin()
    const answer = await play<{ error?: { code: number } }>(
      frame,
      `return on(await enter())(${JSON.stringify({ method, params })})`,
    )
    expect([4200, 4902]).toContain(answer.error?.code)
    expect(page.asked.filter((each) => each === method)).toEqual([])
    expect(signs()).toEqual([])
  })
})

const other = '0x00000000000000000000000000000000000000Ad'
type Handing = { kind: string; given: Record<string, unknown> }
const plain = (): Handing => ({
  kind: 'transaction',
  given: structuredClone({ asked: good.asked, plan: good.plan, position: 0 }) as Record<string, unknown>,
})
const withCall = (change: (call: Record<string, unknown>) => void): Handing => {
  const handed = plain()
  for (const { transaction } of (handed.given['plan'] as Plan).transactions) change(transaction)
  return handed
}
const withAsked = (part: object): Handing => {
  const handed = plain()
  Object.assign(handed.given['asked'] as object, part)
  return handed
}
const withGiven = (part: object, kind = 'transaction'): Handing => ({ kind, given: { ...plain().given, ...part } })

describe('a service whose frame lies: nothing is asked of the wallet', () => {
  it.each<[string, () => Handing]>([
    ['another target', () => withCall((call) => Object.assign(call, { to: other }))],
    ['native money with it', () => withCall((call) => Object.assign(call, { value: '1' }))],
    ['another chain in the call', () => withCall((call) => Object.assign(call, { chainId: 1 }))],
    [
      'a swapped selector',
      () => withCall((call) => Object.assign(call, { data: `0xa9059cbb${String(call['data']).slice(10)}` })),
    ],
    ['more than was asked for', () => withAsked({ amount: '1' })],
    ['another receiver', () => withAsked({ userAddress: other })],
    ['another distributor', () => withAsked({ distributorId: 'Borealis' })],
    ['no distributor', () => withAsked({ distributorId: undefined })],
    ['an unknown vault', () => withAsked({ opportunityId: '00000000-0000-0000-0000-000000000000' })],
    ['an unknown chain', () => withAsked({ chainId: 5 })],
    ['a slippage of everything', () => withAsked({ slippageBps: 10_000 })],
    ['a negative slippage', () => withAsked({ slippageBps: -1 })],
    ['another kind of request', () => withAsked({ type: 'withdraw' })],
    ['an unknown kind of request', () => withAsked({ type: 'anything' })],
    ['a transaction that is not there', () => withGiven({ position: 9 })],
    ['no place of the list', () => withGiven({ position: -1 })],
    ['a nonce of the past', () => withGiven({ place: { nonce: '0x0' } })],
    ['a nonce far ahead', () => withGiven({ place: { nonce: '0xffff' } })],
    [
      'a raw batch',
      () => withGiven({ plan: { ...good.plan, batch: { calls: [{ to: other }] } }, batchId: '0x1' }, 'batch'),
    ],
    [
      'a membership of another site',
      () =>
        withGiven(
          { asked: { address: page.address, chainId: 1, url: 'https://other.example/' }, answer: good.agreement },
          'agreement',
        ),
    ],
    [
      'any message',
      () =>
        withGiven(
          { asked: { address: page.address, chainId: 1 }, answer: { message: 'yes', nonce: '12345678' } },
          'agreement',
        ),
    ],
    [
      'an order that is none',
      () => withGiven({ built: { typedData: { types: {}, message: {} }, approvals: [] } }, 'order'),
    ],
    [
      'a claim without a stream',
      () =>
        withGiven(
          {
            asked: {
              userAddress: page.address,
              chainId: good.asked['chainId'],
              streamId: 'x',
              amount: '1',
              timestamp: 1,
              proof: [],
            },
          },
          'claim',
        ),
    ],
    ['no known kind', () => withGiven({}, 'call')],
    ['a plan that is too long', () => withGiven({ more: 'x'.repeat(400_000) })],
  ])('%s', async (_, make) => {
    const frame = await begin()
    const answer = await play<{ error?: { code: number; message: string } }>(
      frame,
      `return on(await enter())({ handed: ${JSON.stringify(make())} })`,
    )
    expect(answer.error?.message).toMatch(/\w/)
    expect(signs()).toEqual([])
  })

  it('a second request while the wallet is asked', async () => {
    const frame = await begin()
    const handed = JSON.stringify(withAsked({ amount: '1' }))
    const codes = await play<number[]>(
      frame,
      `const ask = on(await enter()); const all = await Promise.all([ask({ handed: ${handed} }, 1), ask({ handed: ${handed} }, 2)])
       return all.map(({ error }) => error.code).sort((a, b) => a - b)`,
    )
    expect([codes[0], signs()]).toEqual([-32_002, []])
  })
})
