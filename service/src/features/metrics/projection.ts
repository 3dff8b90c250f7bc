import { defineProjection } from '../../sync/defineProjection.js'
import { listTakenBack, positionsRows } from '../positions/index.js'
import { findChanges } from './changes.js'
import { listMetricsVaults } from './storeConfiguration.js'
import { attributedStepsTable, lpEdgesTable, lpStepsTable, recordChanges, rewindMetrics } from './storeSteps.js'

/**
 * Who held how much for whom, in steps of 900 s, and who counts as an LP: of confirmed blocks, from what positions gave of
 * the same block.
 */
export const metrics = defineProjection({
  name: 'metrics',
  tables: [attributedStepsTable, lpEdgesTable, lpStepsTable].map((table) => ({
    table,
    state: { leftOut: 'follows from lots and balances' },
  })),
  needs: { positions: positionsRows },
  configuration: listMetricsVaults,
  lines: (vaults) => [
    { line: 'rules 1', from: 0 },
    // A floor is followed through the whole past, so that what it decides from some day on is known on that day.
    ...[...vaults].map(([id, { line }]) => ({ line, from: 0, of: `vault ${id}` })),
  ],
  derive: (block, { config, needs }) => findChanges(block, needs.positions, config),
  write: (db, rows, { chainId, place, isLive }) => recordChanges(db, rows, { chainId, place, isLive }),
  rewind: async (tx, above, by) => {
    await rewindMetrics(tx, above, listTakenBack(by))
    return 0
  },
})
