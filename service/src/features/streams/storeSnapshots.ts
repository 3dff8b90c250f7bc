import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { decimal, hex, nullable, numeric, uuid } from '../../postgres/columns.js'
import type { Queryable, Transaction } from '../../postgres/pool.js'
import { copyRows, describeTable } from '../../postgres/table.js'
import type { Above, Observations } from '../../sync/projection.js'
import { blocksOf } from '../../sync/storeRaw.js'
import { sourcesOf } from '../../sync/storeSources.js'
import type { AccrualState, AccrualStates, SnapshotAmounts } from './types.js'

const compress = promisify(gzip)
const expand = promisify(gunzip)

const walletSnapshotsTable = describeTable('stream_wallet_snapshots', {
  snapshotId: [uuid],
  wallet: [hex],
  rewards: [numeric],
  rewardsBase: [numeric],
  accrued: [numeric],
  accruedBase: [numeric],
  tvl: [nullable(decimal)],
  baseTvl: [nullable(decimal)],
  apr: [nullable(decimal)],
  baseApr: [nullable(decimal)],
})

/** How far a stream had accrued by a snapshot, without the wallets. */
type KeptState = Omit<AccrualState, 'distributed' | 'accrued'> & { distributed: string }
type KeptStates = { own: KeptState; base: KeptState }

/** A snapshot as the jobs see it. */
export type TakenSnapshot = {
  id: string
  streamId: string
  at: number
  blockNumber: number
  isLast: boolean
  amountDistributed: bigint
  fileHash: string | null
  root: string | null
  rootedAt: Date | null
  vetoedAt: Date | null
  commitId: string | null
  updatedAt: Date
  state: KeptStates
}

type Loaded = Omit<TakenSnapshot, 'amountDistributed'> & { amountDistributed: string }

const columns = (db: Queryable) => db`
  id, stream_id as "streamId", extract(epoch from snapshot_at)::bigint as at, block_number as "blockNumber",
  is_last as "isLast", amount_distributed as "amountDistributed", hex_text(file_hash) as "fileHash",
  hex_text(root) as root, rooted_at as "rootedAt", vetoed_at as "vetoedAt", commit_id as "commitId",
  updated_at as "updatedAt", state`

const parse = (row: Loaded): TakenSnapshot => ({ ...row, amountDistributed: BigInt(row.amountDistributed) })

/** The newest snapshot of each stream that counts, and the newest of all, vetoed ones too. */
export async function listTaken(
  db: Queryable,
  streamIds: readonly string[],
): Promise<ReadonlyMap<string, { counted: TakenSnapshot | undefined; newest: TakenSnapshot }>> {
  const rows = await db<Loaded[]>`
    select distinct on (stream_id, vetoed_at is null) ${columns(db)} from stream_snapshots
    where stream_id = any(${[...streamIds]}::uuid[]) order by stream_id, vetoed_at is null, snapshot_at desc`
  const taken = new Map<string, { counted: TakenSnapshot | undefined; newest: TakenSnapshot }>()
  for (const row of rows.map(parse)) {
    const { counted, newest } = taken.get(row.streamId) ?? { counted: undefined, newest: row }
    taken.set(row.streamId, {
      counted: row.vetoedAt === null ? row : counted,
      newest: row.at >= newest.at ? row : newest,
    })
  }
  return taken
}

/** The snapshot a reward file is of that counts, and the one it went on from. */
export async function findSnapshotOf(
  db: Queryable,
  fileHash: string,
): Promise<{ snapshot: TakenSnapshot; previous: TakenSnapshot | undefined } | undefined> {
  const [row] = await db<(Loaded & { previousId: string | null })[]>`
    select ${columns(db)}, previous_id as "previousId" from stream_snapshots
    where file_hash = hex_bytes(${fileHash}) and vetoed_at is null`
  if (!row) return undefined
  const { previousId, ...snapshot } = row
  const [previous] = await db<Loaded[]>`select ${columns(db)} from stream_snapshots where id = ${previousId}`
  return { snapshot: parse(snapshot), previous: previous && parse(previous) }
}

/** The snapshot that another one went on from. */
export async function findPrevious(db: Queryable, id: string): Promise<TakenSnapshot | undefined> {
  const [row] = await db<Loaded[]>`
    select ${columns(db)} from stream_snapshots
    where id = (select n.previous_id from stream_snapshots n where n.id = ${id})`
  return row && parse(row)
}

/** The newest snapshot of a stream before an instant (unix seconds) that counts. */
export async function findCountedBefore(
  db: Queryable,
  streamId: string,
  at: number,
): Promise<TakenSnapshot | undefined> {
  const [row] = await db<Loaded[]>`
    select ${columns(db)} from stream_snapshots
    where stream_id = ${streamId} and vetoed_at is null and snapshot_at < to_timestamp(${at})
    order by snapshot_at desc limit 1`
  return row && parse(row)
}

/** The accrual state at a snapshot, from which the next one continues. */
export async function findStates(db: Queryable, { id, state }: TakenSnapshot): Promise<AccrualStates> {
  const [own, base] = [new Map<string, bigint>(), new Map<string, bigint>()]
  const rows = db<{ wallet: string; accrued: string; accruedBase: string }[]>`
    select hex_text(wallet) as wallet, accrued, accrued_base as "accruedBase" from stream_wallet_snapshots
    where snapshot_id = ${id} order by wallet`
  for await (const chunk of rows.cursor(20_000))
    for (const { wallet, accrued, accruedBase } of chunk) {
      if (accrued !== '0') own.set(wallet, BigInt(accrued))
      if (accruedBase !== '0') base.set(wallet, BigInt(accruedBase))
    }
  const toState = ({ distributed, ...kept }: KeptState, accrued: ReadonlyMap<string, bigint>): AccrualState => ({
    ...{ ...kept, distributed: BigInt(distributed), accrued },
  })
  return { own: toState(state.own, own), base: toState(state.base, base) }
}

export type NewSnapshot = {
  id: string
  streamId: string
  targetChainId: number
  block: { number: number; hash: string }
  previousId: string | null
  isLast: boolean
  amounts: SnapshotAmounts
  states: AccrualStates
  pins: Readonly<Record<string, unknown>>
  file: { hash: string; text: string }
  createdAt: Date
}

/** Keeps a snapshot with its wallets and its reward file. False where another of its instant counts already. */
export async function recordSnapshot(tx: Transaction, snapshot: NewSnapshot): Promise<boolean> {
  const { id, streamId, targetChainId, block, previousId, isLast, amounts, states, pins, file, createdAt } = snapshot
  const keep = ({ accrued, distributed, ...state }: AccrualState) => ({ ...state, distributed: distributed.toString() })
  const { unpricedSeconds, exhaustedAt } = amounts
  // While rows are written; one that is not needed in the end is lost work. The least effort takes a fifth of the time.
  const content = compress(file.text, { level: 1 })
  content.catch(() => undefined)
  const metrics = {
    unpricedSeconds,
    ...(exhaustedAt === null ? {} : { exhaustedAt: new Date(exhaustedAt * 1_000).toISOString() }),
  }
  const inserted = await tx`
    insert into stream_snapshots (id, stream_id, snapshot_at, target_chain_id, block_number, block_hash, previous_id,
      is_last, amount_base, amount_distributed, apr, base_apr, tvl, base_tvl, reward_token_price, user_count,
      active_user_count, custom_metrics, pins, state, file_hash, created_at, updated_at)
    values (${id}, ${streamId}, to_timestamp(${amounts.at}), ${targetChainId}, ${block.number},
      hex_bytes(${block.hash}), ${previousId}, ${isLast}, ${amounts.amountBase.toString()},
      ${amounts.amountDistributed.toString()}, ${amounts.apr}, ${amounts.baseApr}, ${amounts.tvl}, ${amounts.baseTvl},
      ${amounts.rewardTokenPrice}, ${amounts.userCount}, ${amounts.activeUserCount}, ${tx.json(metrics)},
      ${tx.json(pins)}, ${tx.json({ own: keep(states.own), base: keep(states.base) })}, hex_bytes(${file.hash}),
      ${createdAt}, ${createdAt})
    on conflict (stream_id, snapshot_at) where vetoed_at is null do nothing returning id`
  if (inserted.length === 0) return false
  const copy = await copyRows(tx, walletSnapshotsTable, { shared: { snapshotId: id } })
  await copy.write(amounts.wallets)
  await copy.end()
  await tx`
    insert into stream_files (hash, stream_id, snapshot_at, content)
    values (hex_bytes(${file.hash}), ${streamId}, to_timestamp(${amounts.at}), ${await content}) on conflict do nothing`
  return true
}

/** Everybody's cumulative amounts in a snapshot, by address; nobody who has earned nothing. */
export async function listEarned(db: Queryable, id: string): Promise<{ wallet: string; rewards: bigint }[]> {
  const rows = await db<{ wallet: string; rewards: string }[]>`
    select hex_text(wallet) as wallet, rewards from stream_wallet_snapshots
    where snapshot_id = ${id} and rewards > 0 order by wallet`
  return rows.map(({ wallet, rewards }) => ({ wallet, rewards: BigInt(rewards) }))
}

/** Notes the root of a snapshot's tree; once. */
export async function recordRoot(db: Queryable, id: string, root: string, at: Date): Promise<void> {
  await db`
    update stream_snapshots set root = hex_bytes(${root}), rooted_at = ${at}, updated_at = ${at}
    where id = ${id} and rooted_at is null and vetoed_at is null`
}

/** Notes the transaction that commits a snapshot, in place of `instead`. False where that is no longer to be sent. */
export async function recordCommit(
  tx: Transaction,
  { id, commitId, instead, at }: { id: string; commitId: string; instead: string | null; at: Date },
): Promise<boolean> {
  const { count } = await tx`
    update stream_snapshots n set commit_id = ${commitId}, updated_at = ${at} from streams s
    where n.id = ${id} and n.vetoed_at is null and n.commit_id is not distinct from ${instead}::uuid
      and s.id = n.stream_id and not s.hash_commitment_paused`
  return count > 0
}

/** Takes a snapshot out, unless another commit of it was noted than the one it was decided by. False where it stays. */
export async function recordVeto(
  db: Queryable,
  { id, commitId, at }: { id: string; commitId: string | null; at: Date },
): Promise<boolean> {
  const { count } = await db`
    update stream_snapshots set vetoed_at = ${at}, updated_at = ${at}
    where id = ${id} and vetoed_at is null and commit_id is not distinct from ${commitId}::uuid`
  return count > 0
}

/**
 * Restores vetoed snapshots whose roots are on the chain nevertheless, and removes the snapshots taken in their place: a
 * contract accepts one root per instant. Returns the instants (unix seconds).
 */
export async function restoreHeld(
  tx: Transaction,
  streamIds: readonly string[],
  at: Date,
): Promise<{ streamId: string; at: number }[]> {
  const held = tx`
    select distinct on (n.stream_id, n.snapshot_at) n.id, n.stream_id, n.snapshot_at, n.root from stream_snapshots n
    join stream_events e on e.stream_id = n.stream_id and e.root = n.root and e.root_at = n.snapshot_at
    where n.stream_id = any(${[...streamIds]}::uuid[]) and e.kind = 'root' and n.vetoed_at is not null
    order by n.stream_id, n.snapshot_at, n.created_at desc`
  await tx`
    update stream_snapshots n set vetoed_at = ${at}, updated_at = ${at} from (${held}) h
    where n.stream_id = h.stream_id and n.snapshot_at = h.snapshot_at and n.vetoed_at is null
      and n.root is distinct from h.root`
  return tx<{ streamId: string; at: number }[]>`
    update stream_snapshots n set vetoed_at = null, updated_at = ${at} from (${held}) h
    where n.id = h.id and not exists (
      select from stream_snapshots o
      where o.stream_id = h.stream_id and o.snapshot_at = h.snapshot_at and o.vetoed_at is null)
    returning n.stream_id as "streamId", extract(epoch from n.snapshot_at)::bigint as at`
}

/** The newest commits of a stream's snapshots between two instants (unix seconds), neither included; vetoed ones too. */
export async function listCommitsBetween(
  db: Queryable,
  { streamId, above, below, limit }: { streamId: string; above: number; below: number; limit: number },
): Promise<string[]> {
  const rows = await db<{ commitId: string }[]>`
    select commit_id as "commitId" from stream_snapshots
    where stream_id = ${streamId} and snapshot_at > to_timestamp(${above}) and snapshot_at < to_timestamp(${below})
      and commit_id is not null
    order by snapshot_at desc, created_at desc limit ${limit}`
  return rows.map(({ commitId }) => commitId)
}

/** The roots of a stream that are or were ours to commit. */
export async function listOwnRoots(db: Queryable, streamIds: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await db<{ streamId: string; root: string; at: number }[]>`
    select stream_id as "streamId", hex_text(root) as root, extract(epoch from snapshot_at)::bigint as at
    from stream_snapshots where stream_id = any(${[...streamIds]}::uuid[]) and commit_id is not null`
  return new Set(rows.map((row) => rootKey(row.streamId, row.root, row.at)))
}

export const rootKey = (streamId: string, root: string, at: number): string => `${streamId} ${root} ${at}`

/** The text of the reward file with this hash, if any. */
export async function findRewardFile(db: Queryable, hash: string): Promise<string | undefined> {
  const [row] = await db<{ content: Buffer }[]>`select content from stream_files where hash = hex_bytes(${hash})`
  return row && (await expand(row.content)).toString('utf8')
}

/**
 * Snapshots that depend on orphaned blocks are deleted with them, except those whose root was sent to the chain: a promised
 * reward stays.
 */
export const streamObservations: Observations = {
  name: 'stream snapshots',
  rewind: async (tx: Transaction, { chainId, number }: Above) => {
    // Two snapshots of the same inputs share their file: one that was vetoed, and that which was taken in its place.
    await tx`
      with gone as (
        delete from stream_snapshots
        where target_chain_id = ${chainId} and block_number > ${number} and commit_id is null returning id, file_hash)
      delete from stream_files f
      where f.hash in (select file_hash from gone) and not exists (
        select from stream_snapshots n where n.file_hash = f.hash and n.id not in (select id from gone))`
  },
}

/** The last stored block at or before an instant, or -1. Every block with a change is stored. */
export async function findBlockBefore(db: Queryable, chainId: number, at: number): Promise<number> {
  const [row] = await db<{ number: number | null }[]>`
    select max(number) as number from ${blocksOf(db)} b where chain_id = ${chainId} and timestamp <= to_timestamp(${at})`
  return row?.number ?? -1
}

/**
 * Whether the holdings of a vault are derived as far as its chain: the past of its logs is read and, if lots count, that of the
 * forwarders too. Other sources that are still being read do not matter.
 */
export async function isTargetRead(
  db: Queryable,
  { chainId, address, hasLots }: { chainId: number; address: string; hasLots: boolean },
): Promise<boolean> {
  const [row] = await db<{ isRead: boolean }[]>`
    select coalesce(bool_or(source = ${address}) and bool_and(synced), false) as "isRead" from ${sourcesOf(db)} r
    where chain_id = ${chainId} and projection = 'positions' and (source = ${address}
      or starts_with(source, ${`${address} `}) or (${hasLots} and starts_with(source, 'forwarder ')))`
  return row?.isRead === true
}
