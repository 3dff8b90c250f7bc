import type { StateLines } from '../../sync/projection.js'
import { vaultsOf } from '../../vaults/configured/index.js'

/** The lines of ledger entries in the hash of the state: vaults by their addresses, since their ids differ between databases. */
export const interactionLines: StateLines = (db, chainId) => db`
  select concat_ws(' ', i.id, v.address, i.kind, i.block_number, i.block_hash, i.transaction_hash, i.log_index, i.wallet,
    i.distributor_id, i.attribution, i.assets, i.shares, i.is_swap) as line
  from interactions i join ${vaultsOf(db)} v on v.id = i.vault_id where i.chain_id = ${chainId}
  order by i.block_number, i.log_index, i.distributor_id collate "C", i.wallet`
