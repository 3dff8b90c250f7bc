import type { Transaction } from '../../postgres/pool.js'

/** Takes a group for this transaction; false if another process has it. */
export async function tryGroup(tx: Transaction, group: string): Promise<boolean> {
  const [row] = await tx<{ taken: boolean }[]>`
    select pg_try_advisory_xact_lock(hashtextextended(${`told states ${group}`}, 0)) as taken`
  return row?.taken ?? false
}

export async function listToldStates(
  tx: Transaction,
  group: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await tx<{ id: string; state: string }[]>`
    select id, state from told_states where group_name = ${group} and id = any(${[...ids]}::text[])`
  return new Map(rows.map(({ id, state }) => [id, state]))
}

export async function recordToldStates(
  tx: Transaction,
  group: string,
  states: readonly { id: string; state: string }[],
): Promise<void> {
  await tx`
    insert into told_states (group_name, id, state)
    select ${group}, t.id, t.state
    from unnest(${states.map(({ id }) => id)}::text[], ${states.map(({ state }) => state)}::text[]) as t (id, state)
    on conflict (group_name, id) do update set state = excluded.state`
}
