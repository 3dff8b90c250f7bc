import type { Queryable } from '../../postgres/pool.js'
import { vaultsOf } from '../../vaults/configured/index.js'
import { opportunitiesOf } from '../catalogue/index.js'

/** A vault in which somebody ever had a lot. */
export type LotVault = {
  vaultId: number
  chainId: number
  address: string
  assetDecimals: number
  opportunityId: string | null
}

/** Vaults in which somebody ever had a lot, in the order of exports. */
export async function listLotVaults(db: Queryable): Promise<LotVault[]> {
  return db<LotVault[]>`
    select v.id as "vaultId", v.chain_id as "chainId", v.address, v.asset_decimals as "assetDecimals", o.id as "opportunityId"
    from ${vaultsOf(db)} v
    left join ${opportunitiesOf(db)} o on o.chain_id = v.chain_id and o.vault_address = v.address
    where exists (select from lot_changes c where c.vault_id = v.id)
    order by v.chain_id, v.address collate "C"`
}

/** The shares of a lot from an instant on. */
export type LotChangeRow = { at: Date; wallet: string; distributorId: string; after: string }

const rowsAtOnce = 5_000

/** Each change of the lots of a vault before an instant, in the order of the chain. */
export function streamLotChanges(db: Queryable, vaultId: number, to: Date): AsyncIterable<LotChangeRow[]> {
  const rows = db<LotChangeRow[]>`
    select block_timestamp as at, hex_text(wallet) as wallet, distributor_id as "distributorId", after::text as after
    from lot_changes where vault_id = ${vaultId} and block_timestamp < ${to}
    order by block_number, transaction_index, wallet, distributor_id`
  return rows.cursor(rowsAtOnce)
}
