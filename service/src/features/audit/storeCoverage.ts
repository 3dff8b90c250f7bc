import { needsTrace } from '@openearn/attribution'
import { oneNodesWord, signatureUsed } from '../../derive/index.js'
import type { Queryable } from '../../postgres/pool.js'
import { snapshotsOf } from '../../snapshots/index.js'
import { untracedOf } from '../../sync/storeEvidence.js'
import { vaultsOf } from '../../vaults/configured/index.js'
import { opportunitiesOf } from '../catalogue/index.js'
import { transactionAttributionsOf } from '../ledger/index.js'

type VaultRange = { vaultId: number; from: Date; to: Date }

export type CoveredVault = { vaultId: number; chainId: number; vaultAddress: string; name: string }

/** The vaults of the catalogue. */
export async function listCoveredVaults(db: Queryable): Promise<CoveredVault[]> {
  return db<CoveredVault[]>`
    select v.id as "vaultId", v.chain_id as "chainId", v.address as "vaultAddress", coalesce(o.name, '') as name
    from ${vaultsOf(db)} v left join ${opportunitiesOf(db)} o on o.chain_id = v.chain_id and o.vault_address = v.address
    order by v.chain_id, v.address`
}

/** Shares that deposits minted, by the first rule that left a part of them out; `untraced`: deposits without their trace. */
export type DepositedShares = { reason: string; attributed: string; unattributed: string; untraced: number }

/** Deposited shares of vaults in a range, by what became of them. */
export async function listDeposited(
  db: Queryable,
  { vaultIds, from, to }: { vaultIds: readonly number[]; from: Date; to: Date },
): Promise<ReadonlyMap<number, DepositedShares[]>> {
  const rows = await db<(DepositedShares & { vaultId: number })[]>`
    with minted as (
      select f.vault_id, f.chain_id, f.block_number, f.transaction_index, sum(f.shares) as shares
      from flows f where f.kind = 'deposit' and f.vault_id = any(${[...vaultIds]}::int[])
        and f.block_timestamp >= ${from} and f.block_timestamp < ${to}
      group by f.vault_id, f.chain_id, f.block_number, f.transaction_index),
    credited as (
      select i.vault_id, i.chain_id, i.block_number, i.transaction_index, sum(i.shares) as shares
      from interactions i where i.kind = 'deposit' and i.vault_id = any(${[...vaultIds]}::int[])
        and i.block_timestamp >= ${from} and i.block_timestamp < ${to}
      group by i.vault_id, i.chain_id, i.block_number, i.transaction_index),
    judged as (
      select m.vault_id, m.shares, coalesce(c.shares, 0) as credited, p.chain_id is not null as untraced,
        case
          when ${needsTrace}::text = any(t.problems) then ${needsTrace}::text
          when ${oneNodesWord}::text = any(t.problems) then ${oneNodesWord}::text
          when ${signatureUsed}::text = any(t.problems) then ${signatureUsed}::text
          when t.codes is null or t.codes = '{}' then 'no code'
          when t.distributor_id is null then 'code not registered'
          else 'code does not count for the wallet' end as reason
      from minted m
      left join credited c using (vault_id, chain_id, block_number, transaction_index)
      left join ${transactionAttributionsOf(db)} t on t.chain_id = m.chain_id and t.block_number = m.block_number
        and t.transaction_index = m.transaction_index and not t.retracted
      left join ${untracedOf(db)} p on p.chain_id = m.chain_id and p.block_number = m.block_number
        and p.transaction_index = m.transaction_index)
    select vault_id as "vaultId", reason, sum(least(shares, credited))::text as attributed,
      sum(greatest(shares - credited, 0))::text as unattributed, (count(*) filter (where untraced))::int as untraced
    from judged group by vault_id, reason order by vault_id, reason`
  const found = new Map<number, DepositedShares[]>()
  for (const { vaultId, ...row } of rows) found.set(vaultId, [...(found.get(vaultId) ?? []), row])
  return found
}

/** Milliseconds of a range in which the newest snapshot of a vault was older than two intervals of its grid. */
export async function sumUnseen(db: Queryable, { vaultId, from, to }: VaultRange): Promise<number> {
  const [row] = await db<{ ms: number }[]>`
    with told as (
      select '-infinity'::timestamptz as at
      union all
      select s.block_timestamp from ${snapshotsOf(db)} s where s.vault_id = ${vaultId} and s.block_timestamp < ${to}
        and s.block_timestamp >= coalesce((select max(b.block_timestamp) from ${snapshotsOf(db)} b
          where b.vault_id = ${vaultId} and b.block_timestamp <= ${from}), '-infinity')),
    spans as (
      select greatest(t.at + 2 * v.snapshot_interval_seconds * interval '1 second', ${from}) as begins,
        least(lead(t.at, 1, ${to}::timestamptz) over (order by t.at), ${to}) as ends
      from told t join ${vaultsOf(db)} v on v.id = ${vaultId})
    select coalesce(sum(extract(epoch from ends - begins) * 1000) filter (where ends > begins), 0)::float8 as ms from spans`
  return row?.ms ?? 0
}

/** Another source's price of the asset: how many snapshots have one, and the most it differs, in hundredths of a percent. */
export type SecondPrice = { snapshots: number; deviationBps: number }

/** The most by which the newest price of another source differs from the one a snapshot counts by, where it is a day old at most. */
export async function findSecondPrice(db: Queryable, { vaultId, from, to }: VaultRange): Promise<SecondPrice | null> {
  const [row] = await db<{ snapshots: number; deviationBps: number | null }[]>`
    select count(*)::int as snapshots,
      ceil(max(abs(o.price_usd - s.price_usd) * 10000 / s.price_usd))::int as "deviationBps"
    from ${snapshotsOf(db)} s join ${vaultsOf(db)} v on v.id = s.vault_id
    join price_observations c on c.id = s.price_observation_id
    cross join lateral (
      select o.price_usd from price_observations o
      where o.chain_id = v.chain_id and o.address = lower(v.asset) and o.source <> c.source and o.withheld is null
        and o.price_usd is not null and o.observed_at <= s.block_timestamp
        and o.observed_at > s.block_timestamp - interval '1 day'
      order by o.observed_at desc, o.id desc limit 1) o
    where s.vault_id = ${vaultId} and s.block_timestamp >= ${from} and s.block_timestamp < ${to} and s.price_usd > 0`
  return row?.deviationBps == null ? null : { snapshots: row.snapshots, deviationBps: row.deviationBps }
}
