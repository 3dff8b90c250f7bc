import { getAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { flushEvents } from '../../../test/flushEvents.js'
import { openStreamWorld, type StreamWorld } from '../../../test/streamWorld.js'
import { tell, tellStates } from '../events/index.js'
import { tellStreams } from './tellStreams.js'
import { vetoSnapshot } from './veto.js'

let world: StreamWorld
let id: string
const wallet = `0x${'a1'.repeat(20)}`
beforeAll(async () => {
  world = await openStreamWorld()
  await world.stream()
  await tellStreams(world.earn.ctx, { tell, tellStates })
})
afterAll(() => world?.close())

type Told = { type: string; subjectId: string; data: Record<string, unknown> }
let seen = 0
const toldNow = async (): Promise<Told[]> => {
  await tellStreams(world.earn.ctx, { tell, tellStates })
  await flushEvents(world.db)
  const rows = await world.db<(Told & { position: number })[]>`
    select position, type, subject_id as "subjectId", data from feed where position > ${seen} order by position`
  seen = rows.at(-1)?.position ?? seen
  return rows
}
const typesOf = (rows: readonly Told[]) => rows.map(({ type }) => type)

describe('a stream', () => {
  it('is told created once its creation is confirmed, as GetStreams returns it', async () => {
    expect(await toldNow()).toEqual([])
    id = await world.stream({ createdBlock: world.confirmed + 1 })
    expect(await toldNow()).toEqual([])
    await world.advance(world.head + 1)
    const [created, ...more] = await toldNow()
    expect(more).toEqual([])
    const { streams } = (await world.earn.call('GetStreams', { query: { id } })).body
    expect(created).toMatchObject({ type: 'stream.created', subjectId: id, data: streams[0] })
  })

  it('is told of each snapshot, and whether it was vetoed or its root is committed and confirmed', async () => {
    const root = await world.snapshot(id, '2026-11-20T06:00:00Z', { [wallet]: 5n })
    const [taken, ...more] = await toldNow()
    expect(more).toEqual([])
    expect(taken).toMatchObject({
      type: 'stream.snapshot',
      subjectId: id,
      data: { rootHash: root, amountDistributed: '5' },
    })
    await vetoSnapshot(world.db, id, new Date('2026-11-20T06:00:00Z'))
    expect(typesOf(await toldNow())).toEqual(['stream.vetoed'])
    const again = await world.snapshot(id, '2026-11-20T09:00:00Z', { [wallet]: 7n })
    const rootAt = new Date('2026-11-20T09:00:00Z')
    await world.event(id, 'root', { at: world.confirmed + 3, root: again, rootAt, total: '7' })
    expect(typesOf(await toldNow())).toEqual(['stream.snapshot'])
    await world.advance(world.head + 3)
    const [committed, ...others] = await toldNow()
    expect(others).toEqual([])
    expect(committed).toMatchObject({
      type: 'stream.committed',
      data: { rootHash: again, commitTxHash: `0x${'ab'.repeat(32)}` },
    })
  })

  it('is told of each confirmed claim once, not of those before the first look', async () => {
    await world.event(id, 'claimed', { at: 1, wallet, amount: '1', total: '1' })
    await world.event(id, 'claimed', { at: world.confirmed + 4, wallet, amount: '2', total: '3' })
    await world.event(id, 'claimed', { at: world.confirmed + 5, wallet, amount: '4', total: '7' })
    expect(await toldNow()).toEqual([])
    await world.advance(world.head + 4)
    const [claimed, ...more] = await toldNow()
    expect(more).toEqual([])
    expect(claimed?.data).toEqual({
      streamId: id,
      userAddress: getAddress(wallet),
      amount: '2',
      txHash: `0x${'ab'.repeat(32)}`,
      blockNumber: world.confirmed + 4,
      blockTimestamp: world
        .timeOf(world.confirmed + 4)
        .toISOString()
        .replace('.000', ''),
    })
    await world.advance(world.head + 9)
    expect((await toldNow()).map(({ data }) => data['amount'])).toEqual(['4'])
    expect(await toldNow()).toEqual([])
  })
})
