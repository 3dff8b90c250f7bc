import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { seededRandom, times } from '../seed.js'
import {
  everySeconds,
  expectEachCommittedOnce,
  hour,
  inWorld,
  openStreamJobs,
  type World,
  wallets,
} from '../streamJobs.js'

const wanted = 5 * times
const killsOfAWorld = 5
const script = fileURLToPath(new URL('./streamProcess.mjs', import.meta.url))

let opened: Awaited<ReturnType<typeof openStreamJobs>>
beforeAll(async () => {
  opened = await openStreamJobs()
})
afterAll(() => opened?.close())

/** Between which two steps the newest snapshot stands; none where it is not taken yet, or its root is confirmed. */
async function findStage({ db }: World, after: Date): Promise<'tree' | 'commit' | 'send' | 'confirm' | undefined> {
  const [newest] = await db<{ root: boolean; commit: boolean; nonce: boolean; state: string | null }[]>`
    select s.root is not null as root, s.commit_id is not null as commit, o.nonce is not null as nonce, o.state
    from stream_snapshots s left join outgoing_transactions o on o.id = s.commit_id
    where s.snapshot_at > ${after} order by s.snapshot_at desc limit 1`
  if (!newest || newest.state === 'confirmed') return undefined
  if (newest.nonce) return 'confirm'
  if (newest.commit) return 'send'
  return newest.root ? 'commit' : 'tree'
}

/** Whether a process that was to take everything to its end was killed before it came there. */
async function isKilled(world: World, draw: ReturnType<typeof seededRandom>): Promise<boolean> {
  const { settings, signerKey } = opened
  const point = { dieIn: ['tree', 'commit', 'send', 'confirm'][draw.int(0, 3)], dieAt: draw.int(0, 9) }
  const work = { target: world.target, settings, key: signerKey, everySeconds, ...point, isDone: draw.next() < 0.5 }
  const child = spawn(process.execPath, [script, JSON.stringify(work)], { stdio: ['ignore', 'inherit', 'inherit'] })
  const [code, signal] = await once(child, 'exit')
  if (signal !== 'SIGKILL') expect([code, signal]).toEqual([0, null])
  return signal === 'SIGKILL'
}

it(`${wanted} times killed with kill -9 between snapshot, tree, commit and confirmation, every root is committed once, none is lost, and no nonce is left out`, async () => {
  const reached = { tree: 0, commit: 0, send: 0, confirm: 0 }
  let [kills, roots, survived] = [0, 0, 0]
  while (kills < wanted)
    await inWorld(async (world) => {
      await world.hold(wallets[0] ?? '', 3n)
      await world.hold(wallets[1] ?? '', 10n ** 18n + 7n)
      await world.pass(hour)
      for (let own = 0; own < killsOfAWorld && kills < wanted; ) {
        const random = seededRandom()
        await world.pass(hour + random.int(0, 600))
        if (random.next() < 0.4) await world.hold(wallets[random.int(0, 2)] ?? '', BigInt(random.int(1, 1_000_000)))
        await world.follow()
        const before = (await world.listSnapshots()).at(-1)?.at ?? 0
        if (before === world.endsAt) break
        const hasDied = await isKilled(world, random)
        const stage = await findStage(world, new Date(before * 1_000))
        // What is killed when all is done, or before anything is, shows nothing: another is drawn.
        if (!hasDied || !stage) {
          survived += 1
          continue
        }
        reached[stage] += 1
        own += 1
        kills += 1
      }
      for (let round = 0; round < 3; round++) {
        await world.pass(4 * hour)
        await world.settle()
      }
      roots += await expectEachCommittedOnce(world)
    })
  expect(Object.values(reached).reduce((sum, count) => sum + count)).toBe(wanted)
  if (times > 1) console.log(`${kills} kills, ${JSON.stringify(reached)}, ${survived} drawn again: ${roots} roots`)
}, 1_800_000)
