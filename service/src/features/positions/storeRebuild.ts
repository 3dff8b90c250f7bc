import type { BalanceChange, DeriveState, LotChange } from '../../derive/rows.js'
import type { Queryable, Transaction } from '../../postgres/pool.js'
import { type CopyOfRows, copyRows, createTwin, type Table, takeTwin, twinOf } from '../../postgres/table.js'
import { balanceChangesTable, balancesTable, lotChangesTable, lotsTable } from './storePositions.js'

/** Drops the requests and the used signatures of a chain. */
export async function removeRequests(tx: Transaction, chainId: number): Promise<void> {
  await tx`delete from request_changes where chain_id = ${chainId}`
  await tx`delete from requests where chain_id = ${chainId}`
  await tx`delete from used_signatures where chain_id = ${chainId}`
}

/** Tables of positions. */
const positionTables = [balanceChangesTable, lotChangesTable, balancesTable, lotsTable] as const

/** Where positions derived again are written: at once, where a chain has none yet, or beside the old ones. */
export type RebuiltPlace = 'own' | 'beside'

/** Makes room for positions derived again, which only this transaction sees. */
export async function openRebuilt(tx: Transaction, chainId: number): Promise<RebuiltPlace> {
  const [found] = await tx<{ any: boolean }[]>`
    select exists (select from balance_changes where chain_id = ${chainId}) or
      exists (select from vaults v join balances b on b.vault_id = v.id where v.chain_id = ${chainId}) as any`
  if (!found?.any) return 'own'
  for (const table of positionTables) await createTwin(tx, table)
  return 'beside'
}

/** Makes the positions of a chain those written beside them. */
export async function replacePositions(tx: Transaction, chainId: number): Promise<void> {
  // One comparison of the whole history is worth more memory than a query has.
  await tx`set local work_mem = '64MB'`
  for (const table of positionTables) await takeTwin<{ chainId: number }>(tx, table as never, tx`chain_id = ${chainId}`)
}

const twins = new Map(positionTables.map((table) => [table as unknown, twinOf(table as never)]))
const placed = <Row>(table: Table<Row>, place: RebuiltPlace): Table<Row> =>
  place === 'own' ? table : (twins.get(table) as unknown as Table<Row>)

export function copyBalanceChanges(
  db: Queryable,
  chainId: number,
  place: RebuiltPlace,
): Promise<CopyOfRows<BalanceChange>> {
  return copyRows(db, placed(balanceChangesTable, place), { shared: { chainId } })
}

export function copyLotChanges(db: Queryable, chainId: number, place: RebuiltPlace): Promise<CopyOfRows<LotChange>> {
  return copyRows(db, placed(lotChangesTable, place), { shared: { chainId } })
}

/** Writes the whole present state at once. */
export async function copyState(
  db: Queryable,
  chainId: number,
  state: DeriveState,
  place: RebuiltPlace,
): Promise<void> {
  const balances = await copyRows(db, placed(balancesTable, place), { shared: { chainId } })
  await balances.write(listBalances(state))
  await balances.end()
  const lots = await copyRows(db, placed(lotsTable, place), { shared: { chainId } })
  await lots.write(listLots(state))
  await lots.end()
}

function* listBalances(state: DeriveState) {
  for (const [key, { firstBlock, shares, attributed }] of state.holders)
    if (firstBlock !== undefined) yield { ...readHolderKey(key), shares, attributed, firstBlock }
}

function* listLots(state: DeriveState) {
  for (const [key, holder] of state.holders)
    for (const [distributorId, shares] of holder.lots) {
      const firstBlock = holder.lotBlocks?.get(distributorId)
      if (firstBlock !== undefined) yield { ...readHolderKey(key), distributorId, shares, firstBlock }
    }
}

/** The holder a key of the state names. */
function readHolderKey(key: string): { vaultId: number; wallet: string } {
  const colon = key.indexOf(':')
  return { vaultId: Number(key.slice(0, colon)), wallet: key.slice(colon + 1) }
}
