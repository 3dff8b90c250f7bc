import type { Queryable } from '../../kernel/database.js'
import type { PageRequest } from '../../kernel/page.js'
import type { ActivityRow } from './activity.js'

export const sortKeys = ['date', 'usdValue', 'amount', 'opportunity', 'distributor', 'wallet', 'type'] as const
export type SortBy = (typeof sortKeys)[number]
export type SortOrder = 'asc' | 'desc'

export type ActivityFilter = {
  kind?: 'deposit' | 'withdraw' | undefined
  distributorId?: string | undefined
  opportunityId?: string | undefined
  productId?: string | undefined
  /** Lower-case. */
  wallets?: readonly string[] | undefined
  transactionHash?: string | undefined
  chainId?: number | undefined
}

/**
 * Entries that are verified now: at or past the chain's confirmation depth, or final. Nothing is marked; depth follows
 * from the cursor of the chain.
 */
const verified = (db: Queryable) => db`
  interactions i
  join chain_cursors c on c.chain_id = i.chain_id
  join chains ch on ch.chain_id = i.chain_id
  join vaults v on v.id = i.vault_id
  join opportunities o on o.chain_id = v.chain_id and o.vault_address = v.address`

const conditions = (db: Queryable, filter: ActivityFilter) => db`
  i.block_number <= greatest(c.head_number - ch.confirmations + 1, coalesce(c.finalized_number, -1))
  ${filter.kind === undefined ? db`` : db`and i.kind = ${filter.kind}`}
  ${filter.distributorId === undefined ? db`` : db`and i.distributor_id = ${filter.distributorId}`}
  ${filter.opportunityId === undefined ? db`` : db`and o.id = ${filter.opportunityId}`}
  ${
    filter.productId === undefined
      ? db``
      : db`and exists (select from opportunity_products p where p.opportunity_id = o.id and p.product_id = ${filter.productId})`
  }
  ${filter.wallets === undefined ? db`` : db`and i.wallet = any(${[...filter.wallets]}::text[])`}
  ${filter.transactionHash === undefined ? db`` : db`and i.transaction_hash = ${filter.transactionHash}`}
  ${filter.chainId === undefined ? db`` : db`and i.chain_id = ${filter.chainId}`}`

function ordering(db: Queryable, by: SortBy, order: SortOrder) {
  const way = order === 'asc' ? db`asc` : db`desc`
  switch (by) {
    case 'date':
      return db`i.block_timestamp ${way}, i.chain_id ${way}, i.block_number ${way}, i.log_index ${way}, i.id`
    case 'usdValue':
      return db`i.amount_usd ${way} nulls last, i.id`
    case 'amount':
      return db`i.amount ${way}, i.id`
    case 'opportunity':
      return db`lower(o.name) collate "C" ${way}, i.id`
    case 'distributor':
      return db`i.distributor_id ${way}, i.id`
    case 'wallet':
      return db`i.wallet ${way}, i.id`
    case 'type':
      return db`i.kind collate "C" ${way}, i.id`
  }
}

const columns = (db: Queryable) => db`i.id, o.id as "opportunityId", i.kind, i.transaction_hash as "transactionHash",
  i.chain_id as "chainId", i.block_timestamp as "blockTimestamp", i.wallet, i.assets,
  v.asset_decimals as "assetDecimals", i.amount_usd as "amountUsd", t.symbol as "tokenSymbol",
  t.logo_url as "tokenLogoUrl", i.is_swap as "isSwap", i.distributor_id as "distributorId", i.log_index as "logIndex",
  i.block_number as "blockNumber", i.block_number <= coalesce(c.finalized_number, -1) as "isFinal", i.attribution`

/** One page of verified entries in a total order, and how many there are in all. */
export async function listActivity(
  db: Queryable,
  filter: ActivityFilter,
  request: PageRequest,
  sort: { by: SortBy; order: SortOrder } = { by: 'date', order: 'desc' },
): Promise<{ rows: ActivityRow[]; total: number }> {
  const [rows, [count]] = await Promise.all([
    db<ActivityRow[]>`
      select ${columns(db)} from ${verified(db)}
      left join tokens t on t.chain_id = v.chain_id and t.address = lower(v.asset)
      where ${conditions(db, filter)}
      order by ${ordering(db, sort.by, sort.order)} limit ${request.limit} offset ${request.offset}`,
    db<{ total: number }[]>`select count(*) as total from ${verified(db)} where ${conditions(db, filter)}`,
  ])
  return { rows, total: count?.total ?? 0 }
}

export type WatchedTransaction = {
  chainId: number
  blockNumber: number
  blockHash: string
  timestamp: Date
  from: string
  to: string | null
  distributorId: string | null
  codes: string[]
  schema: string | null
  signatureValid: boolean | null
  /** The action of ours its signed suffix names. */
  actionId: string | null
  retracted: boolean
}

/** What the watcher saw of a transaction, once per block it was in; orphaned blocks are marked. Newest last. */
export async function listWatched(db: Queryable, txHash: string, chainId?: number): Promise<WatchedTransaction[]> {
  return db<WatchedTransaction[]>`
    select chain_id as "chainId", block_number as "blockNumber", block_hash as "blockHash",
      block_timestamp as timestamp, sender as "from", target as "to", distributor_id as "distributorId", codes, schema,
      signature_valid as "signatureValid", action_id as "actionId", retracted
    from watched where transaction_hash = ${txHash.toLowerCase()}
      ${chainId === undefined ? db`` : db`and chain_id = ${chainId}`}
    order by chain_id, retracted desc, block_number`
}
