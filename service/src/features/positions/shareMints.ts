import { defineProjection } from '../../sync/defineProjection.js'
import { positionsRows } from './positionsRows.js'
import { shareMintsTable } from './storeMints.js'

/** The prices at which vaults have sold shares, and the shares they minted otherwise, of confirmed blocks. */
export const shareMints = defineProjection({
  name: 'share mints',
  tables: [{ table: shareMintsTable, state: { leftOut: 'follows from the logs of vaults alone' } }],
  needs: { positions: positionsRows },
  derive: (_block, { needs }) => needs.positions.shareMints,
})
