import { beforeAll, expect, it } from 'vitest'
import { pin } from '../../test/forgeries.js'
import { forgePlan, mutate, type Places } from '../../test/mutating.js'
import { meaningOf } from '../../test/mutations.js'
import { type Plan, readPlansOfKinds } from '../../test/plans.js'
import { createRandom, pick } from '../../test/random.js'
import { verifyPlan } from './verifyPlan.js'

/** 20,000 in CI; `npm run test:long` asks for a million. */
const runs = Number(process.env['MUTATIONS'] ?? 20_000)
const seed = Number(process.env['MUTATION_SEED'] ?? 20_261_120)

const plans = readPlansOfKinds().map(pin)
const forgeries = new Map<Plan, Places>()
beforeAll(async () => {
  for (const plan of plans) forgeries.set(plan, await forgePlan(plan))
}, 120_000)

const verify = (plan: Plan) => verifyPlan(plan.request, plan.transactions, plan.context)

it('says yes to each plan as it was returned, however its letters are written', async () => {
  const upper = (text: string) => `0x${text.slice(2).toUpperCase()}`
  for (const write of [(text: string) => text.toLowerCase(), upper]) {
    for (const source of plans) {
      const plan = structuredClone(source)
      const { request, context } = plan
      request.userAddress = write(request.userAddress)
      if ('tokenIn' in request && request.tokenIn !== 'native') request.tokenIn = write(request.tokenIn)
      Object.assign(context.vault, { address: write(context.vault.address), asset: write(context.vault.asset) })
      context.signers = context.signers.map((signer) => write(String(signer)))
      if (context.wrappedNative) context.wrappedNative = write(context.wrappedNative)
      for (const { transaction } of plan.transactions) {
        transaction.to = write(transaction.to)
        transaction.data = write(transaction.data)
      }
      expect(await verify(plan), plan.name).toMatchObject({ ok: true, problems: [] })
    }
  }
})

it('says no to every forgery of every plan, each signed by the key of the service itself', async () => {
  let tried = 0
  for (const [source, places] of forgeries)
    for (const { at, forged } of places)
      for (const { name, data } of forged) {
        const plan = structuredClone(source)
        plan.transactions[at]!.transaction.data = data
        expect((await verify(plan)).ok, `${name} of "${plan.name}": ${data}`).toBe(false)
        tried += 1
      }
  expect(tried).toBeGreaterThan(1_000)
}, 120_000)

const kinds = [...new Set(plans.map(({ context }) => context.vault.kind))]
/** Each kind has a tenth, however many kinds there are: 2,000 at least, and 100,000 in the long form. */
const runsOfKind = Math.max(2_000, Math.ceil(runs / 10))

it.each(kinds)(
  `accepts none of ${runsOfKind} mutations of plans of the kind %s (seed ${seed})`,
  async (kind) => {
    const random = createRandom(seed)
    const sources = plans.filter(({ context }) => context.vault.kind === kind)
    const meanings = new Map(sources.map((plan) => [plan, meaningOf(plan)]))
    const tried = new Map<string, number>()
    let accepted = 0
    for (let done = 0; done < runsOfKind; ) {
      const source = pick(random, sources)
      const plan = structuredClone(source)
      const name = mutate(plan, forgeries.get(source) ?? [], plans, random)
      if (meaningOf(plan) === meanings.get(source)) continue
      done += 1
      tried.set(name, (tried.get(name) ?? 0) + 1)
      const verdict = await verify(plan)
      if (!verdict.ok) continue
      accepted += 1
      console.error(`accepted after "${name}" of "${plan.name}": ${meaningOf(plan)}`)
    }
    const counts = [...tried].sort(([x], [y]) => (x < y ? -1 : 1)).map(([name, count]) => `${name} ${count}`)
    console.info(
      `${kind}: ${runsOfKind} mutations, seed ${seed}, ${sources.length} plans, ${accepted} accepted; ${counts.join(', ')}`,
    )
    expect(accepted).toBe(0)
  },
  7_200_000,
)
