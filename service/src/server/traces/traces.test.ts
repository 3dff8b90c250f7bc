import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Registry } from 'prom-client'
import { afterEach, describe, expect, it } from 'vitest'
import { openEarn } from '../../../test/harness.js'
import { openReceiver, type Receiver } from '../../../test/receiver.js'
import { systemClock } from '../../kernel/clock.js'
import { parseConfig } from '../../kernel/config.js'
import { type Log, silentLog } from '../../kernel/log.js'
import { createOutbound } from '../../kernel/outbound.js'
import { describeStatement } from '../../postgres/describeStatement.js'
import { createShutdown } from '../shutdown.js'
import { createExporter } from './exporter.js'
import { followCalls, openTraces } from './index.js'
import { createSpans, type Span } from './spans.js'

// biome-ignore lint/suspicious/noExplicitAny: spans as a collector reads them
type Wire = any

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function openCollector(): Promise<Receiver> {
  const collector = await openReceiver()
  closing.push(collector.close)
  return collector
}

const spansOf = ({ received }: Receiver): Wire[] =>
  received.flatMap(({ body }) =>
    body.resourceSpans.flatMap(({ scopeSpans }: Wire) => scopeSpans.flatMap(({ spans }: Wire) => spans)),
  )
const attributeOf = ({ attributes }: Wire, name: string) => {
  const { value } = attributes.find(({ key }: Wire) => key === name) ?? {}
  return value?.stringValue ?? (value?.intValue === undefined ? undefined : Number(value.intValue))
}

/** A node that knows no transaction. */
async function openNode(): Promise<{ url: string; host: string }> {
  const server: Server = createServer(async (request, response) => {
    let text = ''
    for await (const part of request) text += part
    const asked = JSON.parse(text)
    const answer = ({ id, method }: Wire) => ({ jsonrpc: '2.0', id, result: method === 'eth_chainId' ? '0x7' : null })
    response.end(JSON.stringify(Array.isArray(asked) ? asked.map(answer) : answer(asked)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => new Promise((resolve) => server.close(resolve)))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url: `http://${host}/v2/verySecretNodeKey`, host }
}

const chainOf = (url: string) => ({
  ...{ chainId: 7, name: 'Seven', nativeSymbol: 'ETH', rpcUrls: [url], confirmations: 1, finalityDepth: 2 },
  ...{ pollIntervalMs: 1_000, reorgRecheckSeconds: 60, entryPoints: [] },
})

describe('a request that is followed', () => {
  it('is told by OTLP with its statements and its calls to a node, in the trace of its caller, when the service stops', async () => {
    const collector = await openCollector()
    const node = await openNode()
    const config = { tracesUrl: `${collector.url}/v1/traces`, tracesPercent: 100 }
    const earn = await openEarn({ config, chains: [chainOf(node.url)] })
    await earn.db`insert into chains (chain_id, name, slug, watched) values (7, 'Seven', 'seven', true)`
    await earn.service.ctx.catalogue.refresh()
    const baseUrl = await earn.service.publicApp.listen({ host: '127.0.0.1', port: 0 })
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
    const headers = { 'x-api-key': earn.secret, traceparent: `00-${trace}-00f067aa0ba902b7-00` }
    const hash = `0x${'ab'.repeat(32)}`
    const answer = await fetch(`${baseUrl}/v2/attribution/${hash}?chainId=7`, { headers })
    await answer.text()
    await earn.close()

    expect(collector.received.map(({ path }) => path)).toEqual(['/v1/traces'])
    expect(collector.received[0]?.headers['content-type']).toBe('application/json')
    const { resourceSpans } = collector.received[0]?.body ?? {}
    expect(resourceSpans[0].resource.attributes).toContainEqual({
      key: 'service.name',
      value: { stringValue: 'openearn' },
    })
    expect(resourceSpans[0].scopeSpans[0].scope).toEqual({ name: 'openearn' })
    const spans = spansOf(collector)
    for (const span of spans) {
      expect(span.traceId).toBe(trace)
      expect(span.spanId).toMatch(/^[0-9a-f]{16}$/)
      expect(span.startTimeUnixNano).toMatch(/^1\d{18}$/)
      expect(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano)).toBe(true)
    }
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length)
    const root = spans.find(({ kind }) => kind === 2)
    expect(root).toMatchObject({ name: 'GET /v2/attribution/{txHash}', parentSpanId: '00f067aa0ba902b7', status: {} })
    expect(attributeOf(root, 'http.response.status_code')).toBe(answer.status)
    expect(attributeOf(root, 'openearn.operation')).toBe('GetAttribution')
    const [statements, calls] = ['db.query.text', 'rpc.method'].map((name) =>
      spans.filter((each) => attributeOf(each, name)),
    )
    expect(statements?.length).toBeGreaterThan(0)
    expect(calls?.map((each) => attributeOf(each, 'server.address'))).toContain(node.host)
    expect(calls?.map(({ name }) => name)).toContain('node eth_getTransactionByHash')
    for (const span of spans.filter((each) => each !== root))
      expect([span.kind, span.parentSpanId]).toEqual([3, root.spanId])
    // Neither a key, nor what was asked for, nor the path of a node.
    const text = collector.received.map((each) => each.text).join()
    for (const secret of ['verySecretNodeKey', earn.secret, hash.slice(2)]) expect(text).not.toContain(secret)
  })

  it('is one of those that the dice choose, whatever its caller says, and a cached page is told as well', async () => {
    const collector = await openCollector()
    const config = { tracesUrl: collector.url, tracesPercent: 0 }
    const earn = await openEarn({ config })
    const baseUrl = await earn.service.publicApp.listen({ host: '127.0.0.1', port: 0 })
    const headers = { 'x-api-key': earn.publishable, traceparent: `00-${'ab'.repeat(16)}-00f067aa0ba902b7-01` }
    for (let time = 0; time < 3; time++) await (await fetch(`${baseUrl}/v2/opportunities/`, { headers })).text()
    await earn.close()
    expect(collector.received).toEqual([])

    const all = await openEarn({ config: { ...config, tracesPercent: 100 } })
    const allUrl = await all.service.publicApp.listen({ host: '127.0.0.1', port: 0 })
    for (let time = 0; time < 3; time++)
      await (await fetch(`${allUrl}/v2/opportunities/`, { headers: { 'x-api-key': all.publishable } })).text()
    await all.close()
    const roots = spansOf(collector).filter(({ kind }) => kind === 2)
    expect(roots.map(({ name }) => name)).toEqual(Array(3).fill('GET /v2/opportunities/'))
    expect(new Set(roots.map(({ traceId }) => traceId)).size).toBe(3)
  })
})

/** Spans by hand, and what came of them. */
function openSpans(ratio: number, random: () => number) {
  const told: Span[] = []
  const spans = createSpans({ ratio, clock: systemClock, onSpan: (span) => told.push(span), random })
  const finish = (request: object, name: string) => spans.end(request, { name, attributes: {}, isFailed: false })
  const child = (name: string, work: () => Promise<unknown> = async () => undefined) =>
    spans.child({ name, attributes: {} }, work, () => 'gone')
  return { spans, told, finish, child }
}

it('follows two requests at once without mixing them, and nothing outside of them', async () => {
  const { spans, told, finish, child } = openSpans(1, () => 0)
  const [first, second] = [{}, {}]
  for (const request of [first, second]) expect(spans.begin(request, () => undefined)).toBe(true)
  expect(spans.isFollowed()).toBe(false)
  let release: () => void = () => undefined
  const waits = new Promise<void>((resolve) => {
    release = resolve
  })
  const works = [
    spans.within(first, async () => {
      await waits
      await child('a', () => child('b'))
    }),
    spans.within(second, async () => {
      await child('c')
      release()
    }),
  ]
  await Promise.all(works)
  finish(first, 'first')
  finish(second, 'second')
  expect(spans.isFollowed()).toBe(false)
  const [byName] = [new Map(told.map((span) => [span.name, span]))]
  const ofTrace = (name: string) =>
    told.filter(({ traceId }) => traceId === byName.get(name)?.traceId).map((each) => each.name)
  expect([ofTrace('first'), ofTrace('second')]).toEqual([
    ['b', 'a', 'first'],
    ['c', 'second'],
  ])
  expect(byName.get('b')?.parentId).toBe(byName.get('a')?.spanId)
  expect(byName.get('a')?.parentId).toBe(byName.get('first')?.spanId)
})

it('makes nothing for a request that the dice leave out, and names failures without their words', async () => {
  const rolls = [0.01, 0.0099]
  const { spans, told, child } = openSpans(0.01, () => rolls.shift() ?? 1)
  const parent = () => {
    throw new Error('looked at')
  }
  expect(spans.begin({}, parent)).toBe(false)
  const request = {}
  expect(spans.begin(request, () => undefined)).toBe(true)
  await spans.within(request, () => child('a', () => Promise.reject(new Error('a secret'))).catch(() => undefined))
  expect(told).toMatchObject([{ name: 'a', isFailed: true, attributes: { 'error.type': 'gone' } }])
  expect(JSON.stringify(told)).not.toContain('secret')
})

it('leaves values out of statements', () => {
  expect(describeStatement(`select a1, 'it''s 5' from t2\n where b = $12 and c > 1.5 limit 100`)).toEqual({
    name: 'select',
    attributes: {
      'db.system.name': 'postgresql',
      'db.query.text': 'select a1, ? from t2 where b = $12 and c > ? limit ?',
    },
  })
})

it('costs no object and no setting of a collector where it is off', () => {
  const config = parseConfig({}, '/nonexistent')
  const outbound = createOutbound(systemClock)
  const parts = { clock: systemClock, log: silentLog, outbound, registry: new Registry() }
  expect(openTraces({ ...parts, config, shutdown: createShutdown(silentLog) })).toBe(undefined)
  expect(followCalls(outbound, undefined)).toBe(outbound)
})

describe('spans for a collector', () => {
  const span: Span = {
    ...{ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), parentId: undefined, name: 'x', kind: 'server' },
    ...{ startMs: 1_795_000_000_000.25, endMs: 1_795_000_000_001, attributes: { n: 7 }, isFailed: true },
  }
  const open = async (url: string) => {
    const counts = { sent: 0, dropped: 0, failed: 0 }
    const warnings: unknown[] = []
    const log = { ...silentLog, warn: (...words: unknown[]) => warnings.push(words) } as Log
    const exporter = createExporter({
      ...{ url, outbound: createOutbound(systemClock), log, resource: {} },
      onOutcome: (outcome, count) => {
        counts[outcome] += count
      },
    })
    return { exporter, counts, warnings }
  }

  it('wait in a queue of 2,048, beyond which they are dropped and counted; the others are sent 512 at a time', async () => {
    const collector = await openCollector()
    const { exporter, counts } = await open(collector.url)
    for (let index = 0; index < 2_100; index++) exporter.add(span)
    expect(counts).toEqual({ sent: 0, dropped: 52, failed: 0 })
    await exporter.stop()
    expect(counts).toEqual({ sent: 2_048, dropped: 52, failed: 0 })
    expect(collector.received.map(({ body }) => body.resourceSpans[0].scopeSpans[0].spans.length)).toEqual(
      Array(4).fill(512),
    )
    expect(spansOf(collector)[0]).toEqual({
      ...{ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), name: 'x', kind: 2, status: { code: 2 } },
      ...{ startTimeUnixNano: '1795000000000250000', endTimeUnixNano: '1795000000001000000' },
      attributes: [{ key: 'n', value: { intValue: '7' } }],
    })
  })

  it('are lost and counted where it refuses them, told of once, and nothing waits for it', async () => {
    const collector = await openCollector()
    collector.respond((_received, response) => response.writeHead(503).end())
    const { exporter, counts, warnings } = await open(collector.url)
    for (let index = 0; index < 1_000; index++) exporter.add(span)
    await exporter.stop()
    expect(counts).toEqual({ sent: 0, dropped: 0, failed: 1_000 })
    expect(warnings).toHaveLength(1)
    expect(collector.received).toHaveLength(1)
  })
})

it('shows spans by outcome in the metrics', async () => {
  const collector = await openCollector()
  const earn = await openEarn({ config: { tracesUrl: collector.url, tracesPercent: 100 } })
  expect(await earn.service.metrics.registry.metrics()).toMatch(/^openearn_spans_total\{outcome="dropped"\} 0$/m)
  await earn.close()
})
