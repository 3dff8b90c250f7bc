import type { Queryable } from '../kernel/database.js'

/** An attribution key of ours, by address (lower-case); `to` is set once it is retired. */
export type Signer = { address: string; from: Date; to: Date | null }

/** Our attribution keys, present and retired, oldest first. */
export async function listSigners(db: Queryable): Promise<Signer[]> {
  return db<Signer[]>`
    select address, active_from as "from", retired_at as "to" from attribution_signers order by active_from, address`
}

/**
 * Registers the key that signs from now on; any other key in use is retired at the same instant. The same key again
 * changes nothing.
 */
export async function recordSigner(db: Queryable, address: string, at: Date): Promise<void> {
  const lower = address.toLowerCase()
  await db`
    with retired as (
      update attribution_signers set retired_at = ${at} where address <> ${lower} and retired_at is null)
    insert into attribution_signers (address, active_from) values (${lower}, ${at})
    on conflict (address) do update set retired_at = null`
}
