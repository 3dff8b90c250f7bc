import { beforeAll, expect, it } from 'vitest'
import { forgePlan, mutate, type Places } from '../../test/mutating.js'
import { meaningOf } from '../../test/mutations.js'
import { createRandom, pick } from '../../test/random.js'
import { readSwapOf, readSwapPlans, type SwapPlan, verifySwapPlan as verify } from '../../test/swapPlans.js'

/** 2,000 in CI; `npm run test:long` asks for 500,000. */
const runs = Number(process.env['SWAP_MUTATIONS'] ?? 2_000)
const seed = Number(process.env['MUTATION_SEED'] ?? 20_261_122)

const plans = readSwapPlans()
const forgeries = new Map<SwapPlan, Places>()
beforeAll(async () => {
  for (const plan of plans) forgeries.set(plan, await forgePlan(plan))
}, 120_000)

it('says yes to each plan that swaps as it was returned, with a sentence for each transaction', async () => {
  for (const plan of plans) {
    const verdict = await verify(plan)
    expect(verdict, plan.name).toMatchObject({ ok: true, problems: [] })
    expect(verdict.sentences).toHaveLength(plan.transactions.length)
  }
})

it('says no to every plan that swaps where its router, its route or its terms are not the ones that are known', async () => {
  for (const source of plans) {
    const { minimumOut } = readSwapOf(source)
    const changes: object[] = [
      { routers: [] },
      { routers: source.context.swap!.routers.map(({ kind }) => ({ address: source.context.vault.address, kind })) },
      { minimumOut: String(minimumOut + 1n) },
      ...(readSwapOf(source).deadline === undefined ? [{ wrappers: [] }] : [{ deadline: '1' }]),
    ]
    for (const change of changes) {
      const plan = structuredClone(source)
      Object.assign(plan.context.swap!, change)
      expect((await verify(plan)).ok, `${source.name}: ${JSON.stringify(change)}`).toBe(false)
    }
    const without = structuredClone(source)
    delete without.context.swap
    expect((await verify(without)).ok).toBe(false)
  }
})

it('says no to every forgery of a swap or of the call beside it, signed by the key of the service itself', async () => {
  let tried = 0
  for (const [source, places] of forgeries)
    for (const { at, forged } of places)
      for (const { name, data } of forged) {
        const plan = structuredClone(source)
        plan.transactions[at]!.transaction.data = data
        expect((await verify(plan)).ok, `${name} of transaction ${at + 1} of "${source.name}": ${data}`).toBe(false)
        tried += 1
      }
  expect(tried).toBeGreaterThan(1_000)
}, 120_000)

it(`accepts none of ${runs} mutations of plans that swap (seed ${seed})`, async () => {
  const random = createRandom(seed)
  const meanings = new Map(plans.map((plan) => [plan, meaningOf(plan)]))
  let accepted = 0
  for (let done = 0; done < runs; ) {
    const source = pick(random, plans)
    const plan = structuredClone(source)
    const name = mutate(plan, forgeries.get(source) ?? [], plans, random)
    if (meaningOf(plan) === meanings.get(source)) continue
    done += 1
    if (!(await verify(plan)).ok) continue
    accepted += 1
    console.error(`accepted after "${name}" of "${plan.name}": ${meaningOf(plan)}`)
  }
  console.info(`${runs} mutations, seed ${seed}, ${plans.length} plans that swap, ${accepted} accepted`)
  expect(accepted).toBe(0)
}, 7_200_000)
