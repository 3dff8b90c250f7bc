import { Counter, Gauge, type Registry } from 'prom-client'
import { isWell, type Reader } from '../../postgres/reading.js'
import type { Replicas } from '../../postgres/replicas.js'

/** Metrics of the replicas that this process reads: how far each is behind, whether it serves, and what it served. */
export function registerReplicas(registry: Registry, { list }: Replicas) {
  new Gauge({
    name: 'openearn_replica_lag_bytes',
    help: 'Bytes of the log of the primary that the replica has not replayed; left out while it does not answer',
    labelNames: ['replica'],
    registers: [registry],
    collect() {
      this.reset()
      for (const { name, state } of list) {
        const { lagBytes } = state() ?? {}
        if (lagBytes !== undefined) this.set({ replica: name }, lagBytes)
      }
    },
  })
  new Gauge({
    name: 'openearn_replica_serves',
    help: '1 for a replica that is read, 0 for one that is left out: it does not answer, lags, or is no replica any more',
    labelNames: ['replica'],
    registers: [registry],
    collect() {
      for (const { name, state } of list) this.set({ replica: name }, Number(isWell(state())))
    },
  })
  const reads = new Counter({
    name: 'openearn_reads_total',
    help: 'Requests of operations that a replica may serve, by who was asked',
    labelNames: ['server'],
    registers: [registry],
  })
  const failures = new Counter({
    name: 'openearn_replica_failures_total',
    help: 'Requests that a replica failed and the primary took over',
    labelNames: ['replica'],
    registers: [registry],
  })
  const nameOf = (reader: Reader) => (reader === 'primary' ? reader : (list[reader]?.name ?? 'unknown'))
  for (const reader of ['primary' as const, ...list.keys()]) reads.inc({ server: nameOf(reader) }, 0)
  for (const { name } of list) failures.inc({ replica: name }, 0)
  return {
    served: (reader: Reader) => reads.inc({ server: nameOf(reader) }),
    failed: (place: number) => failures.inc({ replica: nameOf(place) }),
  }
}
