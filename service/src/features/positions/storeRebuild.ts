import type { DerivedRows } from '../../derive/rows.js'
import type { Queryable, Transaction } from '../../postgres/pool.js'
import { copyRows } from '../../postgres/table.js'
import type { Place } from '../../sync/projection.js'
import { settleHeld } from './storeHeld.js'
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
  await tx`truncate ${balances}, ${lots}`
  // The last change of each is found by hashing: sorting the whole history takes thrice as long.
  const last = tx`min(block_number) as first_block, max((block_number << 24) | transaction_index) as place`
  const isLast = tx`(c.block_number << 24) | c.transaction_index = last.place`
  await tx`
    insert into ${balances} (chain_id, vault_id, wallet, shares, attributed, first_block)
    select c.chain_id, vault_id, wallet, c.after, c.attributed_after, last.first_block
    from ${changes} c join (select vault_id, wallet, ${last} from ${changes} group by vault_id, wallet) last
      using (vault_id, wallet) where ${isLast}`
  await tx`
    insert into ${lots} (chain_id, vault_id, wallet, distributor_id, shares, first_block)
    select c.chain_id, vault_id, wallet, distributor_id, c.after, last.first_block
    from ${lotChanges} c join (
      select vault_id, wallet, distributor_id, ${last} from ${lotChanges} group by vault_id, wallet, distributor_id
    ) last using (vault_id, wallet, distributor_id) where ${isLast}`
  await settleHeld(tx, { place })
  await tx`analyze ${balances}`
  await tx`analyze ${lots}`
}
