import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Database } from '../../postgres/pool.js'
import type { Signer } from '../../rpc/signer.js'

export type Metrics = {
  /** Other parts add their metrics here; /metrics shows all of them. */
  registry: Registry
  answered(operationId: string, status: number, seconds: number): void
  refused(limit: string): void
  /** Counts a request that was refused because the process is too busy. */
  shed(): void
  /** The same signer, with its signatures counted by outcome. */
  countSignatures<S extends Signer | undefined>(name: string, signer: S): S
}

/** The metrics of one process: requests by operation and status, their duration, refusals by limit, and the process. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'openearn_' })
  const requests = new Counter({
    name: 'openearn_http_requests_total',
    help: 'Requests answered by the public listener',
    labelNames: ['operation', 'status'],
    registers: [registry],
  })
  const duration = new Histogram({
    name: 'openearn_http_request_duration_seconds',
    help: 'From the request head to the end of the answer',
    labelNames: ['operation'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  })
  const refusals = new Counter({
    name: 'openearn_limit_refusals_total',
    help: 'Requests refused with 429, by the limit that refused them',
    labelNames: ['limit'],
    registers: [registry],
  })
  for (const limit of ['hourly', 'monthly', 'ip']) refusals.inc({ limit }, 0)
  const shed = new Counter({
    name: 'openearn_requests_shed_total',
    help: 'Requests refused because the process is too busy',
    registers: [registry],
  })
  const signatures = new Counter({
    name: 'openearn_signatures_total',
    help: 'Signatures asked of the keys of this process, by outcome',
    labelNames: ['signer', 'outcome'],
    registers: [registry],
  })
  return {
    registry,
    shed: () => shed.inc(),
    countSignatures: (name, signer) => {
      if (signer === undefined) return signer
      for (const outcome of ['ok', 'failed']) signatures.inc({ signer: name, outcome }, 0)
      const sign = async (digest: Uint8Array) => {
        const count = (outcome: string) => signatures.inc({ signer: name, outcome })
        const signature = await signer.sign(digest).catch((error: unknown) => {
          count('failed')
          throw error
        })
        count('ok')
        return signature
      }
      return { ...signer, sign }
    },
    answered: (operation, status, seconds) => {
      requests.inc({ operation, status })
      duration.observe({ operation }, seconds)
    },
    refused: (limit) => refusals.inc({ limit }),
  }
}

/** Gauges of how the connections of each pool are used. */
export function registerPoolGauges(registry: Registry, pools: Readonly<Record<string, Database>>): void {
  const states = ['open', 'lent', 'waiting'] as const
  new Gauge({
    name: 'openearn_database_connections',
    help: 'Connections that are open and lent, and users that wait for one, by pool; max: the most it may open',
    labelNames: ['pool', 'state'],
    registers: [registry],
    collect() {
      for (const [pool, db] of Object.entries(pools)) {
        const usage = db.usage()
        for (const state of states) this.set({ pool, state }, usage[state])
        this.set({ pool, state: 'max' }, db.settings.max)
      }
    },
  })
}

/** Two texts of metrics as one: samples of the same name stand together, as the format asks. */
export function joinMetrics(own: string, other: string | undefined): string {
  if (other === undefined) return own
  const families = new Map<string, { head: string[]; samples: string[] }>()
  for (const text of [own, other]) {
    let family = { head: [] as string[], samples: [] as string[] }
    for (const line of text.split('\n')) {
      const name = /^# HELP (\S+)/.exec(line)?.[1]
      if (name !== undefined) {
        family = families.get(name) ?? { head: [], samples: [] }
        families.set(name, family)
      }
      if (!line.startsWith('#')) family.samples.push(line)
      else if (!family.head.includes(line)) family.head.push(line)
    }
  }
  const filled = (line: string) => line !== ''
  return [...families.values()]
    .map(({ head, samples }) => `${[...head, ...samples].filter(filled).join('\n')}\n`)
    .join('\n')
}
