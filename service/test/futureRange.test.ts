import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operations } from '../src/server/operations.js'
import type { Earn } from './harness.js'
import { chainId, openMetricsWorld, vaults } from './metricsWorld.js'

let earn: Earn
beforeAll(async () => {
  earn = await openMetricsWorld()
})
afterAll(() => earn?.close())

const ranged = operations
  .filter(({ query }) => query !== undefined && 'startDate' in query.properties)
  .map(({ operationId }) => operationId)
const iso = (secondsFromNow: number) => new Date(Date.UTC(2026, 10, 20, 12) + secondsFromNow * 1000).toISOString()
const known = { chainId, vaultAddress: vaults[0], distributorId: 'acme' }
const unknown = { chainId: 5, vaultAddress: `0x${'77'.repeat(20)}`, distributorId: 'nobody' }
const ask = (operationId: string, params: Record<string, string | number>, startDate: string, endDate: string) =>
  earn.call(operationId, { params, query: { startDate, endDate } })

it('eight operations have a range of time', () => {
  expect(ranged).toHaveLength(8)
})

describe.each(ranged)('%s', (operationId) => {
  it('refuses a start more than a minute in the future as all do, whether or not the vault or distributor is known', async () => {
    for (const params of [known, unknown])
      for (const [start, end] of [
        [61, 3_600],
        [86_400, 172_800],
        [86_400, 3_600],
      ] as const) {
        const { status, body } = await ask(operationId, params, iso(start), iso(end))
        expect([status, body]).toEqual([
          400,
          {
            ...{ code: 400, status: 'INVALID_ARGUMENT', context: {} },
            error: 'startDate lies in the future; ask for an earlier one',
          },
        ])
      }
  })

  it('reads a start up to a minute in the future as now', async () => {
    for (const [start, end] of [
      [1, 3_600],
      [60, 60],
    ] as const) {
      const answer = await ask(operationId, known, iso(start), iso(end))
      const now = await ask(operationId, known, iso(0), iso(0))
      expect([answer.status, answer.body]).toEqual([now.status, now.body])
      expect(now.status).not.toBe(400)
    }
  })

  it('refuses a start after the end', async () => {
    const { status, body } = await ask(operationId, unknown, iso(-60), iso(-120))
    expect([status, body.error]).toEqual([400, 'startDate is after endDate'])
  })
})

it('an hour of which no bucket is whole has no count of LPs, and is no error', async () => {
  for (const [start, end] of [
    [-840, -60],
    [-300, -300],
    [30, 86_400],
  ] as const) {
    const { status, body } = await ask('GetOpportunityHistoricalLPs', known, iso(start), iso(end))
    expect([status, body]).toEqual([200, { data: [] }])
  }
})
