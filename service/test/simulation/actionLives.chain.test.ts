import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { patient } from '../../../contracts/test/patience.js'
import { seed, times } from '../seed.js'
import { type Life, type LifeWorld, openLifeWorld, type Story, stories, type Truth } from './actionLives.js'
import { createRandom, type Random } from './random.js'

/** Twelve plans, one for each story; `TEST_TIMES=17` follows 204. */
const lives = 12 * times

/** Blocks after which GetAction must tell what the chain says. */
const blocksMax = 2

type Followed = Life & { ages: { mined: number; reverted: number }; delays: number[] }

describe.each([true, false])('a user who polls GetAction, inputs scanned: %s', (scanInputs) => {
  let world: LifeWorld
  beforeAll(async () => {
    world = await openLifeWorld({ scanInputs })
  }, 300_000)
  afterAll(() => world?.world.close())

  it(
    `is never told expired of what was mined, nor anything the chain does not say: ${lives} lives, seed ${seed}`,
    async () => {
      const random = createRandom(seed)
      const order = shuffle(
        Array.from({ length: lives }, (_, at) => Object.keys(stories)[at % 12] as Story),
        random,
      )
      const free = [...world.users]
      const all: Followed[] = []
      let active: Followed[] = []
      let polls = 0
      for (let block = 0; order.length > 0 || active.length > 0; block++) {
        expect(block, 'the lives come to an end').toBeLessThan(lives * 60)
        for (const user of free.splice(0)) {
          const story = order.pop()
          if (!story) break
          const begun = await world.begin(user, story, random)
          const life = Object.assign(begun, { ages: { mined: 0, reverted: 0 }, delays: [] })
          all.push(life)
          active.push(life)
        }
        for (const life of active) if (random.chance(0.8)) await world.step(life, random)
        await world.mine(random.chance(0.08) ? 700 : 12)
        for (const life of active) {
          polls += 1
          const truth = await world.truthOf(life)
          assertTold(life, truth, await world.statusOf(life), scanInputs)
          await tellSome(world, life, random)
        }
        const ended = active.filter((life) => life.left.length === 0 && random.chance(0.4))
        for (const { user } of ended) free.push(user)
        active = active.filter((life) => !ended.includes(life))
      }
      await world.mine(700)
      await world.mine(12)
      const tally = new Map<string, number>()
      for (const life of all) {
        const [truth, status] = [await world.truthOf(life), await world.statusOf(life)]
        expect(listEnds(life, truth, scanInputs), `${life.story} (${life.kind}) ${JSON.stringify(truth)}`).toContain(
          status,
        )
        const name = `${life.story}: ${status}`
        tally.set(name, (tally.get(name) ?? 0) + 1)
      }
      const delays = all.flatMap((life) => life.delays)
      const lines = [...tally].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, count]) => `  ${name} ${count}`)
      const slow = `at most ${Math.max(0, ...delays)} blocks until told, of ${delays.length} mined`
      console.info(
        `${all.length} lives, ${polls} polls, inputs ${scanInputs ? '' : 'not '}scanned, seed ${seed}; ${slow}:\n${lines.join('\n')}`,
      )
    },
    patient(60_000 + lives * 20_000),
  )
})

/** Holds one answer against the chain. A told transaction counts as a scanned one. */
function assertTold(life: Followed, truth: Truth, status: string, scanInputs: boolean): void {
  const say = `${life.story} (${life.kind}) ${JSON.stringify(truth)} is ${status}`
  const { ages } = life
  ages.mined = truth.isMined ? ages.mined + 1 : 0
  ages.reverted = truth.isReverted && !truth.isMined && !truth.isKnown ? ages.reverted + 1 : 0
  if (status === 'verified') expect(truth.isMined, say).toBe(true)
  // Where inputs are not scanned a second transaction may be unknown until the action's time is over.
  if (status === 'reverted') expect(truth.isReverted && !(scanInputs && truth.isMined), say).toBe(true)
  if (ages.mined >= blocksMax) expect(status, say).not.toBe('expired')
  const isSeen = scanInputs || life.kind === 'deposit'
  if (isSeen && ages.mined >= blocksMax) expect(status, say).toBe('verified')
  if (scanInputs && ages.reverted >= blocksMax) expect(status, say).toBe('reverted')
  if (ages.mined > 0 && status === 'verified' && life.delays.length === 0) life.delays.push(ages.mined - 1)
}

async function tellSome(world: LifeWorld, life: Followed, random: Random): Promise<void> {
  if (!life.tells || life.sent.length === 0 || !random.chance(0.5)) return
  for (const hash of life.sent) await world.tell(life, hash)
  life.isTold = true
}

/** What an action may be at its end, long after its time. */
function listEnds(life: Followed, { isMined, isReverted, isKnown }: Truth, scanInputs: boolean): string[] {
  if (isMined) return ['verified']
  const waits = isKnown ? ['submitted'] : []
  if (isReverted) return scanInputs || life.isTold ? ['reverted', ...waits] : ['reverted', 'expired', ...waits]
  return ['expired', ...waits]
}

function shuffle<T>(items: readonly T[], random: Random): T[] {
  return items
    .map((item) => ({ item, at: random.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}
