import { Registry } from 'prom-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openOperatorWorld } from '../../../test/operatorWorld.js'
import { examine } from '../../cli/doctor.js'
import { silentLog } from '../../kernel/log.js'
import { openDatabase } from '../../postgres/pool.js'
import { registerChainGauges, registerSenderGauges } from './chainMetrics.js'
import { registerDoctorGauges } from './doctorGauges.js'

let world: Awaited<ReturnType<typeof openOperatorWorld>>
beforeAll(async () => {
  world = await openOperatorWorld()
})
afterAll(() => world?.close())

/** Lines of the doctor, by how they are called, and the metrics that tell the same. A setting changes only with the process. */
const lines: readonly [RegExp, readonly string[]][] = [
  [/^[^:]+: \w+:\/\/.* clock$/, ['chain_indexed_age_seconds']],
  [/^[^:]+: \w+:\/\//, ['rpc_calls_total']],
  [/: header chain$/, ['chain_broken_links']],
  [/^addresses of callers$/, []],
  [/: watcher$/, ['chain_silent_seconds']],
  [/: state$/, ['chain_stalled', 'chain_lag_blocks', 'chain_indexed_age_seconds']],
  [/: evidence$/, ['chain_traces', 'chain_traces_awaited', 'chain_traces_missing']],
  [/: second look$/, ['chain_unchecked_blocks']],
  [/^balances and entries against the chain$/, ['vaults_drifting']],
  [/^moves beyond a balance$/, ['vaults_cut']],
  [/^holders are believed$/, ['vaults_disbelieved']],
  [/^vaults are what is configured$/, ['vaults_disagreeing']],
  [/^prices of assets$/, ['assets_unpriced', 'price_age_seconds']],
  [/^prices that jumped$/, ['prices_suspect']],
  [/^share prices that were staged$/, ['vaults_staged_7d']],
  [/^floors of LPs$/, ['vaults_without_floor']],
  [/^history of vaults of chain \d+$/, ['snapshots_unread', 'snapshots_failing']],
  [/0x[\da-f]{40}/, ['sender_stopped', 'sender_oldest_open_seconds', 'sender_open']],
  [/^events: feed$/, ['events_unmoved', 'events_delay_seconds']],
  [/^events: webhooks$/, ['events_webhooks', 'events_queued', 'events_given_up', 'events_overdue_seconds']],
  [/^roots of streams$/, ['stream_roots_doubted']],
  [/^roots of streams: time to veto$/, []],
  [/^jobs$/, ['jobs_unwell', 'jobs_overdue_seconds']],
  [/^indexes$/, ['database_invalid_indexes']],
]

const read = async () => (await world.earn.service.opsApp.inject('/metrics')).body

describe('the gauges of what the doctor looks at', () => {
  it('are there for each of its lines', async () => {
    const text = await read()
    const findings = await examine(world.earn.ctx)
    expect(findings.length).toBeGreaterThan(15)
    const untold = findings.filter(({ what }) => {
      const names = lines.find(([pattern]) => pattern.test(what))?.[1]
      return names === undefined || !names.every((name) => text.includes(`\n# TYPE openearn_${name} `))
    })
    expect(untold.map(({ what }) => what)).toEqual([])
  })

  it('tell what is not well by chain, and of the pools how they are used', async () => {
    const text = await read()
    for (const line of [
      `openearn_vaults_drifting{chain="${world.chainId}"} 1`,
      'openearn_database_answers 1',
      'openearn_requests_shed_total 0',
      'openearn_events_webhooks{state="disabled"} 0',
      'openearn_jobs_unwell 0',
      'openearn_database_connections{pool="admission",state="max"} 4',
      'openearn_database_connections{pool="operation",state="waiting"} 0',
    ])
      expect(text).toContain(`\n${line}\n`)
  })

  it('are left out while the database does not answer, and everything else is told', async () => {
    const { ctx } = world.earn
    const db = openDatabase(ctx.db.settings.target)
    await db.end()
    const said: unknown[] = []
    const base = { ...ctx, db, log: { ...silentLog, warn: (...words: unknown[]) => said.push(words[1]) } as never }
    const registry = new Registry()
    registerChainGauges(registry, base)
    registerSenderGauges(registry, base)
    registerDoctorGauges(registry, base)
    const text = await registry.metrics()
    expect(text).toContain('openearn_database_answers 0')
    expect(text.match(/^openearn_(?!database_answers)\S+ \d/gm)).toBeNull()
    // Once for each look, however many gauges it leaves out.
    expect(said).toEqual(Array(3).fill('a gauge cannot be read and is left out'))
  })

  it('count the signatures of a key, those that failed as well', async () => {
    const { metrics } = world.earn.service
    let isBroken = false
    const signer = metrics.countSignatures('tried', {
      address: '0xa',
      sign: async (digest) => {
        if (isBroken) throw new Error('gone')
        return digest
      },
    })
    await signer.sign(new Uint8Array(32))
    isBroken = true
    await expect(signer.sign(new Uint8Array(32))).rejects.toThrow('gone')
    const text = await read()
    for (const outcome of ['ok', 'failed'])
      expect(text).toContain(`openearn_signatures_total{signer="tried",outcome="${outcome}"} 1`)
  })
})
