import { Registry } from 'prom-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Earn, openEarn } from '../../../test/harness.js'
import { createChainMetrics } from './chainMetrics.js'

let earn: Earn
beforeAll(async () => {
  earn = await openEarn()
  await earn.db`insert into chains (chain_id, name, slug, watched) values (7, 'Seven', 'seven', true)`
  await earn.db`insert into chain_cursors (chain_id, start_block, block_number, block_hash, head_number, finalized_number, updated_at)
    values (7, 0, 90, '0x', 100, 40, now())`
})
afterAll(() => earn?.close())

describe('the metrics of chains', () => {
  it('show head, progress and lag of every chain when somebody looks', async () => {
    const text = await earn.service.metrics.registry.metrics()
    for (const line of [
      'openearn_chain_head_block{chain="7"} 100',
      'openearn_chain_indexed_block{chain="7"} 90',
      'openearn_chain_lag_blocks{chain="7"} 10',
      'openearn_chain_finalized_block{chain="7"} 40',
      'openearn_chain_stalled{chain="7"} 0',
      'openearn_chain_watched{chain="7"} 1',
    ])
      expect(text).toContain(line)
  })

  it('show 1 as traces of a chain whose nodes tell how transactions ran, and 0 of any other', async () => {
    await earn.db`insert into chains (chain_id, name, slug, watched) values (8, 'Eight', 'eight', true), (9, 'Nine', 'nine', true)`
    await earn.db`insert into chain_evidence (chain_id, evidence, told_at) values (8, 'trace', now()), (9, 'calldata', now())`
    const text = await earn.service.metrics.registry.metrics()
    const traces = (chain: number) =>
      new RegExp(`^openearn_chain_traces\\{chain="${chain}"\\} (.*)$`, 'm').exec(text)?.[1]
    expect([7, 8, 9].map(traces)).toEqual(['0', '1', '0'])
  })

  it('tell for how long no watcher has heard of a chain, whichever process is asked', async () => {
    await earn.db`update chain_cursors set updated_at = ${new Date(earn.clock.now().getTime() - 90_000)}`
    expect(await earn.service.metrics.registry.metrics()).toContain('openearn_chain_silent_seconds{chain="7"} 90')
  })

  it('count calls of nodes by job, method and outcome, and leave what that is a day to PromQL', async () => {
    const registry = new Registry()
    const { onCall, onRetry } = createChainMetrics(registry)
    const call = { chainId: 7, method: 'eth_getLogs', job: 'watch' }
    onCall({ ...call, outcome: 'ok' })
    onCall({ ...call, outcome: 'failed' })
    onRetry(7)
    const text = await registry.metrics()
    expect(text).toContain('openearn_rpc_calls_total{chain="7",job="watch",method="eth_getLogs",outcome="failed"} 1')
    expect(text).toContain('openearn_chain_retries_total{chain="7"} 1')
    expect(text).not.toContain('_per_day')
  })
})
