import { zeroAddress } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openTestDatabase, type TestDatabase } from '../../test/database.js'
import { insertOneVault } from '../../test/oneVault.js'
import { createPipeline, rewindChain } from '../../test/pipeline.js'
import { systemClock } from '../kernel/clock.js'
import { silentLog } from '../kernel/log.js'
import type { RawBlock } from '../rpc/raw.js'
import { CursorMoved } from './failures.js'
import { createCursor, findCursor } from './storeCursors.js'

const chainId = 31_337
const hashOf = (number: number) => `0x${number.toString(16).padStart(64, '0')}`
const toBlock = (number: number): RawBlock => ({
  ...{ number, hash: hashOf(number), parentHash: hashOf(number - 1), timestamp: 1_700_000_000 + number },
  ...{ logs: [], transactions: [] },
})

let test: TestDatabase
const context = () => ({ db: test.db, clock: systemClock, log: silentLog })
const standing = async () => {
  const { blockNumber, blockHash } = (await findCursor(test.db, chainId)) ?? expect.fail('no cursor')
  return { blockNumber, blockHash }
}
const pipeline = () => createPipeline(context(), { chainId })
const follow = async (...blocks: RawBlock[]) => {
  const sink = pipeline()
  for (const block of blocks) await sink.append(await sink.refresh(block), [block], block)
}

beforeAll(async () => {
  test = await openTestDatabase()
  const vault = `0x${'cc'.repeat(20)}`
  await insertOneVault(test.db, { chainId, vault, asset: zeroAddress, distributorId: 'Y2Zi7KWy', startBlock: 5 })
})
afterAll(() => test?.close())
beforeEach(async () => {
  await test.db`truncate chain_cursors, chain_reorgs, projections, sources, blocks cascade`
  await createCursor(test.db, chainId, 5, new Date('2026-11-20T12:00:00Z'))
  await follow(toBlock(5), toBlock(6), toBlock(7))
})

describe('a rewind by an operator', () => {
  it('is begun anew when the watcher moved meanwhile, and given up only after ten times', async () => {
    let attempts = 0
    const rewindAfter = (moves: number) => {
      attempts = 0
      const onRewind = async () => {
        attempts += 1
        if (attempts <= moves) throw new CursorMoved('the watcher moved')
      }
      return rewindChain(context(), { chainId, to: 6, reactions: [{ name: 'moving', onRewind }] })
    }
    expect(await rewindAfter(1)).toEqual({ blockNumber: 6, removedBlocks: 1 })
    expect([attempts, await standing()]).toEqual([2, { blockNumber: 6, blockHash: hashOf(6) }])
    await expect(rewindAfter(10)).rejects.toThrow('the watcher moved')
    expect([attempts, await standing()]).toEqual([10, { blockNumber: 6, blockHash: hashOf(6) }])
  })

  it('goes to just below the first block where nothing is kept that low, and all is read again', async () => {
    expect(await rewindChain(context(), { chainId, to: 3 })).toEqual({ blockNumber: 4, removedBlocks: 3 })
    expect(await standing()).toEqual({ blockNumber: 4, blockHash: '' })
    await follow(toBlock(5))
    expect(await standing()).toEqual({ blockNumber: 5, blockHash: hashOf(5) })
  })
})

describe('a block', () => {
  it('is not appended where the cursor has come to another block of the same number', async () => {
    const sink = pipeline()
    const cursor = await sink.refresh(toBlock(7))
    const appended = sink.append({ ...cursor, blockHash: hashOf(70) }, [toBlock(8)], toBlock(8))
    await expect(appended).rejects.toBeInstanceOf(CursorMoved)
    expect(await standing()).toEqual({ blockNumber: 7, blockHash: hashOf(7) })
    await sink.append(cursor, [toBlock(8)], toBlock(8))
    expect(await standing()).toEqual({ blockNumber: 8, blockHash: hashOf(8) })
  })
})
