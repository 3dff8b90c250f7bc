import { readerBytecode } from '@openearn/contracts'
import type { Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import { createSnapshotChain, type SnapshotChain } from '../../test/snapshotChain.js'
import { findBlockAt, rememberBlocks } from '../rpc/blockAt.js'
import { readFigures, readVaultStates } from './figures.js'

const addressOf = (index: number) => `0x${(index + 1).toString(16).padStart(40, '0')}`
const indexOf = (address: string) => Number(BigInt(address)) - 1
const listVaults = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    ...{ address: addressOf(index), receiptToken: addressOf(index), receiptDecimals: 18 },
  }))

/** A node whose vault n holds n + 1. */
function openModel(): SnapshotChain & { hash: string } {
  const model = createSnapshotChain()
  const { hash } = model.mine(1_700_000_000)
  model.vaultAt = (address) => ({
    totalAssets: BigInt(indexOf(address) + 1),
    totalSupply: 7n,
    perShare: (shares) => shares,
  })
  return Object.assign(model, { hash })
}

const word = (value: number) => value.toString(16).padStart(64, '0')

/** The reader's answer where every read answers 1. */
function answerAlike(count: number): Hex {
  const places = Array.from({ length: count }, (_, index) => word(count * 32 + index * 128))
  const one = word(1) + word(64) + word(32) + word(1)
  return `0x${word(1)}${word(1)}${word(96)}${word(count)}${places.join('')}${one.repeat(count)}`
}

const assetsOf = ({ figures }: Awaited<ReturnType<typeof readFigures>>) =>
  figures.map((each) => each.figures?.totalAssets)
const upTo = (count: number) => Array.from({ length: count }, (_, index) => BigInt(index + 1))

describe('readFigures', () => {
  it('reads 5,000 vaults in at most 50 calls', async () => {
    const model = openModel()
    const calls: number[] = []
    model.chain.rpc.request = async ({ params }) => {
      const [, , overrides] = params as [object, object, Record<string, { code: Hex }>]
      const code = Object.values(overrides)[0]?.code ?? '0x'
      // The number of reads is the second word of what follows the reader.
      const count = Number(`0x${code.slice(readerBytecode.length + 64, readerBytecode.length + 128)}`)
      calls.push(count)
      return answerAlike(count)
    }
    const read = await readFigures(model.chain, listVaults(5_000), model.hash)
    expect(assetsOf(read)).toEqual(upTo(5_000).map(() => 1n))
    expect(read).toMatchObject({ halvings: 0, calls: calls.length })
    expect(calls.reduce((sum, count) => sum + count, 0)).toBe(25_000)
    expect(calls.length).toBeLessThanOrEqual(50)
  })

  it('asks by halves where a node refuses, one call more for each halving', async () => {
    const model = openModel()
    model.limits.reads = 200
    const read = await readFigures(model.chain, listVaults(300), model.hash)
    expect(assetsOf(read)).toEqual(upTo(300))
    // Five reads a vault: 150 vaults and 75 are refused, 38 are not.
    expect(read).toMatchObject({ halvings: 2, calls: 2 + Math.ceil(300 / 38) })
  })

  it('reads by creation code where a node takes no overrides, 20 vaults in a call', async () => {
    const model = openModel()
    model.limits.overrides = false
    const read = await readFigures(model.chain, listVaults(100), model.hash)
    expect(assetsOf(read)).toEqual(upTo(100))
    expect(model.calls.eth_call - model.calls.refused).toBe(6)
  })

  it('leaves out a vault that is refused alone, and tells it from one that does not answer', async () => {
    const model = openModel()
    const { vaultAt } = model
    const request = model.chain.rpc.request
    model.vaultAt = (address, block) => (indexOf(address) === 3 ? undefined : vaultAt(address, block))
    const poison = addressOf(8).slice(2)
    model.chain.rpc.request = async (asked) => {
      if (asked.method === 'eth_call' && JSON.stringify(asked.params).includes(poison)) model.limits.reads = 0
      try {
        return await request(asked)
      } finally {
        model.limits.reads = Number.POSITIVE_INFINITY
      }
    }
    const { figures } = await readFigures(model.chain, listVaults(20), model.hash)
    const expected = upTo(20).map((total, index) => (index === 3 || index === 8 ? undefined : total))
    expect(figures.map((each) => each.figures?.totalAssets)).toEqual(expected)
    expect(figures.map(({ isRefused }) => isRefused)).toEqual(expected.map((_, index) => index === 8))
  })

  it('is a 503 where a node refuses every read, after a few calls', async () => {
    const model = openModel()
    model.limits.reads = 0
    await expect(readFigures(model.chain, listVaults(5_000), model.hash)).rejects.toMatchObject({ code: 503 })
    expect(model.calls.eth_call).toBeLessThan(25)
  })
})

describe('readVaultStates', () => {
  it('reads 100 vaults of the newest block in one call', async () => {
    const model = openModel()
    const states = await readVaultStates(model.chain, listVaults(100))
    expect(states.map((state) => state?.figures?.totalAssets)).toEqual(upTo(100))
    expect(model.calls).toMatchObject({ eth_call: 1, blocks: 0 })
  })

  it('asks again, few in a call, those for whom the gas of a large one did not last, and closes none for it', async () => {
    const model = openModel()
    const { vaultAt } = model
    let isFirst = true
    model.vaultAt = (address, block) => (isFirst && indexOf(address) >= 80 ? undefined : vaultAt(address, block))
    const { rpc } = model.chain
    const request = rpc.request
    rpc.request = async (asked) => {
      const answer = await request(asked)
      isFirst = false
      return answer
    }
    const states = await readVaultStates(model.chain, listVaults(100))
    expect(states.map((state) => state?.figures?.totalAssets)).toEqual(upTo(100))
    expect(model.calls.eth_call).toBe(3)
  })
})

describe('findBlockAt', () => {
  it('is the last block at or before an instant, where several share a time and where time jumps', async () => {
    const model = createSnapshotChain()
    const times = [100, 100, 101, 101, 101, 500, 501, 501, 9_000, 9_000, 9_001, 50_000, 50_000, 50_000, 50_002]
    for (const time of times) model.mine(time)
    const head = { ...model.blocks.at(-1)! }
    for (const mean of [0, 1, 4_000])
      for (const at of [99, 100, 101, 102, 500, 501, 8_999, 9_000, 9_001, 49_999, 50_000, 50_001, 50_002, 60_000]) {
        const expected = times.findLastIndex((time) => time <= at)
        const found = await findBlockAt(model.chain, head, at, mean)
        expect(found?.number ?? -1, `at ${at}, mean ${mean}`).toBe(expected)
      }
  })

  it('takes few reads where blocks come evenly', async () => {
    const model = createSnapshotChain()
    for (let number = 0; number < 9_000; number++) model.mine(1_700_000_000 + number * 12 + (number % 3))
    const head = { ...model.blocks.at(-1)! }
    await findBlockAt(model.chain, head, 1_700_000_000 + 90_000, 12)
    expect(model.calls.blocks).toBeLessThan(12)
    model.calls.blocks = 0
    // A hint that is right leaves nothing to look for.
    await findBlockAt(model.chain, head, head.timestamp - 1_200, 12)
    expect(model.calls.blocks).toBeLessThanOrEqual(2)
    model.calls.blocks = 0
    // Not far back and without a hint, as the instant of a grid lies.
    await findBlockAt(model.chain, head, head.timestamp - 290)
    expect(model.calls.blocks).toBeLessThanOrEqual(5)
  })
  it('finds the same by blocks that were read before, and reads none of them twice, in whatever order instants come', async () => {
    const model = createSnapshotChain()
    let seconds = 1_700_000_000
    // Bursts, and hours without a block.
    for (let number = 0; number < 700; number++) {
      seconds += number % 7 === 0 ? 9_000 : number % 3
      model.mine(seconds)
    }
    const head = { ...model.blocks.at(-1)! }
    const hours = Array.from({ length: 300 }, (_, hour) => head.timestamp - hour * 3_600 - 1)
    const expected = hours.map((at) => model.blocks.findLastIndex(({ timestamp }) => timestamp <= at))
    for (const order of [(at: number) => at, (at: number) => -at, (at: number) => (at * 7_919) % 1_013]) {
      const blocks = rememberBlocks(model.chain)
      const found = new Map<number, number | undefined>()
      model.calls.blocks = 0
      for (const at of [...hours].sort((a, b) => order(a) - order(b)))
        found.set(at, (await findBlockAt(model.chain, head, at, 1_300, blocks))?.number)
      expect(hours.map((at) => found.get(at) ?? -1)).toEqual(expected)
      expect(model.calls.blocks).toBeLessThanOrEqual(700)
    }
  })

  it('asks again for a block that could not be read', async () => {
    const model = createSnapshotChain()
    for (let number = 0; number < 100; number++) model.mine(1_000 + number * 10)
    const head = { ...model.blocks.at(-1)! }
    const { rpc } = model.chain
    const request = rpc.request
    const blocks = rememberBlocks(model.chain)
    rpc.request = () => Promise.reject(new Error('down'))
    await expect(findBlockAt(model.chain, head, 1_500, 10, blocks)).rejects.toThrow()
    rpc.request = request
    expect((await findBlockAt(model.chain, head, 1_500, 10, blocks))?.number).toBe(50)
  })
})
