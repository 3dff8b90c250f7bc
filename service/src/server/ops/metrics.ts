import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client'

export type Metrics = {
  /** Other parts add their metrics here; /metrics shows all of them. */
  registry: Registry
  answered(operationId: string, status: number, seconds: number): void
  refused(limit: string): void
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
  return {
    registry,
    answered: (operation, status, seconds) => {
      requests.inc({ operation, status })
      duration.observe({ operation }, seconds)
    },
    refused: (limit) => refusals.inc({ limit }),
  }
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
