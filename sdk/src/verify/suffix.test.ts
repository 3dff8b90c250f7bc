import { concat, type Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import { resign, writeOtherwise } from '../../test/forgeries.js'
import { namedPlan, type Plan, verify } from '../../test/plans.js'
import { attribution } from './index.js'

const lastOf = ({ transactions }: Plan) => transactions[transactions.length - 1]!.transaction

function suffixOf(plan: Plan): { call: Hex; own: attribution.OwnSuffix } {
  const { data } = lastOf(plan)
  const [suffix] = attribution.decode(data as Hex)
  return { call: data.slice(0, 2 + 2 * suffix!.start) as Hex, own: attribution.readOwnMetadata(suffix!)! }
}

describe('the suffix of a plan', () => {
  it.each(['', ' ', 'a,b', 'é', 'x'.repeat(33), 'x'.repeat(300), '\u0000', '__proto__'])(
    'with a code the service does not give (%j) is refused, not thrown at',
    async (code) => {
      const plan = namedPlan('erc7540 cancel')
      delete plan.context.distributorId
      const { call, own } = suffixOf(plan)
      lastOf(plan).data = concat([call, writeOtherwise({ ...own, code }, {})])
      const { ok, problems } = await verify(plan)
      expect(ok).toBe(false)
      expect(problems.join()).toMatch(
        /not of the form the service writes|not signed by a published signer|something else/,
      )
    },
  )

  it('with a referral code is refused on what has none: a withdrawal, a claim, a cancellation', async () => {
    for (const name of ['erc4626 withdraw', 'erc7540 claim', 'lagoon cancel']) {
      const plan = await resign(namedPlan(name), (call) => call, { referralCode: 'thief' })
      expect((await verify(plan)).problems, name).toEqual(['the suffix carries another referral code'])
    }
  })

  it('of another distributor is told so once, whoever signed it', async () => {
    const plan = namedPlan('erc7540 cancel')
    const { call, own } = suffixOf(plan)
    lastOf(plan).data = concat([call, writeOtherwise({ ...own, code: 'other' }, {})])
    expect((await verify(plan)).problems).toEqual(['the suffix carries another distributor'])
  })

  it('may be anybody’s, or none, where neither the request nor the context says who brought the deposit', async () => {
    const plan = await resign(namedPlan('lagoon cancel'), (call) => call, { code: 'other' })
    expect((await verify(plan)).problems).toEqual(['the suffix carries another distributor'])
    delete plan.context.distributorId
    const { sentences } = await verify(plan)
    expect(sentences.join()).toMatch(/; brought by other\.$/)
    lastOf(plan).data = suffixOf(plan).call
    expect((await verify(plan)).ok).toBe(true)
    Object.assign(plan.request, { distributorId: 'other' })
    expect((await verify(plan)).problems).toEqual(['the last transaction carries no suffix'])
  })

  it('is read in any case of letters of the action it is pinned to', async () => {
    const plan = namedPlan('erc4626 withdraw')
    plan.context.actionId = plan.context.actionId!.toUpperCase()
    expect((await verify(plan)).ok).toBe(true)
  })
})
