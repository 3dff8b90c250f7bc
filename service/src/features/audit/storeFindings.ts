import type { Queryable } from '../../postgres/pool.js'
import { chainsOf } from '../../rpc/storeChains.js'
import { transactionAttributionsOf } from '../ledger/index.js'

type MonthOf = { vaultId: number; distributorId: string; from: Date; to: Date }

/** The lots of a distributor in a vault just before an instant. */
export async function listHeldBefore(
  db: Queryable,
  { vaultId, distributorId, from }: MonthOf,
): Promise<{ wallet: string; shares: string }[]> {
  return db<{ wallet: string; shares: string }[]>`
    select hex_text(wallet) as wallet, after::text as shares from (
      select distinct on (c.wallet) c.wallet, c.after from lot_changes c
      where c.vault_id = ${vaultId} and c.distributor_id = ${distributorId} and c.block_timestamp < ${from}
      order by c.wallet, c.block_number desc, c.transaction_index desc) l
    where after > 0`
}

export type ChangeRow = {
  at: Date
  blockNumber: number
  wallet: string
  before: string
  after: string
  hash: string | null
  sender: string | null
  target: string | null
  attribution: 'signed' | 'unsigned' | 'legacy' | null
  problems: string[] | null
}

/** Each change of a distributor's lots of a vault in a range with its transaction, in the order of the chain. */
export async function listMonthChanges(
  db: Queryable,
  { vaultId, distributorId, from, to }: MonthOf,
): Promise<ChangeRow[]> {
  return db<ChangeRow[]>`
    with entered as (
      select i.block_number, i.transaction_index, i.wallet,
        case when bool_or(i.attribution = 'legacy') then 'legacy' when bool_or(i.attribution = 'unsigned') then 'unsigned'
          else 'signed' end as attribution
      from interactions i
      where i.vault_id = ${vaultId} and i.distributor_id = ${distributorId} and i.kind = 'deposit'
        and i.block_timestamp >= ${from} and i.block_timestamp < ${to}
      group by i.block_number, i.transaction_index, i.wallet)
    select c.block_timestamp as at, c.block_number as "blockNumber", hex_text(c.wallet) as wallet, c.before::text as before,
      c.after::text as after, hex_text(t.transaction_hash) as hash, hex_text(t.sender) as sender, hex_text(t.target) as target,
      e.attribution, t.problems
    from lot_changes c
    left join entered e on e.block_number = c.block_number and e.transaction_index = c.transaction_index
      and e.wallet = hex_text(c.wallet)
    left join ${transactionAttributionsOf(db)} t on t.chain_id = c.chain_id and t.block_number = c.block_number
      and t.transaction_index = c.transaction_index and not t.retracted
    where c.vault_id = ${vaultId} and c.distributor_id = ${distributorId}
      and c.block_timestamp >= ${from} and c.block_timestamp < ${to}
    order by c.block_number, c.transaction_index, c.wallet`
}

export type PlaceRow = { chainId: number; blockNumber: number; transactionIndex: number }

/** Transactions of a range with deposits that name a distributor, of which none was credited to it. */
export async function listUncredited(
  db: Queryable,
  { distributorId, from, to }: Omit<MonthOf, 'vaultId'>,
): Promise<PlaceRow[]> {
  return db<PlaceRow[]>`
    select distinct f.chain_id as "chainId", f.block_number as "blockNumber", f.transaction_index as "transactionIndex"
    from flows f
    join ${transactionAttributionsOf(db)} t on t.chain_id = f.chain_id and t.block_number = f.block_number
      and t.transaction_index = f.transaction_index and not t.retracted
    where f.kind = 'deposit' and f.block_timestamp >= ${from} and f.block_timestamp < ${to}
      and ${distributorId} = any(t.codes)
      and not exists (select from interactions i where i.chain_id = f.chain_id and i.block_number = f.block_number
        and i.transaction_index = f.transaction_index and i.distributor_id = ${distributorId})
    order by 1, 2, 3`
}

/** Contracts that carry the operations of smart accounts, which operators added to the standard ones. */
export async function listAddedEntryPoints(db: Queryable): Promise<string[]> {
  const rows = await db<{ address: string }[]>`
    select distinct lower(e) as address from ${chainsOf(db)} c cross join lateral unnest(c.entry_points) e`
  return rows.map(({ address }) => address)
}
