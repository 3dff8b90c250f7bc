import type { DerivedRows } from '../../derive/rows.js'
import type { Projection } from '../../sync/projection.js'
import { listTakenBack } from '../positions/index.js'
import { findChanges, type MetricsRows } from './changes.js'
import { type ConfiguredVault, listMetricsVaults } from './storeConfiguration.js'
import { attributedStepsTable, lpEdgesTable, lpStepsTable, recordChanges, rewindMetrics } from './storeSteps.js'

export type MetricsProjection = Projection<ReadonlyMap<number, ConfiguredVault>, null, MetricsRows>

/**
 * Who held how much for whom, in steps of 900 s, and who counts as an LP: of confirmed blocks, from what positions gave of
 * the same block.
 */
export const metrics: MetricsProjection = {
  name: 'metrics',
  tables: [{ table: attributedStepsTable }, { table: lpEdgesTable }, { table: lpStepsTable }],
  needs: ['positions'],
  at: 'confirmed',
  configuration: listMetricsVaults,
  lines: (vaults) => [
    { line: 'rules 1', from: 0 },
    // A floor is followed through the whole past, so that what it decides from some day on is known on that day.
    ...[...vaults].map(([id, { line }]) => ({ line, from: 0, of: `vault ${id}` })),
  ],
  sources: () => [],
  restrict: (vaults) => vaults,
  open: () => null,
  load: async () => undefined,
  derive: (block, { config, results }) =>
    findChanges(block, results.get('positions') as DerivedRows | undefined, config),
  write: (db, rows, { chainId, place, isLive }) => recordChanges(db, rows, { chainId, place, isLive }),
  size: () => 0,
  rewind: async (tx, above, by) => {
    await rewindMetrics(tx, above, listTakenBack(by))
    return 0
  },
}
