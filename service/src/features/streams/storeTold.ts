import type { Queryable, Transaction } from '../../postgres/pool.js'
import { depths } from '../../sync/storeDepths.js'

export type ToldSnapshot = { id: string; streamId: string; state: 'snapshot' | 'vetoed' | 'committed' }

/** The newest snapshots of each stream, vetoed ones too, the oldest first: taken, vetoed, or with a confirmed root. */
export async function listSnapshotStates(
  db: Queryable,
  streamIds: readonly string[],
  newest: number,
): Promise<ToldSnapshot[]> {
  return db<ToldSnapshot[]>`
    select n.id, n.stream_id as "streamId", case
      when n.vetoed_at is not null then 'vetoed'
      when exists (
        select from stream_events e join ${depths(db)} d on d.chain_id = e.chain_id
        where e.stream_id = n.stream_id and e.kind = 'root' and e.root = n.root and e.root_at = n.snapshot_at
          and e.block_number <= d.confirmed) then 'committed'
      else 'snapshot' end as state
    from unnest(${[...streamIds]}::uuid[]) as s (id)
    cross join lateral (
      select * from stream_snapshots m where m.stream_id = s.id order by m.snapshot_at desc, m.created_at desc limit ${newest}) n
    order by n.snapshot_at, n.created_at`
}

/** A confirmed claim of a reward. */
export type ClaimRow = {
  chainId: number
  streamId: string
  wallet: string
  amount: string
  transactionHash: string
  blockNumber: number
  logIndex: number
  at: Date
}

/** Claims in (after, to] of a chain, oldest first. */
async function listClaims(
  db: Queryable,
  { chainId, after, to }: { chainId: number; after: number; to: number },
): Promise<ClaimRow[]> {
  return db<ClaimRow[]>`
    select chain_id as "chainId", stream_id as "streamId", hex_text(wallet) as wallet, amount::text as amount,
      hex_text(transaction_hash) as "transactionHash", block_number as "blockNumber", log_index as "logIndex",
      block_timestamp as at
    from stream_events
    where chain_id = ${chainId} and kind = 'claimed' and block_number > ${after} and block_number <= ${to}
    order by block_number, log_index`
}

/** Takes the confirmed claims that were not told, and notes that they are. The first look at a chain tells nothing of before. */
export async function takeClaims(tx: Transaction): Promise<ClaimRow[]> {
  const chains = await tx<{ chainId: number; confirmed: number; claimsTo: number | null }[]>`
    select d.chain_id as "chainId", d.confirmed, t.claims_to as "claimsTo"
    from ${depths(tx)} d left join stream_told t on t.chain_id = d.chain_id order by d.chain_id`
  const claims: ClaimRow[] = []
  for (const { chainId, confirmed, claimsTo } of chains) {
    if (claimsTo !== null && claimsTo >= confirmed) continue
    if (claimsTo !== null) claims.push(...(await listClaims(tx, { chainId, after: claimsTo, to: confirmed })))
    await tx`
      insert into stream_told (chain_id, claims_to) values (${chainId}, ${confirmed})
      on conflict (chain_id) do update set claims_to = excluded.claims_to`
  }
  return claims
}

/** Takes the telling of claims for this transaction; false if another process has it. */
export async function tryClaims(tx: Transaction): Promise<boolean> {
  const [row] = await tx<{ taken: boolean }[]>`
    select pg_try_advisory_xact_lock(hashtextextended('told claims', 0)) as taken`
  return row?.taken ?? false
}
