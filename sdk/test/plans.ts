import { readFileSync } from 'node:fs'
import type { PlanContext, PlannedTransaction, PlanRequest } from '../src/index.js'

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
