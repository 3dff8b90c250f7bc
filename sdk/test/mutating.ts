import { type Hex, slice } from 'viem'
import { type Forgery, forge } from './forgeries.js'
import { mutations } from './mutations.js'
import type { Plan } from './plans.js'
import { below, pick, type Random } from './random.js'
import { callOf, placeOfSwap, readSwapOf } from './swapPlans.js'

/** Forgeries of the calls of a plan, by the place of the transaction. */
export type Places = readonly { at: number; forged: readonly Forgery[] }[]

/** Forges every call of a plan that carries a suffix, one at a time. What carries none cannot be forged with one. */
export async function forgePlan(plan: Plan): Promise<Places> {
  const at = plan.transactions.flatMap(({ type }, place) => (type === 'approve' ? [] : [place]))
  const places = await Promise.all(at.map(async (place) => ({ at: place, forged: await forgeAt(plan, place) })))
  return places.filter(({ forged }) => forged.length > 0)
}

/** Forgeries of one transaction; a swap held to more than was asked for is none. */
async function forgeAt(plan: Plan, at: number): Promise<Forgery[]> {
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

/** Changes a plan in one way, or in two; answers the name of the first. `all`: plans that parts are taken from. */
export function mutate(plan: Plan, places: Places, all: readonly Plan[], random: Random): string {
  const names = Object.keys(mutations)
  const name = names[below(random, names.length + (places.length > 0 ? 8 : 0))]
  const found = name === undefined ? pick(random, places) : undefined
  const forgery = found && pick(random, found.forged)
  if (found && forgery) plan.transactions[found.at]!.transaction.data = forgery.data
  if (name !== undefined) mutations[name]?.(plan, random, all)
  if (plan.transactions.length > 0 && random() < 0.1) mutations[pick(random, names)]?.(plan, random, all)
  return name ?? forgery?.name ?? ''
}

/**
 * Whether a forgery, of a transaction of a plan, does nothing that its wallet has to be kept from: how much a claim or a cancellation takes
 * of the wallet's own request, which the vault limits, and the minutes until a swap ends, which a clock that is off by an hour allows.
 */
export function isHarmless(plan: Plan, at: number, { data }: Forgery): boolean {
  const step = plan.transactions[at]!
  const call = callOf(step)
  const { requestAmount } = plan.context
  const deadline = at === placeOfSwap(plan) ? readSwapOf(plan).deadline : undefined
  const words = Array.from({ length: (call.length - 10) / 64 }, (_, i) => 10 + 64 * i)
  const other = words.filter((from) => call.slice(from, from + 64) !== data.slice(from, from + 64))
  const [from = 0] = other
  if (other.length !== 1 || data.length < call.length) return false
  const [was, is] = [call, data].map((text) => BigInt(`0x${text.slice(from, from + 64)}`)) as [bigint, bigint]
  if (requestAmount !== undefined) return was === BigInt(requestAmount)
  return was === deadline && is <= was + 3_600n
}
