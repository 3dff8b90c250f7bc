import { type Hex, slice } from 'viem'
import { beforeAll, expect, it } from 'vitest'
import { type Forgery, forge } from '../../test/forgeries.js'
import { meaningOf, mutations } from '../../test/mutations.js'
import { below, createRandom, pick, type Random } from '../../test/random.js'
import {
  callOf,
  placeOfSwap,
  readSwapOf,
  readSwapPlans,
  type SwapPlan,
  verifySwapPlan as verify,
} from '../../test/swapPlans.js'

/** 2,000 in CI; `npm run test:long` asks for 500,000. */
const runs = Number(process.env['SWAP_MUTATIONS'] ?? 2_000)
const seed = Number(process.env['MUTATION_SEED'] ?? 20_261_122)

const plans = readSwapPlans()
/** Of each plan, by the place of the transaction: every call with a suffix, forged. */
const forgeries = new Map<SwapPlan, { at: number; forged: Forgery[] }[]>()
beforeAll(async () => {
  for (const plan of plans) {
    const places = plan.transactions.flatMap(({ type }, at) => (type === 'approve' ? [] : [at]))
    forgeries.set(plan, await Promise.all(places.map(async (at) => ({ at, forged: await forgeAt(plan, at) }))))
  }
}, 120_000)

/** Forgeries of one transaction; a swap held to more than was asked for is none. */
async function forgeAt(plan: SwapPlan, at: number): Promise<Forgery[]> {
  const step = plan.transactions[at]!
  const forged = await forge({ ...plan, transactions: [step] })
  if (at !== placeOfSwap(plan) || plan.request.type === 'deposit') return forged
  const { minimumOut } = readSwapOf(plan)
  return forged.filter(({ data }) => !isDearer(callOf(step), data as Hex, minimumOut))
}

/** Whether calldata begins as a call does, but for a minimum that is higher. */
function isDearer(call: Hex, data: Hex, minimum: bigint): boolean {
  const words = Array.from({ length: (call.length - 10) / 64 }, (_, i) => 4 + 32 * i)
  if (data.length < call.length) return false
  const other = words.filter((from) => slice(call, from, from + 32) !== slice(data, from, from + 32))
  return (
    other.length > 0 &&
    other.every((from) => {
      const [was, is] = [BigInt(slice(call, from, from + 32)), BigInt(slice(data, from, from + 32))]
      return was === minimum && is > minimum
    })
  )
}

/** Changes a plan in one way, or in two; answers the name of the first. */
function mutate(plan: SwapPlan, source: SwapPlan, random: Random): string {
  const names = Object.keys(mutations)
  const name = names[below(random, names.length + 8)]
  const found = name === undefined ? pick(random, forgeries.get(source) ?? []) : undefined
  const forgery = found && pick(random, found.forged)
  if (found && forgery) plan.transactions[found.at]!.transaction.data = forgery.data
  if (name !== undefined) mutations[name]?.(plan, random, plans)
  if (plan.transactions.length > 0 && random() < 0.1) mutations[pick(random, names)]?.(plan, random, plans)
  return name ?? forgery?.name ?? ''
}

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
    const name = mutate(plan, source, random)
    if (meaningOf(plan) === meanings.get(source)) continue
    done += 1
    if (!(await verify(plan)).ok) continue
    accepted += 1
    console.error(`accepted after "${name}" of "${plan.name}": ${meaningOf(plan)}`)
  }
  console.info(`${runs} mutations, seed ${seed}, ${plans.length} plans that swap, ${accepted} accepted`)
  expect(accepted).toBe(0)
}, 7_200_000)
