import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Earn } from '../../../test/harness.js'
import { openMetricsWorld, opportunities, product } from '../../../test/metricsWorld.js'
import { newId } from '../../kernel/ids.js'

let earn: Earn
beforeAll(async () => {
  earn = await openMetricsWorld()
})
afterAll(() => earn?.close())

const day = (time: string) => `2026-11-20T${time}:00Z`
const ask = (query: Record<string, string | number>, distributorId = 'acme') =>
  earn.call('GetDistributorLPs', {
    params: { distributorId },
    query: { startDate: day('07:50'), endDate: day('09:20'), ...query },
  })
const countsOf = async (query: Record<string, string | number>, distributorId?: string) => {
  const { status, body } = await ask(query, distributorId)
  expect(status).toBe(200)
  return body.timeseries.map(
    (each: { timestamp: string; activeLps: number; participatedLps: number }) =>
      `${each.timestamp.slice(11, 16)} ${each.activeLps} of ${each.participatedLps}`,
  )
}

describe('200 the LPs of a distributor', () => {
  it('are those that hold what it brought at the end of each bucket, of those that ever did; one of two vaults counts once', async () => {
    const expected = ['07:45 0 of 0', '08:00 1 of 1', '08:15 2 of 2', '08:30 2 of 2', '08:45 2 of 2', '09:00 2 of 2']
    expect(await countsOf({ endDate: day('09:14') })).toEqual(expected)
  })

  it('are of the vaults asked for: who has left one may still be in another', async () => {
    const last = async (query: Record<string, string>) => (await countsOf(query)).at(-1)
    expect(await last({ opportunityIds: opportunities[0] })).toBe('09:15 1 of 2')
    expect(await last({ opportunityIds: opportunities[1] })).toBe('09:15 1 of 1')
    expect(await last({ productIds: product })).toBe('09:15 1 of 1')
    expect(await last({ opportunityIds: newId() })).toBe('09:15 0 of 0')
  })

  it('are the same by steps that do not lie on 900 s', async () => {
    const query = { startDate: day('08:19'), endDate: day('08:20'), step: 60 }
    expect(await countsOf(query)).toEqual(['08:19 1 of 1', '08:20 2 of 2'])
    expect(await countsOf({ ...query, opportunityIds: opportunities[0] })).toEqual(['08:19 1 of 1', '08:20 2 of 2'])
  })

  it('are none of a distributor nobody knows, and 0 of one that has brought nothing', async () => {
    expect(await countsOf({}, 'nobody')).toEqual([])
    expect(new Set((await countsOf({}, 'idle')).map((line: string) => line.slice(6)))).toEqual(new Set(['0 of 0']))
  })
})

describe('400 INVALID_ARGUMENT', () => {
  it.each([
    ['startDate after endDate', { startDate: day('10:00') }],
    ['no endDate', { endDate: '' }],
    ['a date that is none', { startDate: 'yesterday' }],
    ['a negative step', { step: -1 }],
    ['more than 50,000 buckets', { startDate: '2026-11-19T00:00:00Z', endDate: day('12:00'), step: 1 }],
    ['a bad uuid', { opportunityIds: 'x' }],
  ])('%s', async (_name, query) => {
    expect((await ask(query)).body).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT' })
  })
})
