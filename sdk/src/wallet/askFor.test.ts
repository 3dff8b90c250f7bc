import { describe, expect, it } from 'vitest'
import { calls, planOf, trust } from '../../test/claimPlans.js'
import { chainId, openModel, opportunityId, vault, wallet } from '../../test/flowModel.js'
import { createRandom } from '../../test/random.js'
import { createEarnClient } from '../client/index.js'
import { askFor, type Limits } from './askFor.js'

/** Asks as a page around a frame does, whose code is `ours`. Returns the requests that reached the wallet. */
async function hand(asked: { type: keyof typeof calls; distributorId?: string }, code: string | undefined, more = {}) {
  const model = openModel({ random: createRandom(1) })
  const provider = { request: model.request as never }
  const limits: Limits = {
    distributorId: 'ours',
    url: 'https://app.example/',
    slippageBpsMax: 100,
    places: new Set(),
    ...more,
  }
  const request = { userAddress: wallet, chainId, opportunityId, ...asked }
  const given = { asked: request, plan: planOf(asked.type, code), position: 0 }
  const world = { earn: createEarnClient({ baseUrl: 'https://earn.example', trust }), provider }
  const answer = await askFor(world, limits, { kind: 'transaction', given }).catch((error: unknown) => error)
  return { answer, sent: model.asked.filter(({ method }) => /send|sign/i.test(method)) }
}

describe.each(['claimDeposit', 'cancelDeposit'] as const)('a page with a wallet that is asked for a %s', (type) => {
  it('hands it on where it names the distributor of the page and carries its code, and nothing but its call', async () => {
    const { answer, sent } = await hand({ type, distributorId: 'ours' }, 'ours')
    expect(answer).toMatch(/^0x[0-9a-f]{64}$/)
    const [{ params }] = sent as unknown as [{ params: [{ to: string; data: string; from: string }] }]
    expect([params[0].to, params[0].from, params[0].data.startsWith(calls[type])]).toEqual([vault, wallet, true])
  })

  it.each<[string, string | undefined, string | undefined, RegExp]>([
    ['names nobody and carries the code of somebody', undefined, 'thief', /does not name the distributor/],
    ['names nobody and carries the code of the page', undefined, 'ours', /does not name the distributor/],
    ['names nobody and carries nothing', undefined, undefined, /does not name the distributor/],
    ['names somebody else and carries that code', 'thief', 'thief', /does not name the distributor/],
    ['names the page and carries the code of somebody else', 'ours', 'thief', /carries another distributor/],
    ['names the page and carries nothing', 'ours', undefined, /carries no suffix/],
  ])('asks the wallet for nothing where it %s', async (_, distributorId, code, problem) => {
    const { answer, sent } = await hand({ type, ...(distributorId ? { distributorId } : {}) }, code)
    expect([String(answer), sent]).toEqual([expect.stringMatching(problem), []])
  })

  it('asks for nothing about a vault that the page does not offer', async () => {
    const { answer, sent } = await hand({ type, distributorId: 'ours' }, 'ours', { vaults: ['another'] })
    expect([String(answer), sent]).toEqual([expect.stringMatching(/does not offer/), []])
  })
})
