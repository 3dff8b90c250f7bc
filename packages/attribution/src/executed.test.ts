import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  account,
  deposit,
  entryPoint7,
  execute,
  handleOps7,
  hashOperation7,
  operation7,
  owner,
  vault,
} from '../test/wrapping.js'
import type * as calldata from './calldata.js'
import { findExecuted, type OperationEvent } from './executed.js'
import { readFrames } from './frames.js'

// Files of one worker share its modules: what is replaced here is read anew, and again by the files after this one.
vi.hoisted(() => vi.resetModules())
afterAll(() => {
  vi.resetModules()
})

/** How many bytes were hashed. */
const work = vi.hoisted(() => ({ hashed: 0 }))
vi.mock('./calldata.js', async (load) => {
  const real = await load<typeof calldata>()
  const keccak256: typeof real.keccak256 = (data) => {
    work.hashed += data.length
    return real.keccak256(data)
  }
  return { ...real, keccak256 }
})
beforeEach(() => {
  work.hashed = 0
})

const chainId = 31_337
const callData = execute(vault, deposit)
const pad = (value: bigint | string) =>
  (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0')
const head = `${pad(account)}${pad(0n)}`
const hash = hashOperation7(chainId, account, callData)
const told = (more: Partial<OperationEvent> = {}): OperationEvent => ({
  logIndex: 9,
  entryPoint: entryPoint7,
  hash,
  sender: account,
  nonce: 0n,
  success: true,
  ...more,
})
const find = (input: string, ...events: OperationEvent[]) => {
  const data = Buffer.from(input, 'hex')
  return findExecuted(data, events, chainId).map((found) => ({
    endedAt: found.endedAt,
    callData: `0x${data.subarray(found.callData.start, found.callData.end).toString('hex')}`,
  }))
}
const bundle = handleOps7(operation7(account, callData)).slice(2)

describe('an operation in the input of a transaction to another contract', () => {
  it('is found by its hash, and not when it failed or the hash is another', () => {
    expect(find(bundle, told())).toEqual([{ endedAt: 9, callData }])
    expect(find(bundle, told({ success: false }), told({ hash: `0x${'11'.repeat(32)}` }))).toEqual([])
  })

  it('is found behind a thousand places that begin as it does', () => {
    // Another operation of the same bundle may hold them.
    expect(find(`${head.repeat(1_000)}${bundle}`, told())).toEqual([{ endedAt: 9, callData }])
  })

  it('is found among places that read as long operations, and what is hashed stays linear in the input', () => {
    const half = 64 * 1024
    const places = Array.from({ length: Math.floor(half / 160) }, (_, index) => {
      const toEnd = pad(BigInt(half - index * 160))
      const own = index % 7 === 0 ? pad(0n) : pad(BigInt(index % 7))
      return `${pad(account)}${own}${toEnd.repeat(3)}`
    })
    const long = `${places.join('').padEnd(half * 2, '0')}${pad(BigInt(half - 64)).padEnd(half * 2, '0')}`
    const input = `${long}${bundle}`
    const others = [1n, 2n, 3n, 4n, 5n, 6n].map((nonce) => told({ nonce, hash: `0x${'11'.repeat(32)}` }))
    expect(find(input, ...others, told())).toEqual([{ endedAt: 9, callData }])
    expect(work.hashed).toBeGreaterThan(0)
    expect(work.hashed).toBeLessThan(20 * (input.length / 2))
  })
})

describe('an operation of a bundle sent to an entry point', () => {
  it('is read behind others that share one calldata, as a bundler may write them', () => {
    const long = operation7(account, execute(vault, `0x6e553f65${'11'.repeat(2_000)}`))
    const encoded = handleOps7(long, ...Array.from({ length: 6 }, () => operation7(account, callData))).slice(2)
    const input = Buffer.from(encoded, 'hex')
    const list = 4 + 3 * 32
    // The second to the sixth are made to be the first.
    for (const index of [1, 2, 3, 4, 5]) input.copy(input, list + index * 32, list, list + 32)
    const { groups, truncated } = readFrames({ from: owner, to: entryPoint7, input, entryPoints: [entryPoint7] })
    expect(truncated).toBe(false)
    expect(groups).toHaveLength(7)
  })
})
