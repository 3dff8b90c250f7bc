import { emptyHolder } from '../../derive/lots.js'
import { keepRequest } from '../../derive/openRequests.js'
import { type DeriveState, holderKey } from '../../derive/rows.js'
import type { RequestOwner } from '../../derive/stateKeys.js'
import type { Queryable } from '../../postgres/pool.js'
import { findRows } from '../../postgres/table.js'
import type { Place } from '../../sync/projection.js'
import { balancesTable, lotsTable, requestsTable } from './storePositions.js'

/** Adds holders that blocks are about to change to a state that does not know them. */
export async function addHolders(
  db: Queryable,
  state: DeriveState,
  keys: ReadonlyMap<string, { vaultId: number; wallet: string }>,
  place: Place,
): Promise<void> {
  if (keys.size === 0) return
  const holders = [...keys.values()]
  const [balances, lots] = await Promise.all([
    findRows(db, place(balancesTable), ['vaultId', 'wallet'], holders),
    findRows(db, place(lotsTable), ['vaultId', 'wallet'], holders),
  ])
  for (const key of keys.keys()) state.holders.set(key, emptyHolder())
  for (const { vaultId, wallet, shares, attributed } of balances)
    state.holders.set(holderKey(vaultId, wallet), { shares, attributed, lots: new Map() })
  for (const { vaultId, wallet, distributorId, shares } of lots)
    state.holders.get(holderKey(vaultId, wallet))?.lots.set(distributorId, shares)
}

/** The same with the requests of controllers that are open at the time of a block, oldest first. */
export async function addRequests(
  db: Queryable,
  state: DeriveState,
  keys: ReadonlyMap<string, RequestOwner>,
  place: Place,
  timestamp: number,
): Promise<void> {
  if (keys.size === 0) return
  const open = await findRows(db, place(requestsTable), ['vaultId', 'kind', 'controller'], [...keys.values()], {
    ...{ without: ['chainId'], values: [timestamp] },
    tail: `where r.remaining > 0 and (r.open_until is null or r.open_until >= ?::numeric)
order by r.block_number, r.log_index`,
  })
  for (const key of keys.keys()) state.requests.set(key, [])
  for (const lot of open) keepRequest(state, lot)
}
