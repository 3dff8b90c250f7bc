import { type Hex, hexToBytes, keccak256 } from 'viem'
import { describe, expect, it } from 'vitest'
import { OutboundError } from '../kernel/outbound.js'
import { fetchBlock, fetchRange } from '../sync/fetch.js'
import { createWatchList } from '../sync/watchList.js'
import { createNode } from './node.js'
import { type Rpc, RpcError, type RpcRequest } from './rpc.js'

const address = `0x${'aa'.repeat(20)}`
const topic = `0x${'bb'.repeat(32)}`
const hash = `0x${'cc'.repeat(32)}`
const list = createWatchList([{ key: '', addresses: [address], topics: [topic], fromBlock: 0, calldata: [] }])
/** The bloom of logs with these addresses and topics (yellow paper, 4.3.1). */
function bloomOf(...items: string[]): string {
  let bits = 0n
  for (const item of items) {
    const digest = hexToBytes(keccak256(item as Hex))
    for (const at of [0, 2, 4]) bits |= 1n << BigInt((((digest[at] ?? 0) << 8) | (digest[at + 1] ?? 0)) & 2047)
  }
  return `0x${bits.toString(16).padStart(512, '0')}`
}
const someBloom = bloomOf(address, topic)
const header = (logsBloom: string | undefined, number = 7, own = hash) => ({
  number: `0x${number.toString(16)}`,
  hash: own,
  parentHash: number === 9 ? `0x${'12'.repeat(32)}` : `0x${'dd'.repeat(32)}`,
  timestamp: '0x65000000',
  logsBloom,
})
const log = (over: Record<string, unknown> = {}) => ({
  blockNumber: '0x7',
  blockHash: hash,
  logIndex: '0x0',
  transactionIndex: '0x0',
  transactionHash: `0x${'ee'.repeat(32)}`,
  address,
  topics: [topic],
  data: '0x',
  removed: false,
  ...over,
})

type Answers = Record<string, (params: Record<string, unknown>[]) => unknown>

/** A network that answers as told, and which methods it was asked. */
function rpcOf(answers: Answers, other?: Answers): Rpc & { asked: string[] } {
  const asked: string[] = []
  const request = async ({ method, params }: RpcRequest) => {
    asked.push(method)
    const answer = answers[method]
    if (!answer) throw new RpcError(-32601, `the method ${method} does not exist`, undefined)
    return answer(params as Record<string, unknown>[])
  }
  return {
    asked,
    request,
    batch: (requests) => Promise.all(requests.map(request)),
    as: () => rpcOf(answers, other),
    secondary: () => other && rpcOf(other),
    markUnreliable: () => undefined,
  }
}
const refusal = (code: number, message: string) => () => {
  throw new RpcError(code, message, undefined)
}

async function readBlock(answers: Answers) {
  const node = createNode(rpcOf({ eth_getBlockByNumber: () => header(someBloom), ...answers }))
  const found = await node.findHeader('latest')
  if (!found) throw new Error('no header')
  return { node, read: () => fetchBlock(node, found, list) }
}

describe('views of contracts', () => {
  const view = { target: address, data: '0x12345678' }

  it('are undefined where a node keeps no state of the block, or refuses', async () => {
    for (const message of ['missing trie node', 'header not found']) {
      const node = createNode(rpcOf({ eth_call: refusal(-32000, message) }))
      expect(await node.readViews?.([view, view], hash)).toEqual([undefined, undefined])
    }
  })

  it('are not told while no node can be reached: that is no answer to keep', async () => {
    const gone = () => {
      throw new OutboundError('network', 'node.example cannot be reached')
    }
    await expect(createNode(rpcOf({ eth_call: gone })).readViews?.([view, view], hash)).rejects.toThrow(OutboundError)
  })

  it.each(['server', 'timeout'] as const)('are not told while a node fails whatever it is asked (%s)', async (kind) => {
    const fails = () => {
      throw new OutboundError(kind, 'node.example failed')
    }
    const away = createNode(rpcOf({ eth_call: fails, eth_blockNumber: fails }))
    await expect(away.readViews?.([view, view], hash)).rejects.toThrow(OutboundError)
    const here = createNode(rpcOf({ eth_call: fails, eth_blockNumber: () => '0x10' }))
    expect(await here.readViews?.([view, view], hash)).toEqual([undefined, undefined])
  })
})

describe('a block whose node', () => {
  it('has its header but not yet its receipts is not taken for empty', async () => {
    const { read } = await readBlock({ eth_getLogs: () => [], eth_getBlockReceipts: () => [] })
    await expect(read()).rejects.toThrow('a block whose bloom has some')
  })

  it.each([
    ['no bloom', undefined],
    ['an empty bloom', `0x${'0'.repeat(512)}`],
    ['a bloom of all bits, as chains that make none do,', `0x${'f'.repeat(512)}`],
  ])('names %s is empty when receipts say so', async (_what, bloom) => {
    const { read } = await readBlock({
      eth_getBlockByNumber: () => header(bloom),
      eth_getLogs: () => [],
      eth_getBlockReceipts: () => [{ logs: [] }],
    })
    expect((await read()).logs).toEqual([])
  })

  it.each([
    ['a bloom without one of ours', { logsBloom: bloomOf(address, `0x${'99'.repeat(32)}`) }],
    ['no transaction', { transactionsRoot: '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421' }],
  ])('has %s costs no call beside its header', async (_what, told) => {
    const rpc = rpcOf({ eth_getBlockByNumber: () => ({ ...header(undefined), ...told }) })
    const found = await createNode(rpc).findHeader('latest')
    expect(found && (await fetchBlock(createNode(rpc), found, list)).logs).toEqual([])
    expect(rpc.asked).toEqual(['eth_getBlockByNumber'])
  })

  it('has an empty bloom costs none where the chain is known to make blooms', async () => {
    const rpc = rpcOf({ eth_getBlockByNumber: () => header(`0x${'0'.repeat(512)}`) })
    const found = await createNode(rpc).findHeader('latest')
    expect(found && (await fetchBlock(createNode(rpc), found, list, { makesBlooms: true })).logs).toEqual([])
    expect(rpc.asked).toEqual(['eth_getBlockByNumber'])
  })

  it('refuses receipts once has its logs checked against receipts the next time', async () => {
    let refuses = true
    const { read } = await readBlock({
      eth_getLogs: ([filter]) => (refuses || !filter?.['address'] ? refusal(-32000, 'header not found')() : []),
      eth_getBlockReceipts: () => (refuses ? refusal(-32000, 'header not found')() : [{ logs: [log()] }]),
    })
    await expect(read()).rejects.toBeInstanceOf(RpcError)
    refuses = false
    await expect(read()).rejects.toThrow('not those of its receipts')
  })

  it('knows no receipts of blocks has its logs checked against all logs of the block', async () => {
    const { read } = await readBlock({ eth_getLogs: ([filter]) => (filter?.['address'] ? [] : [log()]) })
    await expect(read()).rejects.toThrow('not those of its receipts')
  })

  it('gives logs that a reorganisation removed is not believed', async () => {
    const { read } = await readBlock({ eth_getLogs: () => [log({ removed: true })] })
    await expect(read()).rejects.toThrow('removed')
  })

  it('gives pending logs, of no block, is not believed', async () => {
    const { node } = await readBlock({
      eth_getLogs: () => [log({ blockNumber: null, blockHash: null, logIndex: null })],
    })
    const filter = { addresses: [address], topics: [topic] }
    await expect(node.listRange({ ...filter, fromBlock: 7, toBlock: 7 })).rejects.toBeInstanceOf(OutboundError)
  })

  it('is beyond 2^31 is read like any other', async () => {
    const { node } = await readBlock({ eth_getBlockByNumber: () => header(undefined, 3_000_000_000) })
    expect((await node.findHeader(3_000_000_000))?.number).toBe(3_000_000_000)
  })
})

describe('a checked window of the past', () => {
  const past = (logs: unknown[]): Answers => ({
    eth_getBlockByNumber: (params) =>
      header(undefined, Number(params[0]), Number(params[0]) === 8 ? `0x${'12'.repeat(32)}` : hash),
    eth_getLogs: ([filter]) => (filter?.['address'] ? logs : []),
  })
  const earlier = log({ blockNumber: '0x8', blockHash: `0x${'12'.repeat(32)}` })

  it('is not believed when a second node knows of a block whose logs the first left out', async () => {
    const node = createNode(rpcOf(past([]), past([earlier])))
    await expect(fetchRange(node, { from: 8, to: 9 }, list, { twice: true })).rejects.toThrow('two nodes')
  })

  it('is believed when the second node does not answer', async () => {
    const node = createNode(rpcOf(past([]), {}))
    expect((await fetchRange(node, { from: 8, to: 9 }, list, { twice: true })).blocks).toEqual([])
  })
})

describe('an answer that does not hold together', () => {
  const other = `0x${'34'.repeat(32)}`
  const transactionHash = `0x${'ee'.repeat(32)}`
  const mined = (over: Record<string, unknown> = {}) => ({
    ...{ hash: transactionHash, blockHash: hash, blockNumber: '0x7', transactionIndex: '0x0' },
    ...{ from: address, to: address, input: '0x', value: '0x0', type: '0x2', nonce: '0x0', ...over },
  })
  const filter = { addresses: [address], topics: [topic] }

  it('refuses a transaction that a node places in another block than its logs', async () => {
    const listOf = (over: Record<string, unknown>) =>
      createNode(rpcOf({ eth_getTransactionByHash: () => mined(over) })).listTransactions([
        { hash: transactionHash, blockHash: hash },
      ])
    expect(await listOf({})).toMatchObject([{ hash: transactionHash }])
    await expect(listOf({ blockHash: other })).rejects.toThrow('in another block than its logs')
    await expect(listOf({ hash: other })).rejects.toThrow('another transaction than asked')
  })

  it('refuses a whole block that lacks a wanted transaction, or is another', async () => {
    const hashes = Array.from({ length: 40 }, (_, index) => `0x${index.toString(16).padStart(64, '0')}`)
    const wanted = hashes.map((each) => ({ hash: each, blockHash: hash }))
    const listOf = (told: readonly string[], own = hash) => {
      const transactions = told.map((each) => mined({ hash: each }))
      const rpc = rpcOf({ eth_getBlockByHash: () => ({ ...header(undefined), hash: own, transactions }) })
      return createNode(rpc).listTransactions(wanted)
    }
    expect(await listOf(hashes)).toHaveLength(40)
    await expect(listOf(hashes.slice(1))).rejects.toThrow('without a transaction of it')
    await expect(listOf(hashes, other)).rejects.toThrow('another block than asked')
  })

  it('refuses a range whose logs name two hashes for one number', async () => {
    const logs = [log(), log({ blockHash: other, logIndex: '0x1' })]
    const node = createNode(rpcOf({ eth_getBlockByNumber: () => header(undefined), eth_getLogs: () => logs }))
    await expect(node.listRange({ ...filter, fromBlock: 7, toBlock: 7 })).rejects.toThrow(OutboundError)
  })

  it('refuses logs outside the range asked', async () => {
    const logs = [log({ blockNumber: '0x6' })]
    const node = createNode(rpcOf({ eth_getBlockByNumber: () => header(undefined), eth_getLogs: () => logs }))
    await expect(fetchRange(node, { from: 7, to: 7 }, list)).rejects.toThrow('outside the range')
  })

  it('refuses logs and a header of different branches', async () => {
    const node = createNode(
      rpcOf({ eth_getBlockByNumber: () => header(undefined, 7, other), eth_getLogs: () => [log()] }),
    )
    await expect(fetchRange(node, { from: 7, to: 7 }, list)).rejects.toThrow('do not belong together')
  })

  it('fails, and does not skip the check, where receipts and logs are refused for now', async () => {
    const busy = refusal(-32000, 'header not found')
    const passing = createNode(rpcOf({ eth_getBlockReceipts: busy, eth_getLogs: busy }))
    await expect(passing.listBlockLogs(hash)).rejects.toThrow('header not found')
    const never = createNode(rpcOf({ eth_getLogs: refusal(-32602, 'an address is required') }))
    expect(await never.listBlockLogs(hash)).toBeUndefined()
  })
})
