import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Earn } from '../../../test/harness.js'
import { openMetricsWorld } from '../../../test/metricsWorld.js'
import { listWholeMonths } from './auditMonths.js'
import { recordAudit } from './storeAudits.js'

let earn: Earn
let secret: string
beforeAll(async () => {
  earn = await openMetricsWorld()
  secret = await earn.key({ kind: 'secret' })
  earn.clock.set('2027-03-05T00:00:00Z')
  const finding = {
    ...{ code: 'loop' as const, count: 4, usdDays: '12.5', percent: 412, points: 4_120, level: 'look' },
    transactions: [`0x${'ab'.repeat(32)}`],
  }
  for (const month of ['2026-11', '2026-12', '2027-01'])
    await recordAudit(earn.db, 'acme', {
      ...{ month, rulesVersion: 2, score: 4_120, findings: [finding], madeAt: earn.clock.now(), limits: { look: 5 } },
    })
})
afterAll(() => earn?.close())

const year = { startDate: '2026-11-01T00:00:00Z', endDate: '2027-03-01T00:00:00Z', step: 86_400 }
const ask = (key: string, query: Record<string, string | number | boolean> = {}, distributorId = 'acme') =>
  earn.call('GetDistributorMetrics', {
    params: { distributorId },
    query: { ...year, includeAudit: true, ...query },
    key,
  })

describe('200 the audit', () => {
  it('tells what is kept of each whole month of the range, at most the newest three, and costs five units more', async () => {
    const { status, body, headers } = await ask(secret)
    expect([status, headers['x-request-cost']]).toEqual([200, '10'])
    // The newest three whole months are December, January and February, of which nothing is kept yet.
    const loop = { code: 'loop', count: 4, usdDays: '12.5', transactions: [`0x${'ab'.repeat(32)}`] }
    expect(body.audit).toEqual({
      months: ['2026-12', '2027-01'].map((month) => ({ month, rulesVersion: 2, findings: [loop], score: 41.2 })),
    })
  })

  it('is null where nothing is kept, and absent where it was not asked for', async () => {
    expect((await ask(secret, { endDate: '2026-11-29T00:00:00Z' })).body.audit).toBeNull()
    expect((await ask(secret, { includeAudit: false })).body).not.toHaveProperty('audit')
  })

  it('stays as it was first kept', async () => {
    const changed = { month: '2026-11', rulesVersion: 9, score: 0, findings: [], madeAt: earn.clock.now(), limits: {} }
    await recordAudit(earn.db, 'acme', changed)
    const { body } = await ask(secret, { endDate: '2026-12-01T00:00:00Z' })
    expect(body.audit.months).toMatchObject([{ month: '2026-11', rulesVersion: 2, score: 41.2 }])
  })

  it('knows which months lie wholly within a range', () => {
    const months = (from: string, to: string) => listWholeMonths({ from: new Date(from), to: new Date(to) })
    expect(months('2026-10-01T00:00:00Z', '2026-12-01T00:00:00Z')).toEqual(['2026-10', '2026-11'])
    expect(months('2026-10-01T00:00:01Z', '2026-11-30T23:59:59Z')).toEqual([])
    expect(months('2026-11-30T00:00:00Z', '2027-02-01T00:00:00Z')).toEqual(['2026-12', '2027-01'])
    expect(months('2025-01-01T00:00:00Z', '2026-01-01T00:00:00Z')).toEqual(['2025-10', '2025-11', '2025-12'])
  })
})
