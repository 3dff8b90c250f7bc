import type { Queryable } from '../../postgres/pool.js'
import { vaultsOf } from '../../vaults/configured/index.js'

export type Balance = { chainId: number; vaultAddress: string; wallet: string; shares: string; attributed: string }

/** Present balances of wallets (lower-case), in raw shares; vaults they no longer hold are left out. */
export async function listBalances(db: Queryable, wallets: readonly string[]): Promise<Balance[]> {
  return db<Balance[]>`
    select v.chain_id as "chainId", v.address as "vaultAddress", hex_text(b.wallet) as wallet, b.shares, b.attributed
    from balances b join ${vaultsOf(db)} v on v.id = b.vault_id
    where b.wallet = any(hex_bytes(${[...wallets]}::text[])) and b.shares > 0
    order by v.chain_id, v.address, b.wallet`
}

export type Lot = { chainId: number; vaultAddress: string; wallet: string; distributorId: string; shares: string }

/** Present lots of wallets (lower-case), in raw shares. The rest of a balance is unattributed. */
export async function listLots(db: Queryable, wallets: readonly string[]): Promise<Lot[]> {
  return db<Lot[]>`
    select v.chain_id as "chainId", v.address as "vaultAddress", hex_text(l.wallet) as wallet, l.distributor_id as "distributorId", l.shares
    from lots l join ${vaultsOf(db)} v on v.id = l.vault_id
    where l.wallet = any(hex_bytes(${[...wallets]}::text[])) and l.shares > 0
    order by v.chain_id, v.address, l.wallet, l.distributor_id`
}

/** A request that is not fully claimed or cancelled; amounts in assets for deposits, in shares for redemptions. */
export type OpenRequest = { requestId: string; remaining: string; cancelling: boolean; distributorId: string | null }

/** Open requests of a wallet (lower-case) in a vault, oldest first. */
export async function listOpenRequests(
  db: Queryable,
  of: { chainId: number; vaultAddress: string; wallet: string; kind: 'deposit' | 'redeem' },
): Promise<OpenRequest[]> {
  return db<OpenRequest[]>`
    select r.request_id as "requestId", r.remaining, r.cancelling, r.distributor_id as "distributorId"
    from requests r join ${vaultsOf(db)} v on v.id = r.vault_id
    where v.chain_id = ${of.chainId} and v.address = ${of.vaultAddress} and r.controller = hex_bytes(${of.wallet})
      and r.kind = ${of.kind} and r.remaining > 0
    order by r.block_number, r.log_index`
}
