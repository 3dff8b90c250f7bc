import type { Queryable } from '../../postgres/pool.js'

export type OpenRequestId = { chainId: number; vaultAddress: string; kind: 'deposit' | 'redeem'; requestId: string }

/** Which requests of a wallet (lower-case) as controller are open, in any vault. */
export async function listOpenRequestIds(db: Queryable, wallet: string): Promise<OpenRequestId[]> {
  return db<OpenRequestId[]>`
    select distinct v.chain_id as "chainId", v.address as "vaultAddress", r.kind, r.request_id::text as "requestId"
    from requests r join vaults v on v.id = r.vault_id
    where r.controller = hex_bytes(${wallet}) and r.remaining > 0`
}
