import { sightingObservations } from '../features/attribution/index.js'
import { ledger } from '../features/ledger/index.js'
import { metrics } from '../features/metrics/index.js'
import { orders } from '../features/orders/index.js'
import { readingObservations } from '../features/paid/index.js'
import { actionObservations } from '../features/plans/index.js'
import { flows } from '../features/portfolio/index.js'
import { createPositions, doubtObservations, shareMints } from '../features/positions/index.js'
import { streamObservations, streams } from '../features/streams/index.js'
import { priceObservations } from '../prices/index.js'
import { snapshotObservations } from '../snapshots/index.js'
import type { Projections } from '../sync/projection.js'

/** Everything the service derives from a chain, in the order of its needs. */
export function listProjections(options: { recover?: Parameters<typeof createPositions>[0] } = {}): Projections {
  return {
    derived: [createPositions(options.recover), shareMints, ledger, flows, metrics, streams, orders],
    observed: [
      ...[priceObservations, snapshotObservations, readingObservations],
      ...[streamObservations, actionObservations, sightingObservations, doubtObservations],
    ],
  }
}
