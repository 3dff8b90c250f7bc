import { expect, it } from 'vitest'
import { patient } from '../../../contracts/test/patience.js'
import { isSameRoot } from '../../src/features/streams/commitDecision.js'
import { runStreamCommits } from '../../src/features/streams/index.js'
import { listTaken } from '../../src/features/streams/storeSnapshots.js'
import { updatePause } from '../../src/features/streams/storeStreams.js'
import { vetoCancelled, vetoSnapshot } from '../../src/features/streams/veto.js'
import { silentLog } from '../../src/kernel/log.js'
import { cancelOutgoing, listOutgoing } from '../../src/rpc/sender/index.js'
import { seededRandom, times } from '../seed.js'
import { openStreamWorld, type StreamWorld, streamsNow } from '../streamWorld.js'
import { createModel, finality } from './commits.js'
import type { Random } from './random.js'

/** Streams that are played side by side on one chain. */
const together = 10
const worlds = Math.ceil(times / together)
const rounds = 6
const wallets = ['a1', 'b2', 'c3'].map((byte) => `0x${byte.repeat(20)}`)

type Played = { id: string; contract: string; rewards: Map<string, Record<string, bigint>> }

async function openHistories(world: StreamWorld, random: Random) {
  const { db, chainId, earn } = world
  const streams: Played[] = []
  for (let count = 0; count < together; count++) {
    const id = await world.stream({ startsAt: '2026-11-01T00:00:00Z' })
    streams.push({ id, contract: world.contractOf(id), rewards: new Map() })
  }
  const model = createModel(db, random, { chainId, head: world.head, time: Date.parse(streamsNow) / 1_000 })
  const byContract = new Map(streams.map(({ id, contract }) => [contract, id]))
  const ctx = { db, clock: earn.clock, log: silentLog }
  const settings = { vetoSeconds: 0, committerOf: () => `0x${'0c'.repeat(20)}`, costMax: 10n ** 16n }

  /** A snapshot that goes on from the newest that counts; in some nothing is earned. */
  const take = async (stream: Played, at: number, isLast: boolean): Promise<void> => {
    const counted = (await listTaken(db, [stream.id])).get(stream.id)?.counted
    const from = (counted && stream.rewards.get(counted.id)) ?? {}
    const earns = counted === undefined || random.chance(0.6)
    const rewards = Object.fromEntries(
      wallets.map((wallet) => [wallet, (from[wallet] ?? 0n) + BigInt(earns ? random.int(1, 1_000) : 0)]),
    )
    await world.snapshot(stream.id, new Date(at * 1_000).toISOString(), rewards, { isLast })
    const taken = (await listTaken(db, [stream.id])).get(stream.id)?.counted
    if (taken) stream.rewards.set(taken.id, rewards)
  }
  const step = async ({ isCalm }: { isCalm: boolean }): Promise<void> => {
    if (isCalm || random.chance(0.8)) await runStreamCommits(ctx, settings)
    await model.send(isCalm || random.chance(0.5))
    model.mine()
    if (!isCalm && random.chance(0.4)) model.reorganise(random.int(1, finality - 4))
    if (isCalm || random.chance(0.7)) await model.follow(byContract)
    earn.clock.set(new Date(model.now() * 1_000))
  }
  const disturb = async (): Promise<void> => {
    const at = earn.clock.now()
    const { id } = random.pick(streams)
    if (random.chance(0.7)) {
      const open = await listOutgoing(db, { chainId, isOpen: true, limit: 50 })
      if (open.length > 0) await cancelOutgoing(db, random.pick(open).id)
    }
    if (random.chance(0.1)) await vetoSnapshot(db, id, at)
    if (random.chance(0.2)) {
      const change = { flag: 'hashCommitmentPaused', paused: random.chance(0.5), alarm: null, at } as const
      await db.begin((tx) => updatePause(tx, id, change))
    }
  }
  /** What `openearn streams retake` does about the snapshot of the end. */
  const retake = async (stream: Played): Promise<void> => {
    const held = (await listTaken(db, [stream.id])).get(stream.id)?.counted
    if (held?.isLast) await vetoCancelled(db, held, earn.clock.now())
    const { counted, newest } = (await listTaken(db, [stream.id])).get(stream.id) ?? {}
    if (newest?.isLast && !counted?.isLast) await take(stream, newest.at, true)
  }
  /** Whether the last root of every stream stands, and nothing is under way. */
  const isOver = async (): Promise<boolean> => {
    if ((await listOutgoing(db, { chainId, isOpen: true, limit: 1 })).length > 0) return false
    const taken = await listTaken(
      db,
      streams.map(({ id }) => id),
    )
    return streams.every(({ id, contract }) => {
      const { counted } = taken.get(id) ?? {}
      return counted?.isLast === true && counted.root === model.rootsOf(contract).at(-1)?.root
    })
  }
  return { streams, model, take, step, disturb, retake, isOver }
}

it.each(Array.from({ length: worlds }, (_, draw) => draw))(
  `${together} random histories with reorganisations and cancelled commits: the last root is on the chain, and none is committed twice (world %i)`,
  async () => {
    const random = seededRandom()
    const world = await openStreamWorld()
    try {
      const { streams, model, take, step, disturb, retake, isOver } = await openHistories(world, random)
      for (let round = 1; round <= rounds; round++) {
        model.pass(model.now() + random.int(100, 1_500))
        for (const stream of streams) await take(stream, model.now(), round === rounds)
        for (let turn = random.int(1, 5); turn > 0; turn--) {
          await disturb()
          await step({ isCalm: false })
        }
      }
      const at = world.earn.clock.now()
      for (const { id } of streams)
        await world.db.begin((tx) =>
          updatePause(tx, id, { flag: 'hashCommitmentPaused', paused: false, alarm: null, at }),
        )
      // The chain is calm, and an operator retakes what was cancelled.
      for (let turn = 0; turn < 80 && !(await isOver()); turn++) {
        model.pass(model.now() + 200)
        for (const stream of streams) await retake(stream)
        await step({ isCalm: true })
      }
      let [commits, changes] = [0, 0]
      for (const { id, contract } of streams) {
        const last = (await listTaken(world.db, [id])).get(id)?.counted
        const roots = model.rootsOf(contract)
        expect(last).toMatchObject({ isLast: true, root: roots.at(-1)?.root, amountDistributed: roots.at(-1)?.total })
        commits += roots.length
        changes += roots.filter((each, index) => {
          const before = roots[index - 1]
          return !before || !isSameRoot(before, each)
        }).length
      }
      expect(commits - changes).toBeLessThanOrEqual(model.figures.ghosts)
      if (times > 1)
        console.log(
          `${together} histories: ${commits} commits, ${changes} changes of root; ${Object.entries(model.figures)
            .map(([what, count]) => `${count} ${what}`)
            .join(', ')}`,
        )
    } finally {
      await world.close()
    }
  },
  patient(60_000),
)
