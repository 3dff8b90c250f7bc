import { hex, int4, int8, nullable, numeric, seconds } from '../../postgres/columns.js'
import type { Fragment, Queryable } from '../../postgres/pool.js'
import { describeTable } from '../../postgres/table.js'

export const shareMintsTable = describeTable('share_mints', {
  chainId: [int8],
  blockNumber: [int8],
  timestamp: [seconds, 'block_timestamp'],
  vaultId: [int4],
  logIndex: [int4],
  blockHash: [hex],
  transactionHash: [hex],
  shares: [numeric],
  assets: [nullable(numeric)],
})

/** The mints of shares, as statements of other rooms read them. */
export const shareMintsOf = (db: Queryable): Fragment => db.view`(
  select vault_id, block_number, block_hash, block_timestamp, transaction_hash, log_index, shares, assets from share_mints)`
