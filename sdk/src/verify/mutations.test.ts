import { expect, it } from 'vitest'
import { type Plan, readPlans } from '../../test/plans.js'
import { verifyPlan } from './verifyPlan.js'

/** 20,000 in CI; `npm run test:long` asks for a million. */
const runs = Number(process.env['MUTATIONS'] ?? 20_000)
const seed = Number(process.env['MUTATION_SEED'] ?? 20_261_120)

type Random = () => number

/** xorshift32: small, and the same everywhere. */
function createRandom(start: number): Random {
  let state = start || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

const pick = <T>(random: Random, items: readonly T[]): T => items[Math.floor(random() * items.length)]!
const hexByte = (random: Random) =>
  Math.floor(random() * 256)
    .toString(16)
    .padStart(2, '0')

type Mutation = (plan: Plan, random: Random, all: readonly Plan[]) => void
const anyStep = (plan: Plan, random: Random) => pick(random, plan.transactions).transaction

function flipBit(hex: string, random: Random): string {
  const at = 2 + Math.floor(random() * (hex.length - 2))
  const digit = Number.parseInt(hex[at]!, 16) ^ (1 << Math.floor(random() * 4))
  return hex.slice(0, at) + digit.toString(16) + hex.slice(at + 1)
}

const bytesAt = (hex: string, random: Random) => 2 + 2 * Math.floor(random() * ((hex.length - 2) / 2 + 1))

const mutations: Record<string, Mutation> = {
  'data: a bit': (plan, random) => {
    const step = anyStep(plan, random)
    step.data = flipBit(step.data, random)
  },
  'data: a byte put in': (plan, random) => {
    const step = anyStep(plan, random)
    const at = bytesAt(step.data, random)
    step.data = step.data.slice(0, at) + hexByte(random) + step.data.slice(at)
  },
  'data: bytes taken out': (plan, random) => {
    const step = anyStep(plan, random)
    const at = bytesAt(step.data, random)
    step.data = step.data.slice(0, at) + step.data.slice(at + 2 * (1 + Math.floor(random() * 32)))
  },
  'data: a word overwritten': (plan, random) => {
    const step = anyStep(plan, random)
    const at = bytesAt(step.data, random)
    const word = Array.from({ length: 32 }, () => hexByte(random)).join('')
    step.data = step.data.slice(0, at) + word.slice(0, Math.max(0, step.data.length - at)) + step.data.slice(at + 64)
  },
  'data: of another plan': (plan, random, all) => {
    const other = pick(random, pick(random, all).transactions).transaction.data
    anyStep(plan, random).data = other
  },
  'data: the end of another plan': (plan, random, all) => {
    const step = anyStep(plan, random)
    const other = pick(random, pick(random, all).transactions).transaction.data
    const cut = bytesAt(step.data, random)
    step.data = step.data.slice(0, cut) + other.slice(bytesAt(other, random))
  },
  'data: a suffix on top': (plan, random) => {
    const step = anyStep(plan, random)
    step.data += pick(random, ['626173656170700700', 'a161616178000802', '00', '0000'])
    if (random() < 0.8) step.data += '80218021802180218021802180218021'
  },
  to: (plan, random, all) => {
    const step = anyStep(plan, random)
    const others = [plan.request.userAddress, plan.context.vault.asset, pick(random, all).context.vault.address]
    step.to = random() < 0.5 ? flipBit(step.to.toLowerCase(), random) : pick(random, others)
  },
  value: (plan, random) => {
    anyStep(plan, random).value = String(1 + Math.floor(random() * 2 ** 48))
  },
  chainId: (plan, random) => {
    anyStep(plan, random).chainId = pick(random, [1, 0, -31337, 31338, 10, Math.floor(random() * 1e6)])
  },
  order: (plan, random) => {
    const [step] = plan.transactions.splice(Math.floor(random() * plan.transactions.length), 1)
    plan.transactions.splice(Math.floor(random() * (plan.transactions.length + 1)), 0, step!)
  },
  'number: one less': (plan, random) => {
    plan.transactions.splice(Math.floor(random() * plan.transactions.length), 1)
  },
  'number: one twice': (plan, random) => {
    const step = structuredClone(pick(random, plan.transactions))
    plan.transactions.splice(Math.floor(random() * (plan.transactions.length + 1)), 0, step)
  },
  'number: one of another plan': (plan, random, all) => {
    const step = structuredClone(pick(random, pick(random, all).transactions))
    plan.transactions.splice(Math.floor(random() * (plan.transactions.length + 1)), 0, step)
  },
}

/** What a plan makes a wallet do, in one text. */
const meaning = (plan: Plan) =>
  JSON.stringify(
    plan.transactions.map(({ type, transaction: { to, data, value, chainId } }) => [type, to, data, value, chainId]),
  ).toLowerCase()

it(`accepts none of ${runs} mutations of plans (seed ${seed})`, async () => {
  const random = createRandom(seed)
  const plans = readPlans()
  const meanings = plans.map(meaning)
  const tried = new Map<string, number>()
  let accepted = 0
  for (let done = 0; done < runs; ) {
    const index = Math.floor(random() * plans.length)
    const plan = structuredClone(plans[index]!)
    const name = pick(random, Object.keys(mutations))
    mutations[name]!(plan, random, plans)
    if (meaning(plan) === meanings[index]) continue
    done += 1
    tried.set(name, (tried.get(name) ?? 0) + 1)
    const verdict = await verifyPlan(plan.request, plan.transactions, plan.context)
    if (!verdict.ok) continue
    accepted += 1
    console.error(`accepted after "${name}" of "${plan.name}": ${meaning(plan)}`)
  }
  console.info(`${runs} mutations, ${accepted} accepted; ${[...tried].map(([name, n]) => `${name} ${n}`).join(', ')}`)
  expect(accepted).toBe(0)
}, 7_200_000)
