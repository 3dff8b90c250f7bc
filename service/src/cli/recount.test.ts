import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Earn } from '../../test/harness.js'
import { openMetricsWorld, vaults } from '../../test/metricsWorld.js'
import { reportDistributor } from '../features/audit/index.js'
import { formats, readExport, writeExport } from './exportFiles.js'
import { recountFiles } from './recount.js'

let earn: Earn
let folder: string
beforeAll(async () => {
  earn = await openMetricsWorld()
  folder = await mkdtemp(join(tmpdir(), 'openearn-recount-'))
})
afterAll(async () => {
  await earn?.close()
  if (folder) await rm(folder, { recursive: true, force: true })
})

const range = { from: new Date('2026-11-20T07:00:00Z'), to: new Date('2026-11-20T11:00:00Z') }

describe.each(formats)('files in the form of %s', (format) => {
  it('give the USD-days of the service, to the last digit, from the files alone', async () => {
    const names = [
      ...(['lot-changes', 'snapshots', 'identities', 'share-mints', 'share-readings', 'prices', 'rules'] as const),
      // Of no use here, and in the way of nothing.
      'wallet-days' as const,
    ]
    const files = names.map((name) => join(folder, `${name}.${format}`))
    for (const [index, name] of names.entries()) await writeExport(earn.db, name, files[index] ?? '', format)
    for (const distributorId of ['acme', 'beta']) {
      const served = await reportDistributor(earn.ctx, { distributorId, ...range })
      const counted = await recountFiles(files, { distributorId, ...range })
      expect(served.length).toBeGreaterThan(0)
      expect(counted).toEqual(
        served.map(({ chainId, vaultAddress: vault, opportunityId, usdDays, unpricedMs, unguardedMs }) => ({
          ...{ chainId, vault, opportunityId, usdDays, unpricedMs, unguardedMs },
        })),
      )
    }
    const [first] = await recountFiles(files, { distributorId: 'acme', ...range })
    // 1,000 shares for a quarter of an hour at 1, five minutes of them and 40 of 1,010 at 1.1, then 10 for two hours.
    const usdHours = 1_000 * 0.25 + 1_100 * (5 / 60) + 1_111 * (40 / 60) + 11 * 2
    expect(first?.vault).toBe(vaults[0])
    expect(Number(first?.usdDays)).toBeCloseTo(usdHours / 24, 9)
  })

  it('tell when a vault was another than configured: then nothing is added, by the service and by the files', async () => {
    const { db } = earn
    const readings = ['08:05', '08:30', '08:40', '09:10'].map((time) => new Date(`2026-11-20T${time}:00Z`))
    await db`delete from vault_identities`
    for (const [index, at] of readings.entries())
      await db`
        insert into vault_identities (vault_id, block_number, block_hash, block_timestamp, asset, receipt_token, asset_decimals,
          receipt_decimals)
        select id, ${at.getTime() / 1_000}, hex_bytes(${`0x${'b1'.repeat(32)}`}), ${at},
          case when ${index}::int in (0, 3) then asset else '0xbb' end, receipt_token, asset_decimals, null
        from vaults where address = ${vaults[0]}`
    const count = async () => {
      const [served] = await reportDistributor(earn.ctx, { distributorId: 'acme', ...range })
      const names = [
        'lot-changes',
        'snapshots',
        'identities',
        'share-mints',
        'share-readings',
        'prices',
        'rules',
      ] as const
      const files = names.map((name) => join(folder, `withheld-${name}.${format}`))
      for (const [index, name] of names.entries()) await writeExport(db, name, files[index] ?? '', format)
      const [counted] = await recountFiles(files, { distributorId: 'acme', ...range })
      expect([counted?.usdDays, counted?.unpricedMs]).toEqual([served?.usdDays, served?.unpricedMs])
      return { usdHours: Number(served?.usdDays) * 24, unpricedMs: served?.unpricedMs }
    }
    // From 08:05 to 09:10, of 1,000 shares since 08:00 and 10 since 09:00.
    const known = await count()
    expect(known.usdHours).toBeCloseTo(1_000 * (5 / 60) + 11 * (110 / 60), 9)
    expect(known.unpricedMs).toBe(65 * 60_000)
    // Without times the snapshots around them stand in: none is as new as the last reading.
    await db`update vault_identities set block_timestamp = null`
    expect((await count()).usdHours).toBe(0)
    await db`delete from vault_identities`
  })

  it('hold the same rows, whatever is exported', async () => {
    for (const name of ['balances', 'lots', 'prices', 'wallet-days'] as const) {
      const file = join(folder, `${name}.${format}`)
      const { rows } = await writeExport(earn.db, name, file, format)
      expect(await readExport(file, () => true)).toHaveLength(rows)
    }
  })
})
