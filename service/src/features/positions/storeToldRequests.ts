import type { Queryable, Transaction } from '../../postgres/pool.js'

/** Controllers (lower-case) of requests of which there is more to tell, a part of them in turn. */
export async function listUntoldWallets(db: Queryable, limit: number): Promise<string[]> {
  const rows = await db<{ wallet: string }[]>`
    select hex_text(controller) as wallet from (
      select distinct r.controller from requests r left join request_told t on t.request_id = r.id
      where r.kind <> 'refund' and (t.request_id is null or t.state not in ('claimed', 'cancelled'))) w
    order by random() limit ${limit}`
  return rows.map(({ wallet }) => wallet)
}

/** The states of requests that were told last. Their rows are taken for this transaction. */
export async function takeToldStates(tx: Transaction, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  await tx`select pg_advisory_xact_lock(hashtextextended('told requests', 0))`
  const rows = await tx<{ id: string; state: string }[]>`
    select request_id as id, state from request_told where request_id = any(${[...ids]}::uuid[])`
  return new Map(rows.map(({ id, state }) => [id, state]))
}

export async function recordToldStates(
  tx: Transaction,
  states: readonly { id: string; state: string }[],
): Promise<void> {
  await tx`
    insert into request_told (request_id, state)
    select t.id, t.state from unnest(${states.map(({ id }) => id)}::uuid[], ${states.map(({ state }) => state)}::text[])
      as t (id, state)
    on conflict (request_id) do update set state = excluded.state
    where request_told.state not in ('claimed', 'cancelled')`
}
