import type { PageRequest } from '../../kernel/page.js'
import type { Fragment, Queryable } from '../../postgres/pool.js'
import { cursorsOf } from '../../sync/storeCursors.js'
import { depths } from '../../sync/storeDepths.js'
import { vaultsOf } from '../../vaults/configured/index.js'
import { opportunitiesOf } from '../catalogue/index.js'
import type { ActivityRow } from './activity.js'

export const sortKeys = ['date', 'usdValue', 'amount', 'opportunity', 'distributor', 'wallet', 'type'] as const
export type SortBy = (typeof sortKeys)[number]
export type SortOrder = 'asc' | 'desc'
export type Sort = { by: SortBy; order: SortOrder }

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
 * Which entries a list is of. Verified are those at or past the chain's confirmation depth, or final: nothing is marked,
 * depth follows from the cursor of the chain, up to which alone there are entries.
 */
type Scope = {
  filter: ActivityFilter
  depths: readonly { chainId: number; number: number }[]
  /** Vaults of the filter; undefined for all there are. */
  vaultIds: readonly number[] | undefined
}

/** Entries of one value of a sort, which lie in it one after the other. */
type Group = { ids: string[]; entries: number }

/** Up to this number of matching entries all are read: an index of the order could scan many others. */
const fewEntries = 1_000

const opportunities = (db: Queryable) => db`
  ${vaultsOf(db)} v join ${opportunitiesOf(db)} o on o.chain_id = v.chain_id and o.vault_address = v.address`

/** Entries of vaults without an opportunity are not listed; there rarely are any. */
async function findScope(db: Queryable, filter: ActivityFilter): Promise<Scope> {
  const { opportunityId, productId } = filter
  const all = opportunityId === undefined && productId === undefined
  const [row] = await db<{ depths: Scope['depths']; vaultIds: number[] | null }[]>`
    select (
      select coalesce(jsonb_agg(jsonb_build_object('chainId', d.chain_id, 'number', d.confirmed)), '[]')
      from ${depths(db)} d ${filter.chainId === undefined ? db`` : db`where d.chain_id = ${filter.chainId}`}) as depths,
    case when ${
      all
        ? db`exists (select from interaction_counts n
            where not exists (select from ${opportunities(db)} where v.id = n.vault_id))`
        : db`true`
    } then (
      select coalesce(array_agg(v.id), '{}') from ${opportunities(db)} where true
      ${opportunityId === undefined ? db`` : db`and o.id = ${opportunityId}`}
      ${
        productId === undefined
          ? db``
          : db`and exists (select from opportunity_products p where p.opportunity_id = o.id and p.product_id = ${productId})`
      }) end as "vaultIds"`
  return { filter, depths: row?.depths ?? [], vaultIds: row?.vaultIds ?? undefined }
}

/** The conditions on a row `i` of entries or of their counts. */
function conditions(db: Queryable, { filter, vaultIds }: Scope): Fragment {
  const [first] = vaultIds ?? []
  return db`true
    ${filter.kind === undefined ? db`` : db`and i.kind = ${filter.kind}`}
    ${filter.distributorId === undefined ? db`` : db`and i.distributor_id = ${filter.distributorId}`}
    ${vaultIds === undefined ? db`` : first !== undefined && vaultIds.length === 1 ? db`and i.vault_id = ${first}` : db`and i.vault_id = any(${[...vaultIds]}::int[])`}
    ${filter.wallets === undefined ? db`` : db`and i.wallet = any(${[...filter.wallets]}::text[])`}
    ${filter.transactionHash === undefined ? db`` : db`and i.transaction_hash = ${filter.transactionHash}`}`
}

/** Whether an entry `i` is verified, and whether it is not yet. */
const anyChain = (db: Queryable, { depths }: Scope, is: (depth: Scope['depths'][number]) => Fragment): Fragment =>
  db`(${depths.reduce((others, depth) => db`${others} or ${is(depth)}`, db`false`)})`
const verified = (db: Queryable, scope: Scope) =>
  anyChain(db, scope, ({ chainId, number }) => db`i.chain_id = ${chainId} and i.block_number <= ${number}`)
const unverified = (db: Queryable, scope: Scope) =>
  anyChain(db, scope, ({ chainId, number }) => db`i.chain_id = ${chainId} and i.block_number > ${number}`)

/**
 * The number of entries for each value of a sort, in its order; sorts whose values few entries share have one group. Stored
 * counts are used, less the few entries that are not verified yet. For wallets or a transaction no counts are stored; their
 * entries are few.
 */
async function listGroups(db: Queryable, scope: Scope, { by, order }: Sort): Promise<Group[]> {
  const { filter, depths } = scope
  const entries =
    filter.wallets || filter.transactionHash
      ? db`
        select i.vault_id, i.distributor_id, i.kind, 1 as entries from interactions i
        where ${conditions(db, scope)} and ${verified(db, scope)}`
      : db`
        select i.vault_id, i.distributor_id, i.kind, i.entries from interaction_counts i
        where ${conditions(db, scope)} and i.chain_id = any(${depths.map(({ chainId }) => chainId)}::bigint[])
        union all select i.vault_id, i.distributor_id, i.kind, -1 from interactions i
        where ${conditions(db, scope)} and ${unverified(db, scope)}`
  if (!isGrouped(by))
    return db<Group[]>`
      select array[]::text[] as ids, coalesce(sum(i.entries), 0)::bigint as entries from (${entries}) i`
  const { key, id } = groupOf(db, by)
  return db<Group[]>`
    select array_agg(distinct ${id}) as ids, sum(i.entries)::bigint as entries from (${entries}) i
    ${by === 'opportunity' ? db`join ${opportunities(db)} on v.id = i.vault_id` : db``}
    group by ${key} having sum(i.entries) > 0 order by ${key} ${order === 'asc' ? db`asc` : db`desc`}`
}

/** Sorts whose values many entries share. */
const groupedSorts = ['opportunity', 'distributor', 'type'] as const
type GroupedBy = (typeof groupedSorts)[number]
const isGrouped = (by: SortBy): by is GroupedBy => (groupedSorts as readonly SortBy[]).includes(by)

/** The expression that groups entries in a sort, and the id of a group. Text is in the order of lower-cased code points. */
function groupOf(db: Queryable, by: GroupedBy): { key: Fragment; id: Fragment } {
  switch (by) {
    case 'opportunity':
      return { key: db`lower(o.name) collate "C"`, id: db`i.vault_id::text` }
    case 'distributor':
      return { key: db`lower(i.distributor_id) collate "C"`, id: db`i.distributor_id` }
    case 'type':
      return { key: db`i.kind collate "C"`, id: db`i.kind` }
  }
}

/** Equal values are in ascending order of id, in both directions of the sort; `reversed` reverses everything. */
function ordering(db: Queryable, { by, order }: Sort, reversed = false): Fragment {
  const way = (order === 'asc') === reversed ? db`desc` : db`asc`
  const id = byId(db, reversed)
  switch (by) {
    case 'date':
      return db`i.block_timestamp ${way}, i.chain_id ${way}, i.block_number ${way}, i.log_index ${way}, ${id}`
    case 'usdValue':
      return db`i.amount_usd ${way} ${reversed ? db`nulls first` : db`nulls last`}, ${id}`
    case 'amount':
      return db`i.amount ${way} ${reversed ? db`nulls first` : db`nulls last`}, ${id}`
    case 'wallet':
      return db`i.wallet ${way}, ${id}`
    default:
      return db`${groupOf(db, by).key} ${way}, ${id}`
  }
}

const byId = (db: Queryable, reversed = false) => (reversed ? db`i.id desc` : db`i.id`)

type Slice = { limit: number; offset: number }

/** Entries to choose a slice from: which, in what order, and how many they are. */
type Choice = { where: Fragment; order(reversed: boolean): Fragment; entries: number; isMerged?: boolean }

/** Ids of the entries of a slice. One in the second half is walked to from the end. */
function idsOf(db: Queryable, scope: Scope, { where, order, entries, isMerged }: Choice, slice: Slice): Fragment {
  const chosen = db`${conditions(db, scope)} and ${verified(db, scope)} and ${where}`
  const reversed = slice.offset > entries / 2
  const limit = Math.min(slice.limit, entries - slice.offset)
  const offset = reversed ? entries - slice.offset - limit : slice.offset
  const by = order(reversed)
  const end = db`order by ${by} limit ${limit} offset ${offset}`
  if (entries <= fewEntries)
    return db`with few as materialized (select * from interactions i where ${chosen}) select i.id from few i ${end}`
  if (!isMerged) return db`select i.id from interactions i where ${chosen} ${end}`
  // An index has the entries of each kind by time.
  const kinds = ['deposit', 'withdraw'].map(
    (kind) => db`(
      select i.id, i.block_timestamp, i.chain_id, i.block_number, i.log_index from interactions i
      where i.kind = ${kind} and ${chosen} order by ${by} limit ${limit + offset})`,
  )
  return db`select i.id from (${unionOf(db, kinds)}) i ${end}`
}

const unionOf = (db: Queryable, [first, ...others]: readonly Fragment[]): Fragment =>
  others.reduce((all, part) => db`${all} union all ${part}`, first ?? db`select null::uuid as id`)

/** The part of a page that each group has. Groups that are in it whole are read at once. */
function idsOfGroups(
  db: Queryable,
  scope: Scope,
  input: { by: GroupedBy; groups: readonly Group[] } & Slice,
): Fragment {
  const { by, groups, limit, offset } = input
  const whole: string[] = []
  const parts: Fragment[] = []
  const member = (ids: readonly string[]) => {
    // One group is all there is: said twice, it would be taken for rarer than it is.
    if (groups.length === 1) return db`true`
    if (by === 'opportunity') return db`i.vault_id = any(${[...ids]}::int[])`
    const name = by === 'distributor' ? db`i.distributor_id` : db`i.kind`
    return ids.length === 1 && ids[0] !== undefined ? db`${name} = ${ids[0]}` : db`${name} = any(${[...ids]}::text[])`
  }
  let start = 0
  for (const { ids, entries } of groups) {
    const from = Math.max(offset - start, 0)
    const to = Math.min(offset + limit - start, entries)
    start += entries
    if (from >= to) continue
    if (to - from === entries) whole.push(...ids)
    else {
      const choice = { where: member(ids), order: (reversed: boolean) => byId(db, reversed), entries }
      parts.push(db`(${idsOf(db, scope, choice, { limit: to - from, offset: from })})`)
    }
  }
  if (whole.length > 0)
    parts.push(db`
      (select i.id from interactions i where ${conditions(db, scope)} and ${verified(db, scope)} and ${member(whole)})`)
  return unionOf(db, parts)
}

const columns = (db: Queryable) => db`i.id, o.id as "opportunityId", i.kind, i.transaction_hash as "transactionHash",
  i.chain_id as "chainId", i.block_timestamp as "blockTimestamp", i.wallet, i.assets,
  v.asset_decimals as "assetDecimals", i.amount is not null as "isKnown", i.amount_usd as "amountUsd", t.symbol as "tokenSymbol",
  t.logo_url as "tokenLogoUrl", i.is_swap as "isSwap", i.distributor_id as "distributorId", i.log_index as "logIndex",
  i.block_number as "blockNumber", i.block_number <= coalesce(c.finalized_number, -1) as "isFinal", i.attribution`

/** Joins the catalogue to entries `i`. */
const described = (db: Queryable) => db`
  join ${cursorsOf(db)} c on c.chain_id = i.chain_id
  join ${vaultsOf(db)} v on v.id = i.vault_id
  join ${opportunitiesOf(db)} o on o.chain_id = v.chain_id and o.vault_address = v.address
  left join tokens t on t.chain_id = v.chain_id and t.address = lower(v.asset)`

/** Entries by their ids, with what the catalogue says of them. */
async function readEntries(db: Queryable, ids: Fragment, sort: Sort): Promise<ActivityRow[]> {
  return db<ActivityRow[]>`
    select ${columns(db)} from (${ids}) p join interactions i on i.id = p.id ${described(db)}
    order by ${ordering(db, sort)}`
}

/** Entries of a set of their rows, in the order of the chain's logs. */
export async function readEntriesOf(db: Queryable, rows: Fragment): Promise<ActivityRow[]> {
  return db<ActivityRow[]>`
    select ${columns(db)} from ${rows} i ${described(db)} order by i.block_number, i.log_index, i.id`
}

/** Of some entries by their ids: which are verified at all, and those that a filter lets through. */
export async function listVerified(
  db: Queryable,
  filter: ActivityFilter,
  ids: readonly string[],
): Promise<{ standing: ReadonlySet<string>; rows: ActivityRow[] }> {
  if (ids.length === 0) return { standing: new Set(), rows: [] }
  const scope = await findScope(db, filter)
  const chosen = db`i.id = any(${[...ids]}::uuid[]) and ${verified(db, scope)}`
  const found = await db<{ id: string }[]>`select i.id from interactions i where ${chosen}`
  const listed = db`(select * from interactions i where ${chosen} and ${conditions(db, scope)})`
  const rows = found.length === 0 ? [] : await readEntriesOf(db, listed)
  return { standing: new Set(found.map(({ id }) => id)), rows }
}

/** One page of verified entries in a total order, and how many there are in all. */
export async function listActivity(
  db: Queryable,
  filter: ActivityFilter,
  request: PageRequest,
  sort: Sort = { by: 'date', order: 'desc' },
): Promise<{ rows: ActivityRow[]; total: number }> {
  const scope = await findScope(db, filter)
  const groups = await listGroups(db, scope, sort)
  const total = groups.reduce((sum, { entries }) => sum + entries, 0)
  const { limit, offset } = request
  if (offset >= total) return { rows: [], total }
  const isMerged = sort.by === 'date' && !filter.kind && !filter.distributorId && scope.vaultIds?.length !== 1
  const choice = {
    where: db`true`,
    order: (reversed: boolean) => ordering(db, sort, reversed),
    entries: total,
    isMerged,
  }
  if ((sort.by === 'usdValue' || sort.by === 'amount') && total > fewEntries)
    return { rows: await readByValue(db, scope, { sort, total, limit, offset }), total }
  const ids = isGrouped(sort.by)
    ? idsOfGroups(db, scope, { by: sort.by, groups, limit, offset })
    : idsOf(db, scope, choice, { limit, offset })
  return { rows: await readEntries(db, ids, sort), total }
}

/** Entries by their amount or what it is worth: whichever way the sort goes, those without come last. */
async function readByValue(
  db: Queryable,
  scope: Scope,
  { sort, total, limit, offset }: { sort: Sort; total: number } & Slice,
): Promise<ActivityRow[]> {
  const way = (reversed: boolean) => ((sort.order === 'asc') === reversed ? db`desc` : db`asc`)
  const value = sort.by === 'amount' ? db`i.amount` : db`i.amount_usd`
  const without = db`${value} is null`
  // The first page need not know where those without begin.
  const [last] =
    offset === 0
      ? [{ entries: 0 }]
      : await db<{ entries: number }[]>`
        select count(*) as entries from interactions i
        where ${conditions(db, scope)} and ${verified(db, scope)} and ${without}`
  const entries = total - (last?.entries ?? 0)
  const where = db`${value} is not null`
  const order = (reversed: boolean) => db`${value} ${way(reversed)}, ${byId(db, reversed)}`
  const priced =
    offset < entries ? await readEntries(db, idsOf(db, scope, { where, order, entries }, { limit, offset }), sort) : []
  const start = Math.max(offset - entries, 0)
  const left = Math.min(limit, total - offset) - priced.length
  if (left <= 0) return priced
  const rest = {
    where: without,
    order: (reversed: boolean) => byId(db, reversed),
    entries: total - (offset === 0 ? priced.length : entries),
  }
  return [...priced, ...(await readEntries(db, idsOf(db, scope, rest, { limit: left, offset: start }), sort))]
}
