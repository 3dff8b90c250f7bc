import { afterAll, beforeAll, expect, it } from 'vitest'
import { flushEvents } from '../../../test/flushEvents.js'
import { type Earn, openEarn } from '../../../test/harness.js'
import { tellStates } from '../events/index.js'
import { tellBudgets } from './tellBudgets.js'

let earn: Earn
beforeAll(async () => {
  earn = await openEarn({ now: '2026-11-20T12:30:00Z' })
  await tellBudgets(earn.ctx, tellStates)
})
afterAll(() => earn?.close())

const told = async () => {
  await tellBudgets(earn.ctx, tellStates)
  await flushEvents(earn.db)
  return earn.db<{ organizationId: string; data: Record<string, unknown> }[]>`
    select organization_id as "organizationId", data from feed where type = 'key.budget' order by position`
}

it('80 and 100 percent of an hour and of a month are told once each, to the organization of the key, and in the next hour again', async () => {
  const organizationId = await earn.organization()
  const key = await earn.key({ kind: 'secret', organizationId, hourlyUnits: 10, monthlyUnits: 25 })
  const spend = async (calls: number) => {
    for (let call = 0; call < calls; call++) await earn.call('GetChains', { key })
  }
  const steps = (rows: Awaited<ReturnType<typeof told>>) =>
    rows.map(({ data }) => `${data['window']} ${data['percent']}`)
  await spend(7)
  expect(await told()).toEqual([])
  await spend(1)
  const [first] = await told()
  expect(first).toEqual({
    organizationId,
    data: {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      hint: expect.stringMatching(/^sk_live_/),
      window: 'hourly',
      since: '2026-11-20T12:00:00Z',
      limit: 10,
      used: 8,
      percent: 80,
    },
  })
  await spend(1)
  expect(steps(await told())).toEqual(['hourly 80'])
  await spend(3)
  expect(steps(await told())).toEqual(['hourly 80', 'hourly 100'])
  earn.clock.advance(3_600_000)
  expect(await told()).toHaveLength(2)
  await spend(10)
  expect(steps(await told()).slice(2)).toEqual(['hourly 100', 'monthly 80'])
})
