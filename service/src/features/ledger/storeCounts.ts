import type { Queryable, Transaction } from '../../postgres/pool.js'

/** The key by which entries are counted. */
export type Counted = { chainId: number; vaultId: number; distributorId: string; kind: string }

const column = <T, V>(rows: readonly T[], read: (row: T) => V): V[] => rows.map(read)

/** Counts entries that were written in the same transaction. */
export async function addCounts(db: Queryable, rows: readonly Counted[]): Promise<void> {
  await db`
    insert into interaction_counts as n (chain_id, vault_id, distributor_id, kind, entries)
    select chain_id, vault_id, distributor_id, kind, count(*)
    from unnest(${column(rows, (r) => r.chainId)}::bigint[], ${column(rows, (r) => r.vaultId)}::int[],
      ${column(rows, (r) => r.distributorId)}::text[], ${column(rows, (r) => r.kind)}::text[])
      as t (chain_id, vault_id, distributor_id, kind)
    group by chain_id, vault_id, distributor_id, kind
    on conflict (chain_id, vault_id, distributor_id, kind) do update set entries = n.entries + excluded.entries`
}

/**
 * Takes the entries of a range of blocks out of the counts. It is called before they go, in the same transaction, by
 * who holds the chain's cursor: nobody else writes entries meanwhile.
 */
export async function removeCountsOf(
  db: Queryable,
  { chainId, from, to }: { chainId: number; from: number; to: number },
): Promise<void> {
  await db`
    merge into interaction_counts n using (
      select chain_id, vault_id, distributor_id, kind, count(*) as entries from interactions
      where chain_id = ${chainId} and block_number between ${from} and ${to}
      group by chain_id, vault_id, distributor_id, kind) gone
    on n.chain_id = gone.chain_id and n.vault_id = gone.vault_id and n.distributor_id = gone.distributor_id
      and n.kind = gone.kind
    when matched and n.entries = gone.entries then delete
    when matched then update set entries = n.entries - gone.entries`
}

/** Counts all entries of one table into another, empty or not. */
export async function countInteractions(tx: Transaction, entries: string, counts: string): Promise<void> {
  await tx`truncate ${tx(counts)}`
  await tx`
    insert into ${tx(counts)} (chain_id, vault_id, distributor_id, kind, entries)
    select chain_id, vault_id, distributor_id, kind, count(*) from ${tx(entries)}
    group by chain_id, vault_id, distributor_id, kind`
}
