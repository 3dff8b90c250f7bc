import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStreamWorld, type StreamWorld } from '../../../test/streamWorld.js'
import { newId } from '../../kernel/ids.js'
import { silentLog } from '../../kernel/log.js'
import { cancelOutgoing, listOutgoing } from '../../rpc/sender/index.js'
import { runStreamCommits } from './jobCommits.js'
import { runStreamAprs, sweepUnsent } from './jobs.js'
import { findRewardFile, listTaken, streamObservations } from './storeSnapshots.js'
import { findStream, updatePause } from './storeStreams.js'
import { vetoSnapshot } from './veto.js'

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
        insert into stream_files (hash, stream_id, snapshot_at, content)
        values (decode(${file.repeat(32)}, 'hex'), ${id}, ${at}, ${gzipSync(file)}) on conflict do nothing`
      await db`
        update stream_snapshots set block_number = ${block}, file_hash = decode(${file.repeat(32)}, 'hex'),
          commit_id = ${isGiven ? newId() : null}, vetoed_at = ${isVetoed ? at : null}
        where stream_id = ${id} and snapshot_at = ${at} and vetoed_at is null`
    }
    await put(1, 'a1', { block: 940 })
    await put(2, 'a2', { isGiven: true })
    await put(3, 'a3', {})
    // Taken again after a veto it rests on the same, so its file is the same.
    await put(4, 'a4', { isVetoed: true })
    await put(4, 'a4', { isGiven: true })
    await put(5, 'a5', { isVetoed: true })
    await db.begin((tx) => streamObservations.rewind(tx, { chainId: 1, number: 0, tip: 1_000 }))
    await db.begin((tx) => streamObservations.rewind(tx, { chainId, number: 940, tip: 1_000 }))
    const left = await db<{ hour: number; wallets: number }[]>`
      select extract(hour from snapshot_at at time zone 'UTC')::int as hour,
        (select count(*)::int from stream_wallet_snapshots where snapshot_id = id) as wallets
      from stream_snapshots where stream_id = ${id} order by 1`
    expect(left.map(({ hour, wallets }) => [hour, wallets])).toEqual([1, 2, 4].map((hour) => [hour, 1]))
    const files = ['a1', 'a2', 'a3', 'a4', 'a5'].map((file) => findRewardFile(db, `0x${file.repeat(32)}`))
    expect(await Promise.all(files)).toEqual(['a1', 'a2', undefined, 'a4', undefined])
    // While a snapshot is there, so is its file.
    await expect(db`delete from stream_files where hash = decode(${'a1'.repeat(32)}, 'hex')`).rejects.toMatchObject({
      code: '23503',
    })
  })
})

describe('an indexed incentive', () => {
  it('shows the latest APR of the streams of its kind that run, and what the file says where none does', async () => {
    const { db, earn, vaultId } = world
    await db`delete from stream_snapshots`
    await db`update streams set ends_at = '2026-11-02T00:00:00Z'`
    const opportunityId = newId()
    await db`
      insert into opportunities (id, slug, name, type, chain_id, vault_address)
      select ${opportunityId}, 'one', 'One', 'vault', chain_id, address from vaults where id = ${vaultId}`
    for (const [position, [rewardType, indexed]] of (
      [
        ['tokens', true],
        ['points', true],
        ['tokens', false],
      ] as const
    ).entries())
      await db`
        insert into incentives (id, opportunity_id, position, name, reward_type, apr, indexed)
        values (${newId()}, ${opportunityId}, ${position}, ${rewardType}, ${rewardType}, 7.5, ${indexed})`
    await db`update catalogue_versions set version = version + 1`
    await earn.ctx.catalogue.refresh()
    const show = async () => {
      await runStreamAprs(earn.ctx)
      await earn.ctx.catalogue.refresh()
      const { body } = await earn.call('GetOpportunity', { params: { id: opportunityId } })
      return [body.incentives.map(({ apr }: { apr: number | null }) => apr), body.estimatedApr]
    }
    const snapshot = async (id: string, at: string, apr: string | null) => {
      await world.snapshot(id, at, {})
      await db`update stream_snapshots set apr = ${apr} where stream_id = ${id} and snapshot_at = ${at}`
    }
    expect(await show()).toEqual([[7.5, 7.5, 7.5], 22.5])
    const [first, second] = [await world.stream(), await world.stream()]
    await world.stream({ startsAt: '2026-11-21T00:00:00Z' })
    expect(await show()).toEqual([[null, 7.5, 7.5], 15])
    await snapshot(first, '2026-11-19T00:00:00Z', '9')
    await snapshot(first, '2026-11-20T00:00:00Z', '0.041')
    expect(await show()).toEqual([[4.1, 7.5, 7.5], 19.1])
    await snapshot(second, '2026-11-20T00:00:00Z', '0.002')
    const points = await world.stream({ pointId: await world.point('APR') })
    await snapshot(points, '2026-11-20T00:00:00Z', null)
    expect(await show()).toEqual([[4.3, null, 7.5], 11.8])
    const version = async () => (await db`select live_version as v from catalogue_versions`)[0]?.['v']
    const before = await version()
    await runStreamAprs(earn.ctx)
    expect(await version()).toBe(before)
    await db`update streams set ends_at = '2026-11-20T12:00:00Z' where id = any(${[first, second, points]})`
    expect(await show()).toEqual([[7.5, 7.5, 7.5], 22.5])
  })
})

const committer = `0x${'0c'.repeat(20)}`
const commit = () => {
  const settings = { vetoSeconds: 0, committerOf: () => committer, costMax: 10n ** 16n }
  return runStreamCommits({ db: world.db, clock: world.earn.clock, log: silentLog }, settings)
}
/** The transactions that were to commit roots of a stream, the oldest first. */
const commitsOf = async (id: string) =>
  (await listOutgoing(world.db, { isOpen: false, limit: 1_000 }))
    .filter(({ to }) => to === world.contractOf(id))
    .toReversed()
/** What became of a transaction, as the sender would write it. */
const conclude = (id: string, state: string, blockNumber: number) => world.db`
  update outgoing_transactions set state = ${state}, block_number = ${blockNumber}, transaction_hash = '\\x01',
    nonce = (select coalesce(max(nonce), 0) + 1 from outgoing_transactions)
  where id = ${id}`
const at = '2026-11-20T06:00:00Z'
const ann = `0x${'a1'.repeat(20)}`
const finalize = (number: number) =>
  world.db`update chain_cursors set finalized_number = ${number} where chain_id = ${world.chainId}`

describe('a commit', () => {
  it('is not queued for a snapshot whose root stands in the contract already', async () => {
    const id = await world.stream()
    const root = await world.snapshot(id, at, { [ann]: 5n })
    await world.event(id, 'root', { root, rootAt: new Date(at), total: '5' })
    await world.db`update stream_snapshots set commit_id = ${newId()} where stream_id = ${id}`
    await commit()
    expect(await commitsOf(id)).toEqual([])
  })

  it('that reverted on the chain is tried again after ten minutes', async () => {
    const id = await world.stream()
    await world.snapshot(id, at, { [ann]: 5n })
    await commit()
    const [first] = await commitsOf(id)
    await conclude(first?.id ?? '', 'reverted', world.head)
    world.earn.clock.advance(599_999)
    await commit()
    expect(await commitsOf(id)).toHaveLength(1)
    world.earn.clock.advance(1)
    await commit()
    const [, second] = await commitsOf(id)
    expect(second).toMatchObject({ state: 'queued', data: first?.data, costMax: 10n ** 16n })
  })

  it('that was confirmed is made again once its block is final without the root: a reorganisation dropped it', async () => {
    const id = await world.stream()
    await world.snapshot(id, at, { [ann]: 5n }, { isLast: true })
    await commit()
    const [first] = await commitsOf(id)
    await conclude(first?.id ?? '', 'confirmed', world.head - 1)
    await finalize(world.head - 2)
    world.earn.clock.advance(86_400_000)
    await commit()
    expect(await commitsOf(id)).toHaveLength(1)
    await finalize(world.head - 1)
    await commit()
    expect((await commitsOf(id)).map(({ state, data }) => [state, data])).toEqual([
      ['confirmed', first?.data],
      ['queued', first?.data],
    ])
  })

  it('goes on after an operator has resumed, though the foreign root still stands', async () => {
    const id = await world.stream()
    const root = `0x${'0d'.repeat(32)}`
    await world.event(id, 'root', { root, rootAt: new Date('2026-11-20T00:00:00Z'), total: '5' })
    await world.snapshot(id, at, { [ann]: 7n })
    await commit()
    const { alarm } = (await findStream(world.db, id)) ?? {}
    expect([alarm?.includes(root), await commitsOf(id)]).toEqual([true, []])
    const resumed = { flag: 'hashCommitmentPaused', paused: false, alarm: alarm ?? null, at: new Date(at) } as const
    await world.db.begin((tx) => updatePause(tx, id, resumed))
    await commit()
    await commit()
    expect(await findStream(world.db, id)).toMatchObject({ hashCommitmentPaused: false })
    expect(await commitsOf(id)).toMatchObject([{ state: 'queued' }])
  })

  it('that an operator cancelled counts all the same where its root comes to the chain', async () => {
    const id = await world.stream()
    const root = await world.snapshot(id, at, { [ann]: 5n }, { isLast: true })
    await commit()
    const [first] = await commitsOf(id)
    await cancelOutgoing(world.db, first?.id ?? '')
    await commit()
    const counted = async () => (await listTaken(world.db, [id])).get(id)?.counted?.root
    expect(await counted()).toBeUndefined()
    // It was retaken by then, and what it rests on had changed.
    const other = await world.snapshot(id, at, { [ann]: 6n }, { isLast: true })
    expect(await counted()).toBe(other)
    await world.event(id, 'root', { root, rootAt: new Date(at), total: '5' })
    await commit()
    expect(await counted()).toBe(root)
    expect(await commitsOf(id)).toHaveLength(1)
  })

  it('of a snapshot can be vetoed once it is over without its root on the chain', async () => {
    const id = await world.stream()
    await world.snapshot(id, at, { [ann]: 5n })
    await commit()
    const [first] = await commitsOf(id)
    expect(await vetoSnapshot(world.db, id, new Date(at))).toBeUndefined()
    await conclude(first?.id ?? '', 'reverted', world.head)
    expect(await vetoSnapshot(world.db, id, new Date(at))).toBe(Date.parse(at) / 1_000)
  })
})

describe('a root that is not ours', () => {
  it('stops the commits of a stream that has no snapshot yet, too', async () => {
    const id = await world.stream()
    const root = `0x${'0b'.repeat(32)}`
    await world.event(id, 'root', { root, rootAt: new Date('2026-11-20T00:00:00Z'), total: '5' })
    const settings = { vetoSeconds: 0, committerOf: () => undefined, costMax: 0n }
    await runStreamCommits({ db: world.db, clock: world.earn.clock, log: silentLog }, settings)
    expect(await findStream(world.db, id)).toMatchObject({
      ...{ hashCommitmentPaused: true, alarm: expect.stringContaining(root) },
    })
  })
})
