import type { Queryable } from '../postgres/pool.js'

/** A range an operator asks a node for again, with what was found of it so far. */
export type Refetch = {
  chainId: number
  from: number
  to: number
  doneTo: number
  missingLogs: number
  extraLogs: number
  firstWrong: number | null
}

/** Begins a range, or finds where it was left. */
export async function openRefetch(db: Queryable, chainId: number, from: number, to: number): Promise<Refetch> {
  await db`
    insert into refetches (chain_id, from_block, to_block, done_to) values (${chainId}, ${from}, ${to}, ${from - 1})
    on conflict do nothing`
  const rows = await db<Refetch[]>`
    select chain_id as "chainId", from_block as "from", to_block as "to", done_to as "doneTo",
      missing_logs as "missingLogs", extra_logs as "extraLogs", first_wrong as "firstWrong"
    from refetches where chain_id = ${chainId} and from_block = ${from} and to_block = ${to}`
  const [row] = rows
  if (!row) throw new Error('a range that was begun is gone')
  return row
}

export async function recordRefetch(db: Queryable, refetch: Refetch): Promise<void> {
  const { chainId, from, to, doneTo, missingLogs, extraLogs, firstWrong } = refetch
  await db`
    update refetches set done_to = ${doneTo}, missing_logs = ${missingLogs}, extra_logs = ${extraLogs},
      first_wrong = ${firstWrong}
    where chain_id = ${chainId} and from_block = ${from} and to_block = ${to}`
}

export async function removeRefetch(db: Queryable, { chainId, from, to }: Refetch): Promise<void> {
  await db`delete from refetches where chain_id = ${chainId} and from_block = ${from} and to_block = ${to}`
}
