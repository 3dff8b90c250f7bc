import type { DerivedRows } from '../../derive/rows.js'
import type { Projection } from '../../sync/projection.js'
import { listTakenBack } from '../positions/index.js'
import { deriveFlows, type Flow } from './flows.js'
import { type ConfiguredVault, flowsTable, listFlowsVaults, recordFlows, removeFlowsAbove } from './storeFlows.js'

export type FlowsProjection = Projection<ReadonlyMap<number, ConfiguredVault>, null, readonly Flow[]>

/** What wallets put into vaults and took out of them: of confirmed blocks, from what positions gave of the same block. */
export const flows: FlowsProjection = {
  name: 'flows',
  tables: [{ table: flowsTable }],
  needs: ['positions'],
  at: 'confirmed',
  configuration: listFlowsVaults,
  lines: (vaults) => [
    { line: 'rules 1', from: 0 },
    // Who holds for others is followed through the whole past, as in positions.
    ...[...vaults].map(([id, { line }]) => ({ line, from: 0, of: `vault ${id}` })),
  ],
  sources: () => [],
  restrict: (vaults) => vaults,
  open: () => null,
  load: async () => undefined,
  derive: (block, { config, results }) =>
    deriveFlows(block, results.get('positions') as DerivedRows | undefined, config),
  write: (db, rows, { chainId, place, isLive }) => recordFlows(db, rows.flat(), { chainId, place, isLive }),
  size: () => 0,
  rewind: async (tx, above, by) => {
    await removeFlowsAbove(tx, above, listTakenBack(by))
    return 0
  },
}
