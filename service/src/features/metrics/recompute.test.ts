import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Earn } from '../../../test/harness.js'
import { at, chainId, openMetricsWorld, vaults } from '../../../test/metricsWorld.js'
import { recomputeDistributorLps, recomputeMetrics, recomputeVaultLps } from './index.js'

let earn: Earn
beforeAll(async () => {
  // The floor rises in the morning, so that eras decide too.
  earn = await openMetricsWorld({
    floors: [{ shares: '1' }, { shares: '20000000', activeFrom: '2026-11-20T10:30:00Z' }],
  })
  earn.clock.set(at('12:00'))
  await earn.ctx.catalogue.refresh()
})
afterAll(() => earn?.close())

const instants = Array.from({ length: 32 }, (_, index) =>
  new Date(at('06:00').getTime() + index * 600_000).toISOString(),
)

describe('openearn recompute', () => {
  it('counts attributed TVL, a distributor’s LPs and a vault’s LPs from changes alone, with the digits served at any time', async () => {
    let differing = 0
    const seen = new Set<string>()
    for (const time of instants)
      for (const distributorId of ['acme', 'beta', 'idle'])
        for (const step of [60, 900, 3_600]) {
          const tvl = await recomputeMetrics(earn.ctx, { distributorId, at: time, step })
          const lps = await recomputeDistributorLps(earn.ctx, { distributorId, at: time, step })
          if (!tvl.equal || !lps.equal) differing += 1
          seen.add(`${tvl.served} ${JSON.stringify(lps.served)}`)
        }
    expect(differing).toBe(0)
    expect(seen.size).toBeGreaterThan(5)
    for (const vaultAddress of vaults)
      for (const time of instants.filter((each) => each >= at('08:20').toISOString() && each < '2026-11-20T11:10')) {
        const { equal, served } = await recomputeVaultLps(earn.ctx, { chainId, vaultAddress, at: time })
        expect([time, served, equal]).toEqual([time, served, true])
      }
  })

  it('prints the inputs and every step', async () => {
    expect(await recomputeMetrics(earn.ctx, { distributorId: 'acme', at: '2026-11-20T09:45:10Z' })).toMatchObject({
      from: '2026-11-20T09:45:00Z',
      to: '2026-11-20T09:59:59Z',
      inputs: [
        { vault: vaults[0], lotChanges: 3, shares: '10000000', priceNumerator: '1100000000000000000', priceUsd: '1' },
        { vault: vaults[1], lotChanges: 1, shares: '5000000000000000000', priceUsd: '10.5' },
      ],
      arithmetic: [
        `${vaults[0]}: 10000000 × 1100000000000000000 × 1 / 10^24 = 11`,
        `${vaults[1]}: 5000000000000000000 × 2000000000000000000000000000000 × 10.5 / 10^48 = 105`,
        'tvl = the sum, each cut after 18 digits = 116',
      ],
      recomputed: '116',
      served: '116',
      equal: true,
    })
  })

  it('refuses a bucket that has not begun, as the series does', async () => {
    const ahead = { distributorId: 'acme', at: '2026-11-20T13:00:00Z' }
    for (const recompute of [recomputeMetrics, recomputeDistributorLps])
      await expect(recompute(earn.ctx, ahead)).rejects.toThrow('startDate lies in the future')
  })

  it('says when what is kept differs from what the changes come to', async () => {
    await earn.db`update attributed_steps set shares = shares + 1 where distributor_id = 'beta'`
    const found = await recomputeMetrics(earn.ctx, { distributorId: 'beta', at: '2026-11-20T10:30:00Z' })
    expect([found.recomputed, found.served, found.equal]).toEqual(['7.7', '7.7000011', false])
  })

  it('refuses a distributor and a vault nobody knows, and a bucket of a vault that has not ended', async () => {
    await expect(recomputeMetrics(earn.ctx, { distributorId: 'nobody', at: instants[0] ?? '' })).rejects.toThrow(
      'no such',
    )
    await expect(
      recomputeVaultLps(earn.ctx, { chainId, vaultAddress: `0x${'00'.repeat(20)}`, at: instants[0] ?? '' }),
    ).rejects.toThrow('no such')
    const open = { chainId, vaultAddress: vaults[0], at: at('12:00').toISOString() }
    await expect(recomputeVaultLps(earn.ctx, open)).rejects.toThrow('has not ended')
  })
})
