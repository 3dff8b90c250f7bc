import type { PageRequest } from '../../kernel/page.js'
import type { Fragment, Queryable } from '../../postgres/pool.js'
import { depths } from '../../sync/storeDepths.js'

/** The shown part of a snapshot. Vetoed snapshots are never shown. */
export type StreamSnapshotRow = {
  id: string
  streamId: string
  at: Date
  createdAt: Date
  updatedAt: Date
  amountBase: bigint
  amountDistributed: bigint
  apr: string | null
  baseApr: string | null
  tvl: string | null
  baseTvl: string | null
  rewardTokenPrice: string | null
  root: string | null
  /** Of the confirmed transaction that committed the root. */
  commitTxHash: string | null
  userCount: number
  activeUserCount: number
  customMetrics: Record<string, unknown>
}

type Loaded = Omit<StreamSnapshotRow, 'amountBase' | 'amountDistributed'> & {
  amountBase: string
  amountDistributed: string
}

const columns = (db: Queryable): Fragment => db`
  n.id, n.stream_id as "streamId", n.snapshot_at as at, n.created_at as "createdAt", n.updated_at as "updatedAt",
  n.amount_base as "amountBase", n.amount_distributed as "amountDistributed", n.apr, n.base_apr as "baseApr", n.tvl,
  n.base_tvl as "baseTvl", n.reward_token_price as "rewardTokenPrice", hex_text(n.root) as root,
  n.user_count as "userCount", n.active_user_count as "activeUserCount", n.custom_metrics as "customMetrics",
  (select hex_text(e.transaction_hash) from stream_events e join ${depths(db)} d on d.chain_id = e.chain_id
    where e.stream_id = n.stream_id and e.kind = 'root' and e.root = n.root and e.root_at = n.snapshot_at
      and e.block_number <= d.confirmed limit 1) as "commitTxHash"`

const parse = (row: Loaded): StreamSnapshotRow => ({
  ...row,
  amountBase: BigInt(row.amountBase),
  amountDistributed: BigInt(row.amountDistributed),
})

/** How many snapshots each of these streams has, in their order; counted to `max`. */
export async function countSnapshots(
  db: Queryable,
  streamIds: readonly string[],
  max: number,
): Promise<{ streamId: string; count: number }[]> {
  return db<{ streamId: string; count: number }[]>`
    select s.id as "streamId", (
      select count(*)::int from (
        select from stream_snapshots n where n.stream_id = s.id and n.vetoed_at is null limit ${max}) counted) as count
    from unnest(${[...streamIds]}::uuid[]) with ordinality as s (id, place) order by s.place`
}

/** The newest `shown` snapshots of each stream, or all, by stream, the newest first. */
export async function listSnapshots(
  db: Queryable,
  of: readonly { streamId: string; shown?: number }[],
): Promise<ReadonlyMap<string, StreamSnapshotRow[]>> {
  const rows = await db<Loaded[]>`
    select ${columns(db)}
    from unnest(${of.map(({ streamId }) => streamId)}::uuid[], ${of.map(({ shown }) => shown ?? null)}::int[]) as s (id, shown)
    cross join lateral (
      select * from stream_snapshots m where m.stream_id = s.id and m.vetoed_at is null
      order by m.snapshot_at desc limit s.shown) n
    order by n.snapshot_at desc`
  const byStream = new Map<string, StreamSnapshotRow[]>()
  for (const row of rows.map(parse)) {
    const known = byStream.get(row.streamId)
    if (known) known.push(row)
    else byStream.set(row.streamId, [row])
  }
  return byStream
}

/** Snapshots by their ids, vetoed ones too. */
export async function listSnapshotsById(db: Queryable, ids: readonly string[]): Promise<StreamSnapshotRow[]> {
  const rows = await db<Loaded[]>`
    select ${columns(db)} from stream_snapshots n where n.id = any(${[...ids]}::uuid[])`
  return rows.map(parse)
}

/** The newest snapshot of each stream, and the newest whose root is committed and confirmed. */
export async function listNewest(
  db: Queryable,
  streamIds: readonly string[],
): Promise<{ last: ReadonlyMap<string, StreamSnapshotRow>; committed: ReadonlyMap<string, StreamSnapshotRow> }> {
  const rows = await db<(Loaded & { isLast: boolean; isCommitted: boolean })[]>`
    select ${columns(db)}, n.id = last.id as "isLast", n.id is not distinct from held.id as "isCommitted"
    from unnest(${[...streamIds]}::uuid[]) as s (id)
    cross join lateral (
      select m.id from stream_snapshots m where m.stream_id = s.id and m.vetoed_at is null
      order by m.snapshot_at desc limit 1) last
    left join lateral (
      select m.id from stream_events e join ${depths(db)} d on d.chain_id = e.chain_id
      join stream_snapshots m on m.stream_id = e.stream_id and m.root = e.root and m.snapshot_at = e.root_at
      where e.stream_id = s.id and e.kind = 'root' and e.block_number <= d.confirmed and m.vetoed_at is null
      order by m.snapshot_at desc limit 1) held on true
    join stream_snapshots n on n.id in (last.id, held.id)`
  const pick = (is: 'isLast' | 'isCommitted') =>
    new Map(rows.filter((row) => row[is]).map(({ isLast, isCommitted, ...row }) => [row.streamId, parse(row)]))
  return { last: pick('isLast'), committed: pick('isCommitted') }
}

/** The shown part of a wallet's snapshot. */
export type WalletSnapshotRow = {
  streamId: string
  /** Lower-case. */
  wallet: string
  at: Date
  createdAt: Date
  updatedAt: Date
  rewards: bigint
  rewardsBase: bigint
  tvl: string | null
  baseTvl: string | null
  apr: string | null
  baseApr: string | null
  customMetrics: Record<string, unknown>
}

type LoadedWallet = Omit<WalletSnapshotRow, 'rewards' | 'rewardsBase'> & { rewards: string; rewardsBase: string }

const walletColumns = (db: Queryable): Fragment => db`
  n.stream_id as "streamId", hex_text(w.wallet) as wallet, n.snapshot_at as at, n.created_at as "createdAt",
  n.updated_at as "updatedAt", w.rewards, w.rewards_base as "rewardsBase", w.tvl, w.base_tvl as "baseTvl", w.apr,
  w.base_apr as "baseApr", w.custom_metrics as "customMetrics"`

const parseWallet = (row: LoadedWallet): WalletSnapshotRow => ({
  ...row,
  rewards: BigInt(row.rewards),
  rewardsBase: BigInt(row.rewardsBase),
})

/** Snapshots of a wallet, the newest first, of one stream or of all. */
export async function listWalletSnapshots(
  db: Queryable,
  wallet: string,
  of: { streamId?: string; isLatestOnly?: boolean } = {},
): Promise<WalletSnapshotRow[]> {
  const { streamId, isLatestOnly } = of
  const rows = await db<LoadedWallet[]>`
    select ${isLatestOnly ? db`distinct on (n.stream_id)` : db``} ${walletColumns(db)}
    from stream_wallet_snapshots w join stream_snapshots n on n.id = w.snapshot_id
    where w.wallet = hex_bytes(${wallet}) and n.vetoed_at is null
      ${streamId === undefined ? db`` : db`and n.stream_id = ${streamId}`}
    order by n.stream_id, n.snapshot_at desc`
  return rows.map(parseWallet)
}

/** A page of the wallets of a stream's newest snapshot, the highest rewards first, and how many there are. */
export async function listStreamWallets(
  db: Queryable,
  streamId: string,
  page: PageRequest,
): Promise<{ rows: WalletSnapshotRow[]; total: number }> {
  const newest = db`(
    select id from stream_snapshots where stream_id = ${streamId} and vetoed_at is null
    order by snapshot_at desc limit 1)`
  const [rows, counts] = await Promise.all([
    db<LoadedWallet[]>`
      select ${walletColumns(db)} from stream_wallet_snapshots w join stream_snapshots n on n.id = w.snapshot_id
      where w.snapshot_id = ${newest} order by w.rewards desc, w.wallet limit ${page.limit} offset ${page.offset}`,
    db<{ count: number }[]>`
      select count(*)::int as count from stream_wallet_snapshots where snapshot_id = ${newest}`,
  ])
  return { rows: rows.map(parseWallet), total: counts[0]?.count ?? 0 }
}

/** Everybody's cumulative amounts by a root, by address: the leaves of its tree. */
export async function listLeaves(
  db: Queryable,
  { streamId, root, rootAt }: { streamId: string; root: string; rootAt: Date },
): Promise<{ wallet: string; cumulative: bigint }[]> {
  const rows = await db<{ wallet: string; cumulative: string }[]>`
    select hex_text(w.wallet) as wallet, w.rewards as cumulative
    from stream_snapshots n join stream_wallet_snapshots w on w.snapshot_id = n.id
    where n.stream_id = ${streamId} and n.snapshot_at = ${rootAt} and n.root = hex_bytes(${root}) and n.vetoed_at is null and w.rewards > 0
    order by w.wallet`
  return rows.map(({ wallet, cumulative }) => ({ wallet, cumulative: BigInt(cumulative) }))
}

/** A wallet's cumulative amount by a root; undefined where it has none. */
export async function findAmount(
  db: Queryable,
  { streamId, root, rootAt, wallet }: { streamId: string; root: string; rootAt: Date; wallet: string },
): Promise<bigint | undefined> {
  const [row] = await db<{ rewards: string }[]>`
    select w.rewards from stream_snapshots n join stream_wallet_snapshots w on w.snapshot_id = n.id
    where n.stream_id = ${streamId} and n.snapshot_at = ${rootAt} and n.root = hex_bytes(${root}) and n.vetoed_at is null
      and w.wallet = hex_bytes(${wallet}) and w.rewards > 0`
  return row && BigInt(row.rewards)
}

/** The streams that a wallet (lower-case) has a snapshot of. */
export async function listStreamsWith(db: Queryable, wallet: string): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    select distinct n.stream_id as id from stream_wallet_snapshots w join stream_snapshots n on n.id = w.snapshot_id
    where w.wallet = hex_bytes(${wallet}) and n.vetoed_at is null`
  return rows.map(({ id }) => id)
}

/** The reward files of a stream's snapshots, oldest first. */
export async function listFiles(db: Queryable, streamId: string): Promise<{ hash: string; at: Date }[]> {
  return db<{ hash: string; at: Date }[]>`
    select hex_text(hash) as hash, snapshot_at as at from stream_files where stream_id = ${streamId} order by snapshot_at`
}
