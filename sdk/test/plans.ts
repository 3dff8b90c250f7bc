import { readFileSync } from 'node:fs'
import { type PlanContext, type PlannedTransaction, type PlanRequest, verifyPlan } from '../src/verify/index.js'

export type Plan = {
  name: string
  request: PlanRequest
  transactions: PlannedTransaction[]
  context: PlanContext
}

/** Plans the service returned, of every vault kind and action. */
export function readPlans(): Plan[] {
  const file = new URL('./vectors/plans.json', import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8')).plans
}

/** Plans of the calls the others have none of: a protected deposit, pulled shares, Lagoon at once, cooldowns. */
export function readKindPlans(): Plan[] {
  const file = new URL('./vectors/kindPlans.json', import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8')).plans
}

/** All of these, and those of kinds whose calls are some of another's, so that its plans are plans of theirs. */
export const readPlansOfKinds = (): Plan[] => [...readPlans(), ...readKindPlans()].flatMap(playAs)

function playAs(plan: Plan): Plan[] {
  const { kind } = plan.context.vault
  if (kind !== 'erc7540') return [plan]
  const other = plan.request.type === 'withdraw' ? 'erc7540-redeem' : 'erc7540-deposit'
  const twin = structuredClone(plan)
  twin.name = `${plan.name} (${other})`
  twin.context.vault.kind = other
  return [plan, twin]
}

/** A plan of its own to change. */
export const namedPlan = (name: string): Plan => readPlans().find((plan) => plan.name === name)!

export const verify = ({ request, transactions, context }: Omit<Plan, 'name'>) =>
  verifyPlan(request, transactions, context)
