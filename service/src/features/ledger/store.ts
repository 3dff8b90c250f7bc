import type { PageRequest } from '../../kernel/page.js'
import type { Fragment, Queryable } from '../../postgres/pool.js'
import type { ActivityRow } from './activity.js'

export const sortKeys = ['date', 'usdValue', 'amount', 'opportunity', 'distributor', 'wallet', 'type'] as const
export type SortBy = (typeof sortKeys)[number]
export type SortOrder = 'asc' | 'desc'
type Sort = { by: SortBy; order: SortOrder }

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
  interactions i join (
    select c.chain_id, greatest(c.head_number - ch.confirmations + 1, coalesce(c.finalized_number, -1)) as number
    from chain_cursors c join chains ch on ch.chain_id = c.chain_id) depth
  on depth.chain_id = i.chain_id and i.block_number <= depth.number`

const conditions = (db: Queryable, filter: ActivityFilter) => db`
  ${filter.kind === undefined ? db`` : db`and i.kind = ${filter.kind}`}
  ${filter.distributorId === undefined ? db`` : db`and i.distributor_id = ${filter.distributorId}`}
  ${filter.wallets === undefined ? db`` : db`and i.wallet = any(${[...filter.wallets]}::text[])`}
  ${filter.transactionHash === undefined ? db`` : db`and i.transaction_hash = ${filter.transactionHash}`}
  ${filter.chainId === undefined ? db`` : db`and i.chain_id = ${filter.chainId}`}`

const opportunities = (db: Queryable) => db`
  vaults v join opportunities o on o.chain_id = v.chain_id and o.vault_address = v.address`

const opportunityConditions = (db: Queryable, filter: ActivityFilter) => db`
  ${filter.opportunityId === undefined ? db`` : db`and o.id = ${filter.opportunityId}`}
  ${
    filter.productId === undefined
      ? db``
      : db`and exists (select from opportunity_products p where p.opportunity_id = o.id and p.product_id = ${filter.productId})`
  }`

/** Entries of the filter, in vaults that have an opportunity. */
const filtered = (db: Queryable, filter: ActivityFilter) => db`
  ${verified(db)} where true ${conditions(db, filter)}
  and i.vault_id in (select v.id from ${opportunities(db)} where true ${opportunityConditions(db, filter)})`

/** Text order is that of lower-cased code points; what is equal is in ascending order of id, whichever way the sort goes. */
function ordering(db: Queryable, { by, order }: Sort, groups?: Groups) {
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
      return db`lower(${groups ? db`d.id` : db`i.distributor_id`}) collate "C" ${way}, i.id`
    case 'wallet':
      return db`i.wallet ${way}, i.id`
    case 'type':
      return db`${groups ? db`k.kind` : db`i.kind`} collate "C" ${way}, i.id`
  }
}

/** Rows that each stand for all entries of one value of a sort, and which entries those are. */
type Groups = { rows: Fragment; match: Fragment }

/** Values many entries share: there the page is walked from one value to the next, by id within each. */
function findGroups(db: Queryable, filter: ActivityFilter, by: SortBy): Groups | undefined {
  switch (by) {
    case 'opportunity': {
      const rows = db`(select o.*, v.id as vault_id from ${opportunities(db)} where true ${opportunityConditions(db, filter)}) o`
      return { rows, match: db`i.vault_id = o.vault_id` }
    }
    case 'distributor':
      return { rows: db`distributors d`, match: db`i.distributor_id = d.id` }
    case 'type':
      return { rows: db`(values ('deposit'), ('withdraw')) k (kind)`, match: db`i.kind = k.kind` }
    default:
      return undefined
  }
}

const columns = (db: Queryable) => db`i.id, o.id as "opportunityId", i.kind, i.transaction_hash as "transactionHash",
  i.chain_id as "chainId", i.block_timestamp as "blockTimestamp", i.wallet, i.assets,
  v.asset_decimals as "assetDecimals", i.amount_usd as "amountUsd", t.symbol as "tokenSymbol",
  t.logo_url as "tokenLogoUrl", i.is_swap as "isSwap", i.distributor_id as "distributorId", i.log_index as "logIndex",
  i.block_number as "blockNumber", i.block_number <= coalesce(c.finalized_number, -1) as "isFinal", i.attribution`

/**
 * The entries of one page, found before anything else is read of them, so that a page far down costs little more than
 * the index it walks.
 */
function pageOf(db: Queryable, filter: ActivityFilter, request: PageRequest, sort: Sort) {
  const slice = db`limit ${request.limit} offset ${request.offset}`
  const groups = findGroups(db, filter, sort.by)
  if (!groups) return db`select i.* from ${filtered(db, filter)} order by ${ordering(db, sort)} ${slice}`
  return db`
    select i.* from ${groups.rows}
    cross join lateral (
      select i.* from ${filtered(db, filter)} and ${groups.match}
      order by i.id limit ${request.offset + request.limit}) i
    order by ${ordering(db, sort, groups)} ${slice}`
}

/** One page of verified entries in a total order, and how many there are in all. */
export async function listActivity(
  db: Queryable,
  filter: ActivityFilter,
  request: PageRequest,
  sort: Sort = { by: 'date', order: 'desc' },
): Promise<{ rows: ActivityRow[]; total: number }> {
  const [rows, [count]] = await Promise.all([
    db<ActivityRow[]>`
      select ${columns(db)} from (${pageOf(db, filter, request, sort)}) i
      join chain_cursors c on c.chain_id = i.chain_id
      join vaults v on v.id = i.vault_id
      join opportunities o on o.chain_id = v.chain_id and o.vault_address = v.address
      left join tokens t on t.chain_id = v.chain_id and t.address = lower(v.asset)
      order by ${ordering(db, sort)}`,
    db<{ total: number }[]>`select count(*) as total from ${filtered(db, filter)}`,
  ])
  return { rows, total: count?.total ?? 0 }
}
