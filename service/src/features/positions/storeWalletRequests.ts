import type { Queryable } from '../../postgres/pool.js'
import { vaultsOf } from '../../vaults/configured/index.js'
import { opportunitiesOf } from '../catalogue/index.js'
import type { Claim } from './received.js'

export type WalletRequest = {
  id: string
  chainId: number
  vaultAddress: string
  vaultKind: string
  contracts: Record<string, string>
  opportunityId: string
  kind: 'deposit' | 'redeem'
  controller: string
  requestId: string
  amount: string
  remaining: string
  cancelled: string
  cancelling: boolean
  /** The assets that a redemption is paid with, where its request says so. */
  promised: string | null
  distributorId: string | null
  requestedAt: Date
  transactionHash: string
  /** The amounts that claims took from it, oldest first. */
  claims: Claim[]
}

/** Every request of a wallet (lower-case) as controller, oldest first. */
export async function listWalletRequests(db: Queryable, wallet: string): Promise<WalletRequest[]> {
  return db<WalletRequest[]>`
    select r.id, v.chain_id as "chainId", v.address as "vaultAddress", v.kind as "vaultKind", v.contracts, o.id as "opportunityId", r.kind,
      hex_text(r.controller) as controller, r.request_id as "requestId", r.amount, r.remaining, r.cancelled, r.cancelling, r.promised,
      r.distributor_id as "distributorId", r.block_timestamp as "requestedAt",
      hex_text(r.transaction_hash) as "transactionHash", (
        select coalesce(jsonb_agg(jsonb_build_object('blockNumber', c.block_number, 'logIndex', c.log_index,
          'taken', (c.remaining_before - c.remaining_after)::text, 'data', hex_text(l.data))
          order by c.block_number, c.log_index), '[]')
        from request_changes c left join logs l
          on l.chain_id = c.chain_id and l.block_number = c.block_number and l.log_index = c.log_index
        where c.request_id = r.id and c.remaining_before > c.remaining_after and c.cancelled_before = c.cancelled_after
      ) as claims
    from requests r join ${vaultsOf(db)} v on v.id = r.vault_id
    join ${opportunitiesOf(db)} o on o.chain_id = v.chain_id and o.vault_address = v.address
    where r.controller = hex_bytes(${wallet}) and r.kind <> 'refund' order by r.block_timestamp, v.chain_id, r.block_number, r.log_index`
}

/** A request that claims of a block took from: the place of the claim's event, and of the request's own. */
export type ClaimedRequest = {
  chainId: number
  logIndex: number
  distributorId: string | null
  requestBlock: number
  requestLog: number
}

/** The requests that events of a block claimed. */
export async function listClaimedRequests(
  db: Queryable,
  of: { chainId: number; blockNumber: number; logIndexes: readonly number[] },
): Promise<ClaimedRequest[]> {
  return db<ClaimedRequest[]>`
    select c.chain_id as "chainId", c.log_index as "logIndex", r.distributor_id as "distributorId",
      r.block_number as "requestBlock", r.log_index as "requestLog"
    from request_changes c join requests r on r.id = c.request_id
    where c.chain_id = ${of.chainId} and c.block_number = ${of.blockNumber}
      and c.log_index = any(${[...of.logIndexes]}::int[])
      and c.remaining_before > c.remaining_after and c.cancelled_before = c.cancelled_after`
}
