import type { Queryable } from '../../postgres/pool.js'
import { devnetChainId, isDevnetAddress } from '../../rpc/devnet.js'
import { chainsOf } from '../../rpc/storeChains.js'

/** An attribution key of ours, by address (lower-case); `to` is set once it is retired. */
export type Signer = { address: string; from: Date; to: Date | null }

/**
 * Our attribution keys, present and retired, oldest first; with a chain those whose signatures count on it. Public test keys
 * are among them only where a devnet is. One that was once ours, before another chain was added, signs for nobody outside
 * the devnet: everyone holds it.
 */
export async function listSigners(db: Queryable, chainId?: number): Promise<Signer[]> {
  const rows = await db<(Signer & { devnet: boolean })[]>`
    select address, active_from as "from", retired_at as "to",
      exists (select from ${chainsOf(db)} c where chain_id = ${devnetChainId}) as devnet
    from attribution_signers order by active_from, address`
  return rows
    .filter(
      ({ address, devnet }) => !isDevnetAddress(address) || (devnet && (chainId ?? devnetChainId) === devnetChainId),
    )
    .map(({ devnet, ...signer }) => signer)
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
