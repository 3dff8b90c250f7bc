import { beforeAll, expect, it } from 'vitest'
import { type Forgery, forge, pin } from '../../test/forgeries.js'
import { meaningOf, mutations } from '../../test/mutations.js'
import { type Plan, readKindPlans, readPlans } from '../../test/plans.js'
import { below, createRandom, pick, type Random } from '../../test/random.js'
import { verifyPlan } from './verifyPlan.js'

/** 20,000 in CI, shared by the kinds; `npm run test:long` asks for a million. */
const runs = Number(process.env['MUTATIONS'] ?? 20_000)
const seed = Number(process.env['MUTATION_SEED'] ?? 20_261_120)

/** Kinds whose calls are some of another's, so that its plans are plans of theirs. */
function playAs(plan: Plan): Plan[] {
  const { kind } = plan.context.vault
  if (kind !== 'erc7540') return [plan]
  const other = plan.request.type === 'withdraw' ? 'erc7540-redeem' : 'erc7540-deposit'
  const twin = structuredClone(plan)
  twin.name = `${plan.name} (${other})`
  twin.context.vault.kind = other
  return [plan, twin]
}

const plans = [...readPlans(), ...readKindPlans()].flatMap(playAs).map(pin)
const forgeries = new Map<Plan, Forgery[]>()
beforeAll(async () => {
  for (const plan of plans) forgeries.set(plan, await forge(plan))
}, 120_000)

const verify = (plan: Plan) => verifyPlan(plan.request, plan.transactions, plan.context)

/** Changes a plan in one way, or in two; answers the name of the first. */
function mutate(plan: Plan, source: Plan, random: Random): string {
  const forged = forgeries.get(source) ?? []
  const names = Object.keys(mutations)
  // What carries no suffix cannot be forged with one.
  const at = below(random, names.length + (forged.length > 0 ? 8 : 0))
  const name = names[at]
  if (name !== undefined) {
    mutations[name]?.(plan, random, plans)
    if (plan.transactions.length > 0 && random() < 0.1) mutations[pick(random, names)]?.(plan, random, plans)
    return name
  }
  const forgery = pick(random, forged)
  plan.transactions[plan.transactions.length - 1]!.transaction.data = forgery.data
  if (random() < 0.1) mutations[pick(random, names)]?.(plan, random, plans)
  return forgery.name
}

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
  for (const [source, forged] of forgeries) {
    for (const { name, data } of forged) {
      const plan = structuredClone(source)
      plan.transactions[plan.transactions.length - 1]!.transaction.data = data
      expect((await verify(plan)).ok, `${name} of "${plan.name}": ${data}`).toBe(false)
      tried += 1
    }
  }
  expect(tried).toBeGreaterThan(1_000)
}, 120_000)

const kinds = [...new Set(plans.map(({ context }) => context.vault.kind))]
/** Each kind has its share: 2,000 at least, and 100,000 in the long form. */
const runsOfKind = Math.max(2_000, Math.ceil(runs / kinds.length))

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
      const name = mutate(plan, source, random)
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
