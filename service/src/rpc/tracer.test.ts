import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { keccak256, toRlp } from 'viem'
import { describe, expect, it } from 'vitest'
import { rpcOf } from '../../test/rpcOf.js'
import { fakeClock, systemClock } from '../kernel/clock.js'
import { createOutbound, OutboundError } from '../kernel/outbound.js'
import { openChain } from './chains.js'
import type { RawLog } from './raw.js'
import { type Rpc, RpcError, type RpcRequest } from './rpc.js'
import { createTracer, type Tracer, type WantedTrace } from './tracer.js'

const at = (digit: string) => `0x${digit.repeat(40)}`
const [ann, router, vault] = ['a', 'b', 'c'].map(at) as [string, string, string]
const blockHash = `0x${'0b'.repeat(32)}`
const topic = `0x${'22'.repeat(32)}`
const zero = `0x${'00'.repeat(32)}`
type Told = Record<string, unknown>

/** A transaction to the router, by number, as all its answers tell it: the deposit of a rollup, which needs no signature. */
function make(number: number, suffix = '') {
  const sourceHash = `0x${number.toString(16).padStart(64, '0')}` as const
  const fields = [sourceHash, ann, router, '0x', '0x', '0x01', '0x', '0x1234'] as `0x${string}`[]
  const hash = keccak256(`0x7e${toRlp(fields).slice(2)}`)
  const place = { blockNumber: 5, transactionIndex: number }
  const log: RawLog = { ...place, logIndex: number, transactionHash: hash, address: vault, topics: [topic], data: '0x' }
  const told = { type: '0x7e', hash, from: ann, to: router, input: '0x1234', gas: '0x1', value: '0x0', sourceHash }
  const told1 = { address: vault, topics: [topic], data: '0x' }
  const deposit = {
    type: 'CALL',
    from: router,
    to: vault,
    input: `0x6e55${suffix}`,
    logs: [{ ...told1, position: '0x0' }],
  }
  const trace: Told = { type: 'CALL', from: ann, to: router, input: '0x1234', calls: [deposit] }
  const quantity = (value: number) => `0x${value.toString(16)}`
  const logs = [
    {
      ...{ ...told1, blockNumber: '0x5', blockHash, logIndex: quantity(number) },
      ...{ transactionIndex: quantity(number), transactionHash: hash },
    },
  ]
  const receipt = { blockNumber: '0x5', blockHash, transactionIndex: quantity(number), logs }
  const wanted: WantedTrace = {
    transaction: { ...place, hash, from: ann, to: router, input: '0x1234' },
    blockHash,
    logs: [log],
  }
  return { hash, told, trace, receipt, wanted }
}
type Made = ReturnType<typeof make>

type Wrong = (request: RpcRequest) => unknown
/** A node that knows some transactions; what `wrong` answers takes the place of the truth. */
function nodeOf(made: readonly Made[], wrong: Wrong = () => undefined) {
  const asked: string[] = []
  const truth = ({ method, params }: RpcRequest): unknown => {
    const [hash] = params as [string]
    const one = made.find((each) => each.hash === hash)
    if (method === 'eth_getTransactionByHash') return one?.told ?? null
    if (method === 'eth_getTransactionReceipt') return one?.receipt ?? null
    if (method === 'debug_traceBlockByHash' && hash === blockHash)
      return made.map((each) => ({ txHash: each.hash, result: each.trace }))
    if (method === 'debug_traceTransaction' && one) return one.trace
    throw new RpcError(-32000, 'transaction not found', undefined)
  }
  const rpc: Rpc = rpcOf(async (request) => {
    asked.push(request.method)
    const told = wrong(request)
    if (told instanceof Error) throw told
    return told ?? truth(request)
  })
  return { rpc, asked }
}
const cannot = (request: RpcRequest) => new RpcError(-32601, `the method ${request.method} does not exist`, undefined)
const tracerOf = (...rpcs: Rpc[]): Tracer =>
  createTracer(rpcs, { recover: () => undefined, clock: systemClock, log: { warn: () => undefined } })
const trace = async (made: readonly Made[], ...rpcs: Rpc[]) => {
  const tracer = tracerOf(...rpcs)
  await tracer.open()
  return tracer.trace(made.map(({ wanted }) => wanted))
}

describe('what a chain can do', () => {
  it.each<[string, Wrong, 'trace' | 'calldata' | undefined]>([
    ['call trees with logs', () => undefined, 'trace'],
    ['traces alone', (request) => (request.method.startsWith('debug') ? cannot(request) : undefined), 'trace'],
    ['neither', cannot, 'calldata'],
    ['neither, said by status', () => new OutboundError('client', 'a host answered 403'), 'calldata'],
    ['nothing, for now', () => new OutboundError('timeout', 'no answer'), undefined],
  ])('is tried at start: %s', async (_name, wrong, evidence) => {
    const tracer = tracerOf(nodeOf([], wrong).rpc)
    expect(tracer.evidence()).toBeUndefined()
    await tracer.open()
    expect(tracer.evidence()).toBe(evidence)
  })

  it('is tried again when a url did not say, before something is asked that is in no hurry', async () => {
    let isDown = true
    const one = make(1)
    const { rpc } = nodeOf([one], () => (isDown ? new OutboundError('network', 'down') : undefined))
    const tracer = tracerOf(rpc)
    await tracer.open()
    isDown = false
    expect((await tracer.trace([one.wanted], { hurry: true })).size).toBe(0)
    expect((await tracer.trace([one.wanted])).size).toBe(1)
  })
})

describe('asking for traces', () => {
  it('takes a block as a whole where many of it are wanted, and many transactions in one call', async () => {
    const many = Array.from({ length: 20 }, (_, i) => make(i))
    const { rpc, asked } = nodeOf(many)
    expect((await trace(many, rpc)).size).toBe(20)
    expect(asked.filter((method) => method === 'debug_traceBlockByHash')).toHaveLength(2)
    expect(asked.filter((method) => method === 'debug_traceTransaction')).toHaveLength(1)
  })

  it.each<[string, Wrong]>([
    [
      'refuses the block',
      ({ method, params }) =>
        method === 'debug_traceBlockByHash' && (params as string[])[0] !== zero
          ? new RpcError(-32000, 'too heavy', undefined)
          : undefined,
    ],
    [
      'gives more of the block than is read',
      ({ method, params }) =>
        method === 'debug_traceBlockByHash' && (params as string[])[0] !== zero
          ? new OutboundError('too-large', 'more than 32 MB')
          : undefined,
    ],
  ])('asks for each transaction where a node %s', async (_name, wrong) => {
    const many = Array.from({ length: 9 }, (_, i) => make(i))
    expect((await trace(many, nodeOf(many, wrong).rpc)).size).toBe(9)
  })

  it('costs no other its answer when one is refused, malformed or larger than what is read', async () => {
    const many = Array.from({ length: 6 }, (_, i) => make(i))
    const [first, second, third, fourth] = many.map(({ hash }) => hash)
    const wrong: Wrong = ({ method, params }) => {
      if (method !== 'debug_traceTransaction') return undefined
      const [hash] = params as [string]
      if (hash === first) return new RpcError(-32000, 'missing trie node', undefined)
      if (hash === second) return { type: 'CALL' }
      if (hash === third) return new OutboundError('too-large', 'more than 32 MB')
      return hash === fourth ? many[5]?.trace && { ...many[5].trace, input: '0x99' } : undefined
    }
    expect([...(await trace(many, nodeOf(many, wrong).rpc)).keys()]).toEqual(many.slice(4).map(({ hash }) => hash))
  })

  it.each<[string, Wrong]>([
    [
      'of another block',
      ({ method }) =>
        method === 'eth_getTransactionReceipt'
          ? {
              ...make(1).receipt,
              blockHash: topic,
              logs: make(1).receipt.logs.map((log) => ({ ...log, blockHash: topic })),
            }
          : undefined,
    ],
    [
      'without the logs we hold',
      ({ method }) => (method === 'eth_getTransactionReceipt' ? { ...make(1).receipt, logs: [] } : undefined),
    ],
    ['that is none', ({ method }) => (method === 'eth_getTransactionReceipt' ? [] : undefined)],
  ])('believes no trace beside a receipt %s', async (_name, wrong) => {
    const one = make(1)
    const node = nodeOf([one], wrong)
    expect((await trace([one], node.rpc)).size).toBe(0)
  })

  it('is content with a second url for what the first does not tell', async () => {
    const [one, two] = [make(1), make(2)]
    expect([...(await trace([one, two], nodeOf([one]).rpc, nodeOf([two]).rpc)).keys()].sort()).toEqual(
      [one.hash, two.hash].sort(),
    )
  })

  it('asks a second url only where made-up bytes may be a suffix', async () => {
    const [bare, coded] = [make(1), make(2, 'deadbeef')]
    const second = nodeOf([bare, coded])
    const found = await trace([bare, coded], nodeOf([bare, coded]).rpc, second.rpc)
    expect(second.asked.filter((method) => method === 'debug_traceTransaction')).toHaveLength(2)
    expect(found.get(coded.hash)?.calls.map(({ isWord }) => isWord)).toEqual([false, false])
    expect(found.get(bare.hash)?.calls.map(({ isWord }) => isWord)).toEqual([false, true])
  })

  it('waits no longer than it may, and leaves a url that was late alone for a while', async () => {
    const one = make(1)
    let isStuck = true
    const stuck: Rpc = rpcOf((request) => {
      if (request.method === 'debug_traceTransaction' && (request.params as string[])[0] !== zero && isStuck)
        return new Promise(() => undefined)
      return nodeOf([one]).rpc.request(request)
    })
    const clock = fakeClock('2026-01-01T00:00:00Z')
    const tracer = createTracer([stuck], { recover: () => undefined, clock, log: { warn: () => undefined } })
    await tracer.open()
    const hurried = () => tracer.trace([one.wanted], { hurry: true, deadlineMs: 400 })
    expect((await hurried()).size).toBe(0)
    isStuck = false
    expect((await tracer.trace([one.wanted], { hurry: true })).size).toBe(0)
    clock.advance(60_000)
    expect((await tracer.trace([one.wanted], { hurry: true })).size).toBe(1)
  })
})

describe('a trace of 50 MB', () => {
  it('is given up while it is read, and costs no other transaction of the call its own', async () => {
    const [large, small] = [make(1), make(2)]
    const { rpc } = nodeOf([large, small])
    const own = await openLargeNode(rpc, large.hash)
    try {
      const settings = {
        ...{ chainId: 5, name: 'Chain', nativeSymbol: 'ETH', rpcUrls: [own.url], confirmations: 1, finalityDepth: 64 },
        ...{ pollIntervalMs: 1_000, reorgRecheckSeconds: 0, entryPoints: [] },
      }
      const chain = openChain(createOutbound(systemClock), settings)
      const found = await trace([large, small], ...(chain.traceRpcs ?? []))
      expect([...found.keys()]).toEqual([small.hash])
      expect(own.answers.length).toBeGreaterThan(0)
      for (const sent of own.answers) expect(sent).toBeLessThan(50 * megabyte)
    } finally {
      await own.stop()
    }
  })
})

const megabyte = 1024 * 1024

/** A node on loopback that writes 50 MB where it is asked for one trace; `answers` are the bytes it got rid of each time. */
async function openLargeNode(rpc: Rpc, hash: string) {
  type Asked = RpcRequest & { id: number }
  const answers: number[] = []
  const answer = async ({ id, method, params }: Asked) => {
    if (method === 'eth_chainId') return { jsonrpc: '2.0', id, result: '0x5' }
    try {
      return { jsonrpc: '2.0', id, result: await rpc.request({ method, params: params ?? [] }) }
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      return { jsonrpc: '2.0', id, error: { code: error.code, message: error.message } }
    }
  }
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const asked = JSON.parse(Buffer.concat(parts).toString()) as Asked | Asked[]
    response.writeHead(200, { 'content-type': 'application/json' })
    const isLarge = [asked]
      .flat()
      .some(({ method, params }) => method === 'debug_traceTransaction' && (params as string[])[0] === hash)
    if (!isLarge)
      return response.end(
        JSON.stringify(Array.isArray(asked) ? await Promise.all(asked.map(answer)) : await answer(asked)),
      )
    const part = 'ab'.repeat(megabyte / 2)
    const at = answers.push(0) - 1
    const write = (): unknown => {
      while (!response.destroyed && (answers[at] ?? 0) < 50 * megabyte) {
        answers[at] = (answers[at] ?? 0) + megabyte
        if (!response.write(part)) return response.once('drain', write)
      }
      return response.end()
    }
    return write()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    answers,
    stop: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}
