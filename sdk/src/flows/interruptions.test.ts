import { describe, expect, it } from 'vitest'
import { asset, type Model, moods, openModel, opportunityId, vault, wallet } from '../../test/flowModel.js'
import { below, createRandom, pick, type Random } from '../../test/random.js'
// Loaded at once, not with the first plan: a life is short.
import '../verify/index.js'
import { beginDeposit, type Flow, isLast, type PlanFlow, run, type Word, type World } from './index.js'

/** How many lives are played; 1,000 in the long run. */
const lives = Number(process.env['FLOW_LIVES'] ?? 200)
const seed = 20_261_126
const never = () => new Promise<never>(() => undefined)

type Session = { flow: PlanFlow; done: Promise<PlanFlow>; say(word: Word): void; close(): void }

/** One life of a deposit: programs that begin, are closed in the middle of anything, and begin again from what was stored. */
async function play(model: Model, random: Random) {
  const kept: { text: string | undefined } = { text: undefined }
  const first = beginDeposit({
    opportunityId,
    userAddress: wallet,
    tokenIn: asset,
    amount: model.amount,
    distributorId: 'acme',
  })
  const time = { now: 1_795_000_000_000 }
  const said = { again: 0 }
  const counted = { states: 0 }
  let session: Session | undefined

  /** A program: once it is closed nothing of it goes on, and nothing of it is stored. */
  const open = (flow: PlanFlow, word: Word | undefined, isCalm: boolean): Session => {
    let isOpen = true
    let closed: () => void = () => undefined
    const end = new Promise<void>((resolve) => {
      closed = resolve
    })
    const live = async <T>(work: () => Promise<T>): Promise<T> => {
      if (!isCalm && isOpen && below(random, 25) === 0) close()
      if (!isOpen) return never()
      const found = await work()
      return isOpen ? found : never()
    }
    const close = () => {
      isOpen = false
      closed()
    }
    const { provider, earn } = {
      provider: { request: (call: never) => live(() => model.request(call)) },
      earn: model.earn,
    }
    const world: World = { earn, provider: provider as World['provider'], now: () => time.now }
    const running = run(flow, world, word, {
      store: {
        get: () => (kept.text === undefined ? undefined : JSON.parse(kept.text)),
        put: async (_, next) => {
          await live(async () => {
            kept.text = JSON.stringify(next)
          })
        },
      },
      lock: (_, work) => work(),
      onState: (next) => {
        if (++counted.states > 5_000) throw new Error(`a life without an end: ${JSON.stringify(next)}`)
        current.flow = next as PlanFlow
      },
      pause: (milliseconds) =>
        live(async () => {
          time.now += milliseconds
          shake(isCalm)
        }),
    })
    const current: Session = {
      flow,
      say: running.say,
      close,
      done: Promise.race([running.done, end.then(() => current.flow)]),
    }
    return current
  }

  /** Time passes: blocks are mined, and the user plays with what waits. */
  const shake = (isCalm: boolean) => {
    if (isCalm || below(random, 3) === 0) model.mine()
    if (isCalm) return
    model.state.mood = below(random, 3) === 0 ? pick(random, moods) : 'sends'
    model.state.sick = below(random, 3) === 0
    if (below(random, 25) === 0) model.speedUp()
    if (below(random, 60) === 0) model.cancel()
    if (below(random, 40) === 0) time.now += pick(random, [600_000, 3_600_000, -3_600_000])
  }

  let flow: PlanFlow = first
  for (let turn = 0; turn < 400 && !isLast(flow); turn++) {
    // In the end everything works, and the user says yes to what is asked.
    const isCalm = turn >= 60
    if (isCalm) Object.assign(model.state, { mood: 'sends', sick: false })
    const stored = kept.text === undefined ? first : (JSON.parse(kept.text) as PlanFlow)
    session = open(stored, undefined, isCalm)
    flow = await Promise.race([session.done, settle(session)])
    // The user reads what is shown, and says his word to this program: one about a stored state counts for nothing.
    for (let words = 0; words < 3 && !isLast(flow); words++) {
      const word = wordFor(flow, isCalm, random)
      if (!word) break
      if (word === 'again') said.again++
      session.close()
      session = open(flow, word, isCalm)
      flow = await Promise.race([session.done, settle(session)])
    }
    session.close()
    shake(isCalm)
    time.now += 1_000
    if (isCalm && flow.needs === 'again') time.now += 5_000_000
  }
  return { flow, said }
}

/** The state of a program that nobody closes and that waits for ever, for a wallet that never answers. */
async function settle(session: Session): Promise<PlanFlow> {
  let last: PlanFlow | undefined
  for (let still = 0; still < 40; ) {
    await new Promise<void>((resolve) => setImmediate(resolve))
    still = session.flow === last ? still + 1 : 0
    last = session.flow
  }
  return session.flow
}

function wordFor(flow: Flow, isCalm: boolean, random: Random): Word | undefined {
  if (flow.needs === 'again') return isCalm || below(random, 8) === 0 ? 'again' : undefined
  return flow.needs && (isCalm || below(random, 2) === 0) ? flow.needs : undefined
}

const kinds = [
  ['a plain account', {}],
  ['a plain account whose wallet takes batches', { batches: true }],
  ['a contract whose wallet answers ids of its own', { contract: true }],
  ['a contract whose wallet takes batches', { contract: true, batches: true }],
] as const

describe('a deposit that is interrupted anywhere', () => {
  it.each(kinds)(
    'by %s is mined once at most, and none is lost',
    async (_, options) => {
      const ends = new Map<string, number>()
      for (let life = 0; life < lives / kinds.length; life++) {
        const random = createRandom(seed + life * 7_919)
        const model = openModel({ random, ...options })
        const { flow, said } = await play(model, random)
        const deposits = model.mined.filter(
          ({ to, data, success }) => success && (to === vault || data.includes(vault)),
        )
        const told = `life ${life}: ${flow.status}, ${JSON.stringify(flow.problem)}, ${deposits.length} deposits, ${said.again} second words`
        ends.set(flow.status, (ends.get(flow.status) ?? 0) + 1)
        // Only a wallet that is no plain account can send twice, and only after the second word.
        const most = 'contract' in options ? 1 + said.again : 1
        expect(deposits.length <= most, told).toBe(true)
        expect(isLast(flow), told).toBe(true)
        expect(deposits.length > 0, told).toBe(flow.status === 'credited')
      }
      // Most of them come to the end that was wanted.
      expect(ends.get('credited') ?? 0).toBeGreaterThan(lives / kinds.length / 2)
    },
    1_200_000,
  )
})
