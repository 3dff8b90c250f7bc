import { type DerivedRows, emptyRows } from '../../derive/rows.js'
import type { Result } from '../../sync/defineProjection.js'
import { isTakenBack } from './storeTakenBack.js'

/** What positions derive of a block, for projections that follow them. Their rows are told apart by vault. */
export const positionsRows: Result<DerivedRows> = { name: 'positions', empty: emptyRows(), part: isTakenBack }
