import type { Queryable } from '../../postgres/pool.js'
import { cursorsOf } from '../../sync/storeCursors.js'
import { vaultsOf } from '../../vaults/configured/index.js'
import type { OpenRequestId } from './adapter.js'

/**
 * A vault that a wallet was ever in. `state` changes with its flows: values computed from flows of another `state` are stale.
 */
export type FlowVault = { id: number; chainId: number; state: string }

/** Marks of the derived state of a wallet: a response computed with other marks is stale. */
export type WalletMarks = {
  /** The block of each chain in which it last got, gave or asked for something. */
  entries: ReadonlyMap<number, number>
  /** Those with the most left first: of many not all are asked about. */
  openRequests: readonly OpenRequestId[]
  /** The vaults it was ever in, of confirmed blocks. */
  flowVaults: readonly FlowVault[]
  /** The newest derived block of each chain that is followed. */
  derived: ReadonlyMap<number, number>
}

/** The marks of a wallet (lower-case), in one statement: every portfolio asks for them. */
export async function findMarks(db: Queryable, wallet: string): Promise<WalletMarks> {
  type Row = Omit<WalletMarks, 'entries' | 'derived'> & { entries: [number, number][]; derived: [number, number][] }
  const [row] = await db<Row[]>`
    select
      (select coalesce(json_agg(json_build_array(chain_id, block)), '[]') from (
        select chain_id, max(block) as block from (
          select b.chain_id, last.block_number as block from balances b cross join lateral (
            select c.block_number from balance_changes c where c.vault_id = b.vault_id and c.wallet = b.wallet
            order by c.block_number desc limit 1) last
          where b.wallet = hex_bytes(${wallet})
          union all
          select chain_id, block_number from requests where controller = hex_bytes(${wallet})) entries
        group by chain_id) newest) as entries,
      (select coalesce(json_agg(json_build_object('chainId', chain_id, 'vaultAddress', address, 'kind', kind,
          'requestId', request_id::text) order by remaining desc, request_id), '[]') from (
        select v.chain_id, v.address, r.kind, r.request_id, max(r.remaining) as remaining
        from requests r join ${vaultsOf(db)} v on v.id = r.vault_id
        where r.controller = hex_bytes(${wallet}) and r.remaining > 0 and r.kind <> 'refund' group by 1, 2, 3, 4) open) as "openRequests",
      (select coalesce(json_agg(been order by been.id), '[]') from (
        select vault_id as id, chain_id as "chainId",
          concat_ws(' ', count(*), max(block_number), min(block_timestamp), max(block_timestamp), sum(shares), sum(assets),
            count(*) filter (where kind in ('deposit', 'transfer-in'))) as state
        from flows where wallet = hex_bytes(${wallet}) group by vault_id, chain_id) been) as "flowVaults",
      (select coalesce(json_agg(json_build_array(chain_id, block_number)), '[]') from ${cursorsOf(db)} c) as derived`
  const { entries = [], openRequests = [], flowVaults = [], derived = [] } = row ?? {}
  return { entries: new Map(entries), openRequests, flowVaults, derived: new Map(derived) }
}
