import { beforeAll, expect, it } from 'vitest'
import { type Mutation, meaningOf, mutations } from '../../test/mutations.js'
import type { Plan } from '../../test/plans.js'
import { below, createRandom, pick } from '../../test/random.js'
import { forgeStreamCalls, makeStreamPlans, type StreamPlan } from '../../test/streamPlans.js'
import { verifyStream } from './verifyStream.js'

/** 1,000 in CI; `npm run test:long` asks for 10,000. */
const runs = Number(process.env['STREAM_MUTATIONS'] ?? 1_000)
const seed = Number(process.env['MUTATION_SEED'] ?? 20_261_125)

let plans: StreamPlan[]
let forgeries: Awaited<ReturnType<typeof forgeStreamCalls>>
beforeAll(async () => {
  plans = await makeStreamPlans()
  forgeries = await forgeStreamCalls()
})

const verify = ({ request, transactions, context }: StreamPlan) => verifyStream(request, transactions, context)
const asPlan = (plan: StreamPlan) => plan as unknown as Plan
const mainOf = (plan: StreamPlan) => plan.transactions.at(-1)!

it('says no to every call that the verifier’s own key signed and nobody asked for', async () => {
  let tried = 0
  for (const source of plans)
    for (const { name, data } of forgeries[source.request.type] ?? []) {
      const plan = structuredClone(source)
      mainOf(plan).transaction.data = data
      expect((await verify(plan)).ok, `${name} of ${plan.name}`).toBe(false)
      tried += 1
    }
  expect(tried).toBeGreaterThan(30)
})

it(`accepts none of ${runs} mutations of the transactions of streams (seed ${seed})`, async () => {
  const random = createRandom(seed)
  const types: Mutation = (plan, draw) => {
    pick(draw, plan.transactions).type = pick(draw, ['createStream', 'addFunds', 'withdrawFunds', 'claim', 'approve'])
  }
  const forged: Mutation = (plan, draw) => {
    const calls = forgeries[pick(draw, plans).request.type] ?? []
    plan.transactions.at(-1)!.transaction.data = pick(draw, calls).data
  }
  const ways: Readonly<Record<string, Mutation>> = { ...mutations, 'type of a stream': types, 'a forged call': forged }
  const tried = new Map<string, number>()
  let accepted = 0
  for (let done = 0; done < runs; ) {
    const source = pick(random, plans)
    const plan = structuredClone(source)
    const name = pick(random, Object.keys(ways))
    ways[name]?.(asPlan(plan), random, plans.map(asPlan))
    if (plan.transactions.length > 0 && below(random, 10) === 0)
      ways[pick(random, Object.keys(ways))]?.(asPlan(plan), random, plans.map(asPlan))
    if (meaningOf(asPlan(plan)) === meaningOf(asPlan(source))) continue
    done += 1
    tried.set(name, (tried.get(name) ?? 0) + 1)
    if (!(await verify(plan)).ok) continue
    accepted += 1
    console.error(`accepted after "${name}" of ${plan.name}: ${meaningOf(asPlan(plan))}`)
  }
  const counts = [...tried].sort(([x], [y]) => (x < y ? -1 : 1)).map(([name, count]) => `${name} ${count}`)
  console.info(`${runs} mutations, seed ${seed}, ${plans.length} plans, ${accepted} accepted; ${counts.join(', ')}`)
  expect(accepted).toBe(0)
}, 7_200_000)
