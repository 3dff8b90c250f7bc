import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { patient } from '../../../contracts/test/patience.js'
import { chainSettings } from '../../test/actionWorld.js'
import { systemClock } from '../kernel/clock.js'
import { createOutbound, type Outbound } from '../kernel/outbound.js'
import { openChain, type Purpose } from './chains.js'

type Behaviour = (method: string) => number | 'hang' | Promise<void> | undefined

const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

/** A node that answers a status, hangs, or answers well, by method. `calls` are those it has seen. */
async function startNode(behave: Behaviour) {
  const calls: string[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { id, method } = JSON.parse(Buffer.concat(chunks).toString())
    calls.push(method)
    const wrong = await behave(method)
    if (wrong === 'hang') return
    if (typeof wrong === 'number') response.writeHead(wrong).end()
    else response.end(JSON.stringify({ jsonrpc: '2.0', id, result: method === 'eth_chainId' ? '0x7a69' : '0x01' }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.push(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls }
}

/** The chain as each purpose has it, over one way out of the process. */
function openPurposes(url: string, lateMs = patient(300)) {
  const outbound = createOutbound(systemClock)
  const impatient: Outbound = {
    fetchText: (request) => outbound.fetchText({ ...request, timeoutMs: lateMs, retries: 0 }),
  }
  const open = (purpose: Purpose) => openChain(impatient, chainSettings(url), undefined, { purpose }).rpc
  return { watch: open('watch'), plan: open('plan'), debug: open('debug') }
}

const head = { method: 'eth_getBlockByNumber', params: ['latest', false] }
const call = { method: 'eth_call', params: [{ to: '0x01' }, 'latest'] }
const many = (ask: () => Promise<unknown>, count = 8) =>
  Promise.all(Array.from({ length: count }, () => ask().catch((error: { kind: string }) => error.kind)))

describe('circuits by purpose', () => {
  it('a storm of calls that callers made slow opens none: neither that of plans nor that of the watcher', async () => {
    const node = await startNode((method) => (method === 'eth_call' ? 'hang' : undefined))
    const { watch, plan } = openPurposes(node.url)
    expect(new Set(await many(() => plan.request(call)))).toEqual(new Set(['timeout']))
    expect(new Set(await many(() => plan.request({ ...call, method: 'eth_simulateV1' })))).toEqual(new Set(['0x01']))
    expect(await plan.request(head)).toBe('0x01')
    expect(await watch.request(head)).toBe('0x01')
  })

  it('a node kept busy by such calls is not asked which chain it serves after each, which would be slow as well', async () => {
    let isBusy = false
    const node = await startNode((method) =>
      isBusy && (method === 'eth_call' || method === 'eth_chainId') ? 'hang' : undefined,
    )
    const { plan } = openPurposes(node.url)
    await plan.request(head)
    isBusy = true
    for (let round = 0; round < 2; round++) await many(() => plan.request(call))
    expect(await plan.request(head)).toBe('0x01')
    expect(node.calls.filter((method) => method === 'eth_chainId')).toHaveLength(1)
  })

  it.each<[string, Behaviour, string]>([
    ['a 5xx', () => 502, 'server'],
    ['silence on a call of our own', () => 'hang', 'timeout'],
  ])('%s opens the one of plans, and the watcher and look-ups still ask', async (_, wrong, kind) => {
    let isWell = false
    const node = await startNode((method) => (isWell || method === 'eth_chainId' ? undefined : wrong(method)))
    const { watch, plan, debug } = openPurposes(node.url)
    expect(new Set(await many(() => plan.request(head)))).toEqual(new Set([kind]))
    isWell = true
    await expect(plan.request(head)).rejects.toMatchObject({ kind: 'open' })
    expect(await watch.request(head)).toBe('0x01')
    expect(await debug.request(head)).toBe('0x01')
  })

  it('refused connections open it too, also on calls that run code', async () => {
    const { plan } = openPurposes('http://127.0.0.1:1')
    expect(new Set(await many(() => plan.request(call)))).toEqual(new Set(['network']))
    await expect(plan.request(call)).rejects.toMatchObject({ kind: 'open' })
  })

  it("the watcher's own calls that run code are its own to judge", async () => {
    const node = await startNode((method) => (method === 'eth_call' ? 'hang' : undefined))
    const { watch } = openPurposes(node.url)
    await many(() => watch.request(call))
    await expect(watch.request(call)).rejects.toMatchObject({ kind: 'open' })
  })
})

describe('calls under way by purpose', () => {
  it("look-ups that take their time have eight connections at most, and none of the others'", async () => {
    let release: (() => void) | undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const node = await startNode((method) => (method === 'eth_getTransactionByHash' ? held : undefined))
    const { watch, plan, debug } = openPurposes(node.url, 60_000)
    await debug.request(head)
    const lookUps = many(() => debug.request({ method: 'eth_getTransactionByHash', params: ['0x'] }), 20)
    expect(await many(() => watch.request(head))).toEqual(Array(8).fill('0x01'))
    expect(await many(() => plan.request(head))).toEqual(Array(8).fill('0x01'))
    expect(node.calls.filter((method) => method === 'eth_getTransactionByHash')).toHaveLength(8)
    release?.()
    expect(await lookUps).toEqual(Array(20).fill('0x01'))
  })
})
