import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { account } from '../../../contracts/test/anvil.js'
import { chainId, openWatchWorld, type WatchWorld } from '../../test/chain/watchWorld.js'
import { type Earn, openEarn } from '../../test/harness.js'
import { createPipeline, rebuildChain } from '../../test/pipeline.js'
import { topics } from '../../test/topics.js'
import { reconcileBalances } from '../features/status/index.js'
import { systemClock } from '../kernel/clock.js'
import { silentLog } from '../kernel/log.js'
import { createNode } from '../rpc/node.js'
import { RpcError } from '../rpc/rpc.js'
import { listProjections } from '../server/projections.js'
import { computeStateHash } from '../server/stateHash.js'
import { refetchRange } from './refetch.js'
import { findCursor, recordChecked } from './storeCursors.js'
import { findEndOfWindow } from './storeRaw.js'

let earn: Earn
let world: WatchWorld
let head: number
let whole: string
const alice = account(1)

beforeAll(async () => {
  earn = await openEarn()
  world = await openWatchWorld(earn.db, earn.organizationId)
  await world.fund(alice, 1_000_000_000n)
  for (let round = 0; round < 5; round++) await world.deposit(alice, 1_000n + BigInt(round), 'Y2Zi7KWy')
  await world.anvil.client.mine({ blocks: 700 })
  await world.deposit(alice, 9_000n, 'MpOgVDnc')
  await world.anvil.client.mine({ blocks: 100 })
  await world.sync()
  head = Number(await world.anvil.client.getBlockNumber())
  whole = await computeStateHash(earn.db, chainId)
})
afterAll(async () => {
  await world?.close()
  await earn?.close()
})

const ctx = () => ({ db: earn.db, clock: systemClock })
const refetch = (onProgress?: Parameters<typeof refetchRange>[1]['onProgress']) => {
  const input = { chainId, projections: listProjections(), from: 0, to: head, node: createNode(world.chain.rpc) }
  return refetchRange(ctx(), onProgress ? { ...input, onProgress } : input)
}
/** As if a node had left logs out: the raw store lacks them, and all that is derived. */
async function lose(which: { topic?: string; last?: number }): Promise<number> {
  const lost = await earn.db`
    delete from logs where chain_id = ${chainId} and topic0 = coalesce(hex_bytes(${which.topic ?? null}), topic0)
      and block_number in (select block_number from logs where chain_id = ${chainId}
        group by block_number order by block_number desc limit ${which.last ?? 1_000})`
  await rebuildChain(ctx(), { chainId })
  expect(await computeStateHash(earn.db, chainId)).not.toBe(whole)
  return lost.count
}

describe('a range asked of a node again', () => {
  it('that is whole changes nothing', async () => {
    expect(await refetch()).toMatchObject({ missingLogs: 0, extraLogs: 0, firstWrong: null })
    expect(await computeStateHash(earn.db, chainId)).toBe(whole)
  })

  it.each([
    ['deposits whose shares were seen', { topic: topics.deposit, last: 3 }],
    ['everything of some blocks', { last: 2 }],
    ['everything', {}],
  ])('has %s put back, and all that follows derived again', async (_what, which) => {
    const lost = await lose(which)
    expect(await refetch()).toMatchObject({ missingLogs: lost, extraLogs: 0 })
    expect(await computeStateHash(earn.db, chainId)).toBe(whole)
    expect((await rebuildChain(ctx(), { chainId })).hash).toBe(whole)
  })

  it('loses logs that are of no block', async () => {
    await earn.db`
      insert into logs select chain_id, block_number, 77, transaction_index, transaction_hash, address, topic0, topic1,
        topic2, topic3, data
      from logs where chain_id = ${chainId} and topic0 = hex_bytes(${topics.transfer}) order by block_number desc limit 1`
    await rebuildChain(ctx(), { chainId })
    expect(await refetch()).toMatchObject({ missingLogs: 0, extraLogs: 1 })
    expect(await computeStateHash(earn.db, chainId)).toBe(whole)
  })

  it('goes on after a break where it stopped, and remembers what it found', async () => {
    const lost = await lose({})
    await expect(
      refetch(() => {
        throw new Error('broken off')
      }),
    ).rejects.toThrow('broken off')
    const seen: number[] = []
    const done = await refetch(({ doneTo }) => seen.push(doneTo))
    expect(seen[0]).toBeGreaterThan(500)
    expect(done).toMatchObject({ missingLogs: lost })
    expect(await computeStateHash(earn.db, chainId)).toBe(whole)
    expect(await earn.db`select * from refetches`).toEqual([])
  })
})

describe('reconciliation', () => {
  const drift = async () => {
    await reconcileBalances({ ...earn.ctx, chains: new Map([[chainId, world.chain]]) })
    const [row] = await earn.db<{ mismatches: number }[]>`select mismatches from vault_drift`
    return row?.mismatches
  }

  it('reports entries that are missing while balances are right', async () => {
    expect(await drift()).toBe(0)
    await lose({ topic: topics.deposit, last: 1 })
    expect(await drift()).toBeGreaterThan(0)
    await refetch()
    expect(await drift()).toBe(0)
  })

  it('reports a vault that has lost all its holders', async () => {
    await lose({})
    expect(await drift()).toBeGreaterThan(0)
    await refetch()
  })
})

describe('a range of which blocks are replaced while it is asked for', () => {
  it('is asked for again: nothing of the old branch is written', async () => {
    const { client } = world.anvil
    await world.deposit(alice, 7_000n, 'Y2Zi7KWy')
    const orphan = Number(await client.getBlockNumber())
    await world.sync()
    await earn.db`delete from logs where chain_id = ${chainId} and block_number = ${orphan}`
    await rebuildChain(ctx(), { chainId })
    const node = createNode(world.chain.rpc)
    let replaced = false
    const replacing: typeof node = {
      ...node,
      listTransactions: async (wanted) => {
        const transactions = await node.listTransactions(wanted)
        if (replaced) return transactions
        replaced = true
        await client.request({ method: 'anvil_reorg', params: [1, []] } as never)
        await client.mine({ blocks: 3 })
        await world.sync()
        return transactions
      },
    }
    await refetchRange(ctx(), {
      chainId,
      projections: listProjections(),
      from: orphan - 10,
      to: orphan,
      node: replacing,
    })
    expect(replaced).toBe(true)
    expect(await earn.db`select from logs where chain_id = ${chainId} and block_number = ${orphan}`).toHaveLength(0)
    head = orphan
    expect(await refetch()).toMatchObject({ missingLogs: 0, extraLogs: 0 })
  })
})

describe('final blocks looked at again', () => {
  /** Looks at all of them; answers the lengths of the ranges that were asked for, and how often a node refused one. */
  async function lookAgain(rangeMax = Number.POSITIVE_INFINITY): Promise<{ ranges: number[]; refused: number }> {
    const sink = createPipeline({ ...ctx(), log: silentLog }, { chainId })
    const cursor = await sink.refresh({ number: head, hash: '', parentHash: '', timestamp: 0 })
    await recordChecked(earn.db, chainId, cursor.startBlock - 1)
    const whole = createNode(world.chain.rpc)
    const seen = { ranges: [] as number[], refused: 0 }
    const node: typeof whole = {
      ...whole,
      listRange: async (filter) => {
        const length = filter.toBlock - filter.fromBlock + 1
        if (length > rangeMax) {
          seen.refused += 1
          throw new RpcError(-32005, 'query exceeds max block range', undefined)
        }
        seen.ranges.push(length)
        return whole.listRange(filter)
      },
    }
    for (let more = true; more; ) {
      const at = await findCursor(earn.db, chainId)
      if (!at) throw new Error('never watched')
      more = await sink
        .recheck({ ...at, finalizedNumber: head }, node, () => false)
        .catch((error: unknown) => error instanceof RpcError)
    }
    expect((await findCursor(earn.db, chainId))?.checkedTo).toBe(head)
    return seen
  }

  it('cost a call for 200 of them where they are quiet', async () => {
    const { ranges } = await lookAgain()
    expect(ranges.length).toBe(Math.ceil(ranges.reduce((sum, each) => sum + each, 0) / 200))
    expect(ranges.slice(0, -1).every((each) => each === 200)).toBe(true)
  })

  it('are asked for fewer at a time of a node that refuses so many', async () => {
    const { ranges, refused } = await lookAgain(60)
    expect([Math.max(...ranges), refused]).toEqual([50, 2])
  })

  it('are so few at a time where they are busy that the head does not wait', async () => {
    const { db } = earn
    const busy = await db<{ number: number }[]>`
      select number from blocks where chain_id = ${chainId} and has_logs order by number`
    const third = busy[2]?.number ?? -1
    expect(await findEndOfWindow(db, { chainId, from: 0, to: head, withLogs: 3 })).toBe(third)
    expect(await findEndOfWindow(db, { chainId, from: 0, to: third - 1, withLogs: 3 })).toBe(third - 1)
  })
})
