import type { DerivedRows } from '../../derive/rows.js'
import type { Queryable, Transaction } from '../../postgres/pool.js'
import { copyRows } from '../../postgres/table.js'
import type { Place } from '../../sync/projection.js'
import { balanceChangesTable, balancesTable, lotChangesTable, lotsTable, recordRequests } from './storePositions.js'

/** Writes changes into empty tables; the present they lead to follows by `settlePositions`. */
export async function copyPositions(db: Queryable, chainId: number, rows: DerivedRows, place: Place): Promise<void> {
  const shared = { chainId }
  if (rows.balanceChanges.length > 0) {
    const balanceChanges = await copyRows(db, place(balanceChangesTable), { shared })
    await balanceChanges.write(rows.balanceChanges)
    await balanceChanges.end()
  }
  if (rows.lotChanges.length > 0) {
    const lotChanges = await copyRows(db, place(lotChangesTable), { shared })
    await lotChanges.write(rows.lotChanges)
    await lotChanges.end()
  }
  await recordRequests(db, chainId, rows, place)
}

/** Makes balances and lots what all the changes lead to. */
export async function settlePositions(tx: Transaction, { place }: { place: Place }): Promise<void> {
  const table = (of: Parameters<Place>[0]) => tx(place(of).name)
  const [balances, changes] = [table(balancesTable), table(balanceChangesTable)]
  const [lots, lotChanges] = [table(lotsTable), table(lotChangesTable)]
  // One sort of the whole history is worth more memory than a query has.
  await tx`set local work_mem = '64MB'`
  await tx`truncate ${balances}, ${lots}`
  await tx`
    insert into ${balances} (chain_id, vault_id, wallet, shares, attributed, first_block)
    select distinct on (vault_id, wallet) chain_id, vault_id, wallet, after, attributed_after,
      min(block_number) over (partition by vault_id, wallet)
    from ${changes} order by vault_id, wallet, block_number desc, transaction_index desc`
  await tx`
    insert into ${lots} (chain_id, vault_id, wallet, distributor_id, shares, first_block)
    select distinct on (vault_id, wallet, distributor_id) chain_id, vault_id, wallet, distributor_id, after,
      min(block_number) over (partition by vault_id, wallet, distributor_id)
    from ${lotChanges} order by vault_id, wallet, distributor_id, block_number desc, transaction_index desc`
  await tx`analyze ${balances}`
  await tx`analyze ${lots}`
}
