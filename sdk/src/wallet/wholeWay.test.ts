import { beforeAll, describe, expect, it } from 'vitest'
import { pin } from '../../test/forgeries.js'
import { forgePlan, isHarmless, mutate, type Places } from '../../test/mutating.js'
import { meaningOf } from '../../test/mutations.js'
import { type Plan, readPlansOfKinds } from '../../test/plans.js'
import { below, createRandom, pick } from '../../test/random.js'
import { readSwapPlans } from '../../test/swapPlans.js'
import { batchOf, beginPlan, openWholeWay, type Reached, requestOf, type Told } from '../../test/wholeWay.js'
import { lie, zapLies } from '../../test/zapLies.js'
import { advance, isLast, type PlanFlow, type Word, type World } from '../flows/index.js'
import { askFor, type Limits } from './index.js'

/** 1,000 in CI; `npm run test:long` asks for 10,000. */
const runs = Number(process.env['WAY_MUTATIONS'] ?? 1_000)
const seed = Number(process.env['MUTATION_SEED'] ?? 20_261_128)

/** Each so many forgeries one is tried; all of them in the long form. */
const every = runs >= 10_000 ? 1 : 7
/** How many services lie about zaps. */
const lies = Number(process.env['LIES'] ?? 300)

const plans = [...readPlansOfKinds().map(pin), ...readSwapPlans()]
const forgeries = new Map<Plan, Places>()
beforeAll(async () => {
  for (const plan of plans) {
    const places = await forgePlan(plan)
    const harmful = places.map(({ at, forged }) => ({
      at,
      forged: forged.filter((each) => !isHarmless(plan, at, each)),
    }))
    forgeries.set(plan, harmful)
  }
}, 120_000)

const honest = (plan: Plan): Told => ({ transactions: plan.transactions, batch: batchOf(plan, plan.transactions) })
const callsOf = ({ transactions }: Plan) =>
  transactions.map(({ transaction: { to, data, value } }) => ({ to, data, value: `0x${BigInt(value).toString(16)}` }))

const isPartOf = (reached: readonly Reached[], calls: readonly Reached[]): boolean => {
  const left = calls.map((call) => JSON.stringify(call))
  return reached.every((call) => left.splice(0, left.indexOf(JSON.stringify(call)) + 1).length > 0)
}

/** A user who says yes to all; `reads`: but to a least amount that no own quote supports. */
async function insist(flow: PlanFlow, world: World, reads: boolean): Promise<PlanFlow> {
  let at = flow
  for (let step = 0; step < 30 && !isLast(at) && at.status !== 'mined'; step++) {
    const word: Word | undefined = reads && at.needs === 'confirm' ? undefined : at.needs
    const next = (await advance(at, world, word)) as PlanFlow
    if (next === at) break
    at = next
  }
  return at
}

const limits = (): Limits => ({
  ...{ distributorId: 'acme', url: 'https://app.example/', slippageBpsMax: 100, places: new Set() },
})

/** Hands a plan on as a page without a wallet does, at each of its places or as a batch. */
async function handOn(plan: Plan, told: Told, world: World, position: number | 'batch') {
  const given = {
    ...{ asked: requestOf(plan), plan: { actionId: plan.context.actionId, ...told } },
    ...(position === 'batch' ? { batchId: '0x01' } : { position }),
  }
  return askFor(world, limits(), { kind: position === 'batch' ? 'batch' : 'transaction', given })
}

describe('the whole way to a wallet', () => {
  it.each([false, true])(
    'is open to every plan of every kind, and to every zap (batches: %s)',
    async (batches) => {
      for (const plan of plans) {
        const { world, reached } = openWholeWay(plan, honest(plan), { batches })
        const flow = await insist(beginPlan(plan), world, true)
        expect([flow.status, flow.problem, flow.trusts], plan.name).toEqual(['mined', undefined, 'file'])
        expect(reached, plan.name).toEqual(callsOf(plan))
        const handed = openWholeWay(plan, honest(plan))
        const positions = batches ? (['batch'] as const) : plan.transactions.keys()
        for (const position of positions) await handOn(plan, honest(plan), handed.world, position)
        expect(handed.reached, plan.name).toEqual(callsOf(plan))
      }
    },
    120_000,
  )

  it('is taken by no forgery that the key of the service signed', async () => {
    let tried = 0
    for (const source of plans)
      for (const { at, forged } of forgeries.get(source) ?? [])
        for (const { name, data } of forged.filter(() => tried++ % every === 0)) {
          const transactions = structuredClone(source.transactions)
          transactions[at]!.transaction.data = data
          const { world, reached } = openWholeWay(source, { transactions, batch: batchOf(source, transactions) })
          await insist(beginPlan(source), world, true)
          expect(reached, `${name} of transaction ${at + 1} of ${source.name}`).toEqual([])
        }
    console.info(`${Math.ceil(tried / every)} of ${tried} forgeries, 0 reached a wallet`)
    expect(tried).toBeGreaterThan(3_000)
  }, 1_200_000)

  it(`is taken by none of ${runs} mutated plans of all kinds and zaps (seed ${seed})`, async () => {
    const random = createRandom(seed)
    const meanings = new Map(plans.map((plan) => [plan, meaningOf(plan)]))
    const ways = new Map<string, number>()
    let accepted = 0
    for (let done = 0; done < runs; ) {
      const source = pick(random, plans)
      const plan = structuredClone(source)
      const name = mutate(plan, forgeries.get(source) ?? [], plans, random)
      if (meaningOf(plan) === meanings.get(source)) continue
      done += 1
      const said = below(random, 4) === 0 ? source : plan
      const told: Told = { transactions: plan.transactions, batch: batchOf(source, said.transactions) }
      const batches = below(random, 2) === 0
      const { world, reached } = openWholeWay(source, told, { batches })
      const way = below(random, 3) === 0 ? 'handed on' : batches ? 'flow with a batch' : 'flow'
      ways.set(way, (ways.get(way) ?? 0) + 1)
      if (way === 'handed on')
        await handOn(source, told, world, batches ? 'batch' : 0).catch((error: Error) => {
          expect(error.name, error.message).toBe('Refused')
        })
      else await insist(beginPlan(source), world, true)
      // A plan that lacks an approval of shares reverts, and does nothing that was not asked for.
      if (isPartOf(reached, callsOf(source))) continue
      accepted += 1
      console.error(`reached after "${name}" of "${plan.name}": ${JSON.stringify(plan.transactions)}`)
    }
    console.info(
      `${runs} mutated plans, seed ${seed}, ${plans.length} plans, ${JSON.stringify([...ways])}, ${accepted} reached a wallet`,
    )
    expect(accepted).toBe(0)
  }, 1_200_000)

  it('is taken by no zap of a service that lies alike in all that it says, though the user says yes to all', async () => {
    const zaps = readSwapPlans()
    const told = new Map<string, number>()
    for (let n = 0; n < lies; n++) {
      const random = createRandom(n + 1)
      const source = pick(random, zaps)
      const name = pick(random, zapLies)
      const transactions = await lie(source, name, below(random, 2) === 0)
      if (!transactions) continue
      told.set(name, (told.get(name) ?? 0) + 1)
      const { world, reached } = openWholeWay(source, { transactions, batch: batchOf(source, transactions) })
      const flow = await insist(beginPlan(source), world, false)
      expect([flow.status, flow.problem?.code], `${name} of ${source.name}`).toEqual(['refused', 'NOT_AS_ASKED'])
      expect(reached).toEqual([])
    }
    console.info(`services that lie about zaps: ${JSON.stringify([...told])}, 0 reached a wallet`)
    expect([...told.keys()].sort()).toEqual([...zapLies].sort())
  }, 120_000)
})
