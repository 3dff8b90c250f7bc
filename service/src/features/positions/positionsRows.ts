import { type DerivedRows, emptyRows } from '../../derive/rows.js'
import type { Result } from '../../sync/defineProjection.js'
import { isTakenBack } from './storeTakenBack.js'

/** The rows of positions for a block, for projections that follow. `part` selects rows by vault. */
export const positionsRows: Result<DerivedRows> = { name: 'positions', empty: emptyRows(), part: isTakenBack }
