import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { asset, openModel, opportunityId, wallet } from '../../test/flowModel.js'
import { createRandom } from '../../test/random.js'
import { isDueSoon } from './due.js'
import { beginDeposit, type PlanFlow, run } from './index.js'

const document = JSON.parse(readFileSync(new URL('../../../service/openapi.json', import.meta.url), 'utf8'))
const costs: readonly [RegExp, number][] = [
  [/^\/v2\/actions\/deposit\//, document.paths['/v2/actions/deposit/{opportunityId}'].post['x-cost']],
  [/^\/v2\/actions\/verify/, document.paths['/v2/actions/verify'].get['x-cost']],
  [/^\/v2\/actions\//, document.paths['/v2/actions/{actionId}'].get['x-cost']],
  [/^\/v2\/opportunities\//, document.paths['/v2/opportunities/{id}'].get['x-cost']],
  [/^\/v2\/verification/, document.paths['/v2/verification'].get['x-cost']],
]

describe('a whole deposit', () => {
  it.each([
    ['a contract, whose second owner signs after most of an hour,', { contract: true }],
    ['a wallet that sends its batch after most of an hour', { batches: true, contract: true }],
    ['a plain account', {}],
  ] as const)('by %s costs at most 30 units, and is noticed within half a minute', async (_, options) => {
    const model = openModel({ random: createRandom(1), ...options })
    const time = { now: 1_795_000_000_000 }
    const began = time.now
    const sentAfter = 'contract' in options ? 3_400_000 : 0
    let units = 0
    let minedAt: number | undefined
    const fetch = async (input: unknown, init?: RequestInit) => {
      const { pathname } = new URL(String(input))
      units += costs.find(([path]) => path.test(pathname))?.[1] ?? Number.NaN
      return model.earn.fetch!(input as string, init)
    }
    const pause = async (milliseconds: number) => {
      time.now += milliseconds
      // The approval is signed at once.
      const isApproval = model.mined.length === 0 && !('batches' in options)
      if (isApproval || time.now - began > sentAfter) model.mine()
      if (model.mined.length > ('batches' in options ? 0 : 1)) minedAt ??= time.now
    }
    const world = { earn: { ...model.earn, fetch: fetch as typeof globalThis.fetch }, now: () => time.now }
    const params = { opportunityId, userAddress: wallet, tokenIn: asset, amount: model.amount, distributorId: 'acme' }
    const { done } = run(beginDeposit(params), { ...world, provider: { request: model.request as never } }, undefined, {
      pause,
    })
    const flow: PlanFlow = await done
    expect([flow.status, flow.problem]).toEqual(['credited', undefined])
    // The service reads the chain two blocks late.
    expect(time.now - minedAt!).toBeLessThanOrEqual(30_000)
    console.info(`a whole deposit by ${_}: ${units} units in ${Math.round((time.now - began) / 60_000)} minutes`)
    expect(units).toBeLessThanOrEqual(30)
    expect(units).toBeGreaterThan(10)
  })
})

it('the service is asked at most 40 times in an hour of looks for what may come at any moment', () => {
  // Looks of 2 s growing to 15 s: some 245 in an hour.
  expect(Array.from({ length: 245 }, (_, looks) => looks).filter(isDueSoon).length).toBeLessThanOrEqual(40)
})
