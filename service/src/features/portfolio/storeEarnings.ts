import { groupBy } from '../../kernel/groups.js'
import type { Queryable } from '../../postgres/pool.js'
import { listWithheld, snapshotsOf, type Withheld } from '../../snapshots/index.js'
import { pausesOf, vaultsOf } from '../../vaults/configured/index.js'
import type { FlowVault } from './storeMarks.js'

type FlowsIn = Pick<FlowVault, 'id' | 'chainId'>

/** Sums of the flows of a wallet in a vault. Amounts in smallest units of the vault's asset, US dollars as text. */
export type VaultEarnings = {
  vaultId: number
  chainId: number
  vaultAddress: string
  assetDecimals: number
  /** The held shares, including those that wait for a redemption. */
  shares: string
  /** Null where something was transferred and the vault has no snapshot at all. */
  deposited: string | null
  withdrawn: string | null
  /** Null where a flow has no price of its time. */
  depositedUsd: string | null
  withdrawnUsd: string | null
  firstDepositAt: Date | null
  lastActivityAt: Date
  /** Lower-case. */
  receiptToken: string
  /** Whether the operator paused the vault, or its newest reading is not what is configured, or it is as good as empty. */
  isHeldBack: boolean
  /** The newest snapshot: smallest units of the asset for 10^priceExponent of shares, and a whole unit's price. */
  priceNumerator: string | null
  priceExponent: number | null
  priceUsd: string | null
  /** The newest price of a whole unit of the asset. */
  newestPriceUsd: string | null
  /** The last deposit or withdrawal, where it is newer than the newest snapshot. */
  freshShares: string | null
  freshAssets: string | null
}

/** Blocks of vaults whose events are of a token nobody knows. */
async function listDoubted(db: Queryable, vaults: readonly FlowsIn[]): Promise<({ vaultId: number } & Withheld)[]> {
  const spans: ({ vaultId: number } & Withheld)[] = []
  for (const [chainId, own] of groupBy(vaults, ({ chainId }) => chainId)) {
    const ids = own.map(({ id }) => id)
    for (const [vaultId, withheld] of await listWithheld(db, chainId, ids))
      for (const span of withheld) spans.push({ vaultId, ...span })
  }
  return spans
}

/**
 * The relations `told` and `valued`: the flows of a wallet (lower-case), and each with its worth. A flow without an event, or with
 * an event in an unknown token, is worth its shares at the share price of the newest snapshot at or before its block; before
 * the first snapshot, at the first.
 */
export async function valuedFlows(db: Queryable, wallet: string, vaults: readonly FlowsIn[]) {
  const doubted = await listDoubted(db, vaults)
  // Within an object: a statement that a promise resolves to would be sent.
  return {
    relations: db`
    doubted as (
      select "vaultId" as vault_id, range_agg(int8range("from", "to", '[]')) as blocks
      from jsonb_to_recordset(${db.json(doubted)}) as s ("vaultId" integer, "from" bigint, "to" bigint) group by 1),
    told as (
      select f.*, f.kind in ('deposit', 'transfer-in') as is_in, v.chain_id as of_chain, v.address,
        lower(v.asset) as asset, v.asset_decimals, v.dust_floor, lower(v.receipt_token) as receipt_token,
        case when (d.blocks @> f.block_number) is not true then f.assets end as paid,
        (d.blocks @> ${Number.MAX_SAFE_INTEGER}::bigint) is true as is_other_now
      from flows f join ${vaultsOf(db)} v on v.id = f.vault_id left join doubted d on d.vault_id = f.vault_id
      where f.wallet = hex_bytes(${wallet})),
    valued as (
      select t.*, n.native, trunc(n.native * ('1e-' || t.asset_decimals)::numeric * p.price_usd, 18) as usd
      from told t
      left join lateral (
        select price_numerator, price_exponent from ${snapshotsOf(db)} s
        where vault_id = t.vault_id and block_timestamp <= t.block_timestamp and block_number <= t.block_number
        order by block_timestamp desc limit 1) s on t.paid is null
      left join lateral (
        select price_numerator, price_exponent from ${snapshotsOf(db)} s
        where vault_id = t.vault_id order by block_timestamp limit 1) b
        on t.paid is null and s.price_numerator is null
      cross join lateral (
        select coalesce(t.paid, div(t.shares * coalesce(s.price_numerator, b.price_numerator),
          ('1e' || coalesce(s.price_exponent, b.price_exponent))::numeric)) as native) n
      left join lateral price_at(t.of_chain, t.asset, t.block_timestamp) p on true)`,
  }
}

/**
 * Sums what a wallet (lower-case) paid into each vault and took out. `known`: the vaults it was in. `at`: of which time pauses
 * and the newest prices are; absent: the newest there are.
 */
export async function sumFlows(
  db: Queryable,
  wallet: string,
  known?: readonly FlowsIn[],
  at: Date | 'infinity' = 'infinity',
): Promise<VaultEarnings[]> {
  const vaults =
    known ??
    (await db<FlowsIn[]>`
      select distinct vault_id as id, chain_id as "chainId" from flows where wallet = hex_bytes(${wallet})`)
  if (vaults.length === 0) return []
  const { relations } = await valuedFlows(db, wallet, vaults)
  return db<VaultEarnings[]>`
    with ${relations},
    fresh as (
      select distinct on (vault_id) vault_id, block_number, shares, paid from told
      where kind in ('deposit', 'withdrawal') and paid is not null and shares > 0
      order by vault_id, block_number desc, transaction_index desc),
    summed as (
      select vault_id, of_chain, address, asset, asset_decimals, dust_floor, receipt_token,
        sum(case when is_in then shares else -shares end) as shares,
        case when count(*) = count(native) then coalesce(sum(native) filter (where is_in), 0) end as deposited,
        case when count(*) = count(native) then coalesce(sum(native) filter (where not is_in), 0) end as withdrawn,
        case when bool_and(usd is not null or not is_in) then coalesce(sum(usd) filter (where is_in), 0) end as deposited_usd,
        case when bool_and(usd is not null or is_in) then coalesce(sum(usd) filter (where not is_in), 0) end
          as withdrawn_usd,
        min(block_timestamp) filter (where kind = 'deposit') as first_deposit_at, max(block_timestamp) as last_activity_at,
        bool_or(is_other_now) as is_other_now
      from valued group by vault_id, of_chain, address, asset, asset_decimals, dust_floor, receipt_token)
    select e.vault_id as "vaultId", e.of_chain as "chainId", e.address as "vaultAddress",
      e.asset_decimals as "assetDecimals", e.shares, e.deposited, e.withdrawn, e.deposited_usd as "depositedUsd",
      e.withdrawn_usd as "withdrawnUsd", e.first_deposit_at as "firstDepositAt", e.last_activity_at as "lastActivityAt",
      s.price_numerator as "priceNumerator", s.price_exponent as "priceExponent", s.price_usd as "priceUsd",
      e.receipt_token as "receiptToken", p.price_usd::text as "newestPriceUsd", f.shares as "freshShares",
      f.paid as "freshAssets",
      e.is_other_now or coalesce(s.total_supply < e.dust_floor, false) or u.is_paused is true
        as "isHeldBack"
    from summed e
    left join lateral (
      select price_numerator, price_exponent, price_usd, total_supply, block_number from ${snapshotsOf(db)} s
      where vault_id = e.vault_id order by block_timestamp desc limit 1) s on true
    left join lateral (
      select true as is_paused from ${pausesOf(db)} o where o.vault_id = e.vault_id and o.paused_from <= ${at}::timestamptz
        and (o.resumed_at is null or o.resumed_at > ${at}::timestamptz) limit 1) u on true
    left join fresh f on f.vault_id = e.vault_id and f.block_number > s.block_number
    left join lateral price_at(e.of_chain, e.asset, ${at}::timestamptz) p on true`
}
