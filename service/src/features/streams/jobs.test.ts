import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStreamWorld, type StreamWorld } from '../../../test/streamWorld.js'
import { newId } from '../../kernel/ids.js'
import { silentLog } from '../../kernel/log.js'
import { sweepUnsent } from './jobs.js'
import { findRewardFile, streamObservations } from './storeSnapshots.js'

let world: StreamWorld
beforeAll(async () => {
  world = await openStreamWorld()
})
afterAll(() => world.close())

const sweep = async (id: string) => {
  await sweepUnsent({ db: world.db, log: silentLog })
  return (await world.db`select 1 from streams where id = ${id}`).length === 0
}
const follow = (id: string, synced: boolean) => world.db`
  insert into sources (chain_id, projection, source, from_block, synced_to, synced)
  values (${world.chainId}, 'streams', ${id}, 1, 1000, ${synced})`

describe('a signed creation', () => {
  it('is forgotten once a confirmed block is past its deadline and its blocks were read, unless it was sent', async () => {
    const [unsent, unread, sent] = [
      await world.stream({ createdBlock: null }),
      await world.stream({ createdBlock: null }),
      await world.stream({ createdBlock: world.head }),
    ]
    await follow(unsent, true)
    await follow(unread, false)
    await follow(sent, true)
    // It was signed until now, and the confirmed block is 36 s old.
    expect(await sweep(unsent)).toBe(false)
    await world.advance(world.head + 4)
    expect([await sweep(unsent), await sweep(unread), await sweep(sent)]).toEqual([true, false, false])
  })
})

describe('a snapshot whose block is orphaned', () => {
  it('goes with its wallets and its reward file, unless its root was given to the chain', async () => {
    const { db, chainId } = world
    const id = await world.stream()
    const put = async (hour: number, file: string, { block = 950, isGiven = false, isVetoed = false }) => {
      const at = `2026-11-20T0${hour}:00:00Z`
      await world.snapshot(id, at, { [`0x${'a1'.repeat(20)}`]: BigInt(hour) })
      await db`
        update stream_snapshots set block_number = ${block}, file_hash = decode(${file.repeat(32)}, 'hex'),
          commit_id = ${isGiven ? newId() : null}, vetoed_at = ${isVetoed ? at : null}
        where stream_id = ${id} and snapshot_at = ${at} and vetoed_at is null`
      await db`
        insert into stream_files (hash, stream_id, snapshot_at, content)
        values (decode(${file.repeat(32)}, 'hex'), ${id}, ${at}, ${gzipSync(file)}) on conflict do nothing`
    }
    await put(1, 'a1', { block: 940 })
    await put(2, 'a2', { isGiven: true })
    await put(3, 'a3', {})
    // Taken again after a veto it rests on the same, so its file is the same.
    await put(4, 'a4', { isVetoed: true })
    await put(4, 'a4', { isGiven: true })
    await put(5, 'a5', { isVetoed: true })
    await db.begin((tx) => streamObservations.rewind(tx, { chainId: 1, number: 0 }))
    await db.begin((tx) => streamObservations.rewind(tx, { chainId, number: 940 }))
    const left = await db<{ hour: number; wallets: number }[]>`
      select extract(hour from snapshot_at at time zone 'UTC')::int as hour,
        (select count(*)::int from stream_wallet_snapshots where snapshot_id = id) as wallets
      from stream_snapshots where stream_id = ${id} order by 1`
    expect(left.map(({ hour, wallets }) => [hour, wallets])).toEqual([1, 2, 4].map((hour) => [hour, 1]))
    const files = ['a1', 'a2', 'a3', 'a4', 'a5'].map((file) => findRewardFile(db, `0x${file.repeat(32)}`))
    expect(await Promise.all(files)).toEqual(['a1', 'a2', undefined, 'a4', undefined])
  })
})
