import { readFileSync } from 'node:fs'
import { Compile } from 'typebox/compile'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { importCatalogue } from '../src/features/catalogue/import/index.js'
import { OpportunitySchema } from '../src/features/catalogue/schema.js'
import { type Earn, openEarn } from './harness.js'

let earn: Earn
const text = readFileSync(new URL('../demo/catalogue.json', import.meta.url), 'utf8')

beforeAll(async () => {
  earn = await openEarn()
  await importCatalogue(earn.ctx, text, { fileName: 'demo/catalogue.json' })
  await earn.ctx.catalogue.refresh()
})
afterAll(() => earn.close())

describe('the demo catalogue', () => {
  it('lists more than fifty opportunities on three chains, none of which takes deposits, each saying why', async () => {
    const check = Compile(OpportunitySchema)
    const { body } = await earn.call('ListOpportunities', { query: { limit: 100, includeDeltas: true } })
    expect(body.pagination.total).toBeGreaterThanOrEqual(55)
    expect(new Set(body.data.map((item: { chainId: number }) => item.chainId)).size).toBe(3)
    for (const item of body.data) {
      expect(check.Errors(item)).toEqual([])
      expect(item.meta).toMatchObject({ depositEnabled: false, depositDisabledReason: expect.stringMatching(/\w/) })
    }
  })

  it('has every kind of filter value, tags with colours and incentives of every reward type', async () => {
    const { body } = await earn.call('GetOpportunityFilterOptions')
    for (const [name, list] of Object.entries<unknown[]>(body)) expect(list.length, name).toBeGreaterThan(2)
    const types = new Set(
      JSON.parse(text).opportunities.flatMap((o: { incentives: { rewardType: string }[] }) =>
        o.incentives.map(({ rewardType }) => rewardType),
      ),
    )
    expect([...types].sort()).toEqual(['points', 'tokens', 'vesting', 'yield'])
  })
})
