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

/** A plan of its own to change. */
export const namedPlan = (name: string): Plan => readPlans().find((plan) => plan.name === name)!

export const verify = ({ request, transactions, context }: Omit<Plan, 'name'>) =>
  verifyPlan(request, transactions, context)
