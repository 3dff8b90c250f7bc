import { defineProjection } from '../../sync/defineProjection.js'
import { positionsRows } from '../positions/index.js'
import { deriveFlows } from './flows.js'
import { flowsTable, listFlowsVaults } from './storeFlows.js'

/** Flows of wallets into and out of vaults, for confirmed blocks, from the rows of positions for the same block. */
export const flows = defineProjection({
  name: 'flows',
  tables: [{ table: flowsTable, state: { leftOut: 'follows from balances and the events of vaults' } }],
  needs: { positions: positionsRows },
  configuration: listFlowsVaults,
  lines: (vaults) => [
    { line: 'rules 1', from: 0 },
    // Who holds for others is followed through the whole past, as in positions.
    ...[...vaults].map(([id, { line }]) => ({ line, from: 0, of: `vault ${id}` })),
  ],
  derive: (block, { config, needs }) => deriveFlows(block, needs.positions, config),
})
