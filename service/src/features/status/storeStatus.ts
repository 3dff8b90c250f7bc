import { daySeconds } from '../../kernel/clock.js'
import type { Queryable } from '../../postgres/pool.js'
import { chainsOf } from '../../rpc/storeChains.js'
import { snapshotsOf } from '../../snapshots/index.js'
import { cursorsOf } from '../../sync/storeCursors.js'
import { sourcesOf } from '../../sync/storeSources.js'
import type { GrowthSource } from '../../vaults/configured/index.js'
import { pausesOf, vaultsOf } from '../../vaults/configured/index.js'
import { opportunitiesOf } from '../catalogue/index.js'
import { heldOf, holderStatesOf } from '../positions/index.js'

export type ChainStatus = {
  chainId: number
  name: string
  watched: boolean
  headBlock: number | null
  lagBlocks: number | null
  /** Since when no node showed the newest block that is indexed. */
  tipMissedSince: Date | null
  indexedBlock: number | null
  indexedAt: Date | null
  finalizedBlock: number | null
  checkedTo: number | null
  state: 'backfilling' | 'live' | 'stalled' | null
  reason: string | null
  updatedAt: Date | null
  reorgs24h: number
  evidence: 'trace' | 'calldata'
  /** From this block on no transaction that needed a trace is without one; null where no node gives traces. */
  traceFrom: number | null
  tracesAwaited: number
  tracesMissing: number
}

/** Where every chain stands. A chain that was never watched has no cursor. */
export async function listChainStatus(db: Queryable, now: Date, chainId?: number): Promise<ChainStatus[]> {
  const dayAgo = new Date(now.getTime() - daySeconds * 1_000)
  return db<ChainStatus[]>`
    select ch.chain_id as "chainId", ch.name, ch.watched, coalesce(c.node_head, c.head_number) as "headBlock",
      c.block_number as "indexedBlock", c.tip_missed_since as "tipMissedSince",
      -- A node below what is indexed is behind it.
      case when c.node_head is null then greatest(0, c.head_number - greatest(0, c.block_number))
        else abs(c.node_head - c.block_number) end as "lagBlocks",
      c.block_timestamp as "indexedAt", c.finalized_number as "finalizedBlock", c.checked_to as "checkedTo", c.state, c.reason, c.updated_at as "updatedAt",
      (select count(*) from chain_reorgs r where r.chain_id = ch.chain_id and r.detected_at > ${dayAgo}) as "reorgs24h",
      coalesce(e.evidence, 'calldata') as evidence,
      case when e.evidence = 'trace' then greatest(c.start_block, m.last + 1) end as "traceFrom",
      m.missing as "tracesMissing",
      (select count(*) from awaited_traces a where a.chain_id = ch.chain_id) as "tracesAwaited"
    from ${chainsOf(db)} ch left join ${cursorsOf(db)} c on c.chain_id = ch.chain_id
    left join chain_evidence e on e.chain_id = ch.chain_id
    cross join lateral (select max(block_number) as last, count(*) as missing from call_paths p
      where p.chain_id = ch.chain_id and p.calls is null) m
    where (ch.watched or c.chain_id is not null) ${chainId === undefined ? db`` : db`and ch.chain_id = ${chainId}`}
    order by ch.chain_id`
}

export type VaultStatus = {
  chainId: number
  vaultAddress: string
  kind: string
  opportunityId: string | null
  protocol: string | null
  synced: boolean | null
  fromBlock: number | null
  syncedTo: number | null
  snapshotIntervalSeconds: number
  growthSources: readonly GrowthSource[] | null
  dustFloor: string
  isPaused: boolean
  /** Its asset has a price in US dollars now. */
  isPriced: boolean
  /** Shares at the newest snapshot. */
  newestSupply: string | null
  firstSnapshotAt: Date | null
  lastSnapshotAt: Date | null
  checkedAt: Date | null
  /** The block the samples reach up to. */
  checkedBlock: number | null
  samples: number | null
  mismatches: number | null
  /** Moves that exceeded their wallet's known balance, and were capped. */
  cutMoves: number
  /** Declared holders that are not believed, with the reason; null: none. */
  brokenHolders: string | null
  /** Events of declared holders that no Transfer of shares belongs to. */
  ignoredEvents: number
}

/** Where every vault stands. */
export async function listVaultStatus(
  db: Queryable,
  now: Date,
  filter: { chainId?: number | undefined; vaultAddress?: string | undefined },
): Promise<VaultStatus[]> {
  return db<VaultStatus[]>`
    select v.chain_id as "chainId", v.address as "vaultAddress", v.kind, o.id as "opportunityId", p.name as protocol,
      w.synced, w.from_block as "fromBlock", w.synced_to as "syncedTo", v.snapshot_interval_seconds as "snapshotIntervalSeconds",
      v.growth_sources as "growthSources", v.dust_floor::text as "dustFloor",
      exists (select from ${pausesOf(db)} u where u.vault_id = v.id and u.paused_from <= ${now}
        and (u.resumed_at is null or u.resumed_at > ${now})) as "isPaused",
      exists (select from price_at(v.chain_id, lower(v.asset), ${now})) as "isPriced",
      (select total_supply::text from ${snapshotsOf(db)} n where n.vault_id = v.id order by n.block_timestamp desc limit 1)
        as "newestSupply",
      s.first_at as "firstSnapshotAt", s.last_at as "lastSnapshotAt", d.checked_at as "checkedAt",
      d.block_number as "checkedBlock", d.samples, d.mismatches,
      (select count(*) from cut_moves m where m.vault_id = v.id) as "cutMoves",
      h.broken as "brokenHolders", coalesce(h.ignored, 0)::int as "ignoredEvents"
    from ${vaultsOf(db)} v
    left join ${opportunitiesOf(db)} o on o.chain_id = v.chain_id and o.vault_address = v.address
    left join protocols p on p.id = v.protocol_id
    left join ${sourcesOf(db)} w on w.chain_id = v.chain_id and w.projection = 'positions' and w.source = v.address
    left join vault_drift d on d.vault_id = v.id
    left join lateral (
      select sum(s.ignored) as ignored, string_agg(hex_text(s.holder) || ' (' || s.reason || ')', ', ' order by s.holder)
        filter (where s.phase = 'broken') as broken
      from ${holderStatesOf(db)} s where s.vault_id = v.id) h on true
    left join lateral (
      select min(block_timestamp) as first_at, max(block_timestamp) as last_at from ${snapshotsOf(db)} s
      where s.vault_id = v.id) s on true
    where true ${filter.chainId === undefined ? db`` : db`and v.chain_id = ${filter.chainId}`}
      ${filter.vaultAddress === undefined ? db`` : db`and v.address = ${filter.vaultAddress}`}
    order by v.chain_id, v.address collate "C"`
}

/**
 * The difference between what a wallet counts for and what its address has: shares that declared holders, where they count, keep
 * for it lie at the holder's address.
 */
const movedByHolders = (db: Queryable) => db`
  (select coalesce(sum(case when h.holder = b.wallet then h.shares else -h.shares end), 0) from ${heldOf(db)} h
    where h.vault_id = v.id and (h.wallet = b.wallet or h.holder = b.wallet) and h.counts)`

export type HolderSample = { vaultId: number; receiptToken: string; wallet: string; shares: string }

/**
 * Random holders of every vault of a chain that is fully derived, `count` of each, with the block their balances belong
 * to, read at one instant.
 */
export async function sampleHolders(
  db: Queryable,
  chainId: number,
  count: number,
): Promise<{ blockNumber: number; blockHash: string; holders: HolderSample[] } | undefined> {
  const rows = await db<(HolderSample & { blockNumber: number; blockHash: string })[]>`
    select c.block_number as "blockNumber", c.block_hash as "blockHash", v.id as "vaultId",
      lower(v.receipt_token) as "receiptToken", hex_text(b.wallet) as wallet, b.shares + ${movedByHolders(db)} as shares
    from ${cursorsOf(db)} c
    join ${sourcesOf(db)} w on w.chain_id = c.chain_id and w.projection = 'positions' and w.synced
    join ${vaultsOf(db)} v on v.chain_id = w.chain_id and v.address = w.source
    cross join lateral (
      (select wallet, shares from balances where vault_id = v.id and wallet >= decode(substr(md5(random()::text || v.id), 1, 8), 'hex')
        order by wallet limit ${count})
      union
      (select wallet, shares from balances where vault_id = v.id order by wallet limit 2)) b
    where c.chain_id = ${chainId} and c.block_hash <> ''`
  const [first] = rows
  return first && { blockNumber: first.blockNumber, blockHash: first.blockHash, holders: rows }
}

/** Vaults of a chain that are derived, with the block from which their logs are kept. */
export async function listSyncedVaults(
  db: Queryable,
  chainId: number,
): Promise<{ vaultId: number; address: string; fromBlock: number }[]> {
  return db<{ vaultId: number; address: string; fromBlock: number }[]>`
    select v.id as "vaultId", v.address, w.from_block as "fromBlock"
    from ${sourcesOf(db)} w join ${vaultsOf(db)} v on v.chain_id = w.chain_id and v.address = w.source
    where w.chain_id = ${chainId} and w.projection = 'positions' and w.synced`
}

/** Keeps what a look at a vault found. */
export async function recordDrift(
  db: Queryable,
  drift: { vaultId: number; at: Date; blockNumber: number; samples: number; mismatches: number },
): Promise<void> {
  await db`
    insert into vault_drift (vault_id, checked_at, block_number, samples, mismatches)
    values (${drift.vaultId}, ${drift.at}, ${drift.blockNumber}, ${drift.samples}, ${drift.mismatches})
    on conflict (vault_id) do update set checked_at = excluded.checked_at, block_number = excluded.block_number,
      samples = excluded.samples, mismatches = excluded.mismatches`
}
