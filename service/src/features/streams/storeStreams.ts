import type { PageRequest } from '../../kernel/page.js'
import type { Fragment, Queryable, Transaction } from '../../postgres/pool.js'
import { chainsOf } from '../../rpc/storeChains.js'
import { depths } from '../../sync/storeDepths.js'
import { blocksOf } from '../../sync/storeRaw.js'
import { sourcesOf } from '../../sync/storeSources.js'

export type PauseFlag =
  | 'claimPaused'
  | 'hashCommitmentPaused'
  | 'merkleTreeComputationPaused'
  | 'snapshotComputationPaused'

/** The custom arguments of the request, unchanged. */
export type CustomArgs = {
  targetTokenId: string
  tokensPerUSD?: string | number
  apr?: string | number
  tokensPerDay?: string | number
}

export type AdapterArgs = { type: string; params: Record<string, unknown> }

/** A stream, and what a confirmed chain says of it. */
export type StreamRow = {
  id: string
  organizationId: string
  type: 1 | 2 | 3
  targetVaultId: number
  targetChainId: number
  targetToken: string
  chainId: number | null
  rewardToken: string | null
  factory: string | null
  contract: string | null
  admin: string | null
  signedUntil: Date | null
  pointId: string | null
  /** Signed at the creation. */
  totalAmount: bigint | null
  feeAmount: bigint | null
  /** The sum of increases, and their fees. */
  addedAmount: bigint
  addedFee: bigint
  startsAt: Date
  endsAt: Date | null
  customArgs: CustomArgs
  adapters: AdapterArgs[]
  claimPaused: boolean
  hashCommitmentPaused: boolean
  merkleTreeComputationPaused: boolean
  snapshotComputationPaused: boolean
  alarm: string | null
  createdAt: Date
  updatedAt: Date
  /** Of the block of its creation, once that is confirmed; of points when they were created. */
  confirmedAt: Date | null
}

export type StreamFilter = {
  ids?: readonly string[] | undefined
  organizationIds?: readonly string[] | undefined
  targetChainIds?: readonly number[] | undefined
  /** Lower-case. */
  targetTokens?: readonly { chainId: number; address: string }[] | undefined
  /** Streams this wallet has a snapshot of; lower-case. */
  wallet?: string | undefined
}

type Loaded = Omit<StreamRow, 'totalAmount' | 'feeAmount' | 'addedAmount' | 'addedFee'> & {
  totalAmount: string | null
  feeAmount: string | null
  addedAmount: string | null
  addedFee: string | null
}

const parse = ({ totalAmount, feeAmount, addedAmount, addedFee, ...row }: Loaded): StreamRow => ({
  ...row,
  totalAmount: totalAmount === null ? null : BigInt(totalAmount),
  feeAmount: feeAmount === null ? null : BigInt(feeAmount),
  addedAmount: BigInt(addedAmount ?? 0),
  addedFee: BigInt(addedFee ?? 0),
})

/** Streams with what confirmed blocks say of them, as `s`, `made`, `added` and `claims`. */
const joined = (db: Queryable): Fragment => db`
  streams s
  left join ${depths(db)} d on d.chain_id = s.chain_id
  left join lateral (
    select e.block_timestamp from stream_events e
    where e.stream_id = s.id and e.kind = 'created' and e.block_number <= d.confirmed limit 1) made on true
  left join lateral (
    select sum(e.amount) as amount, sum(e.fee) as fee from stream_events e
    where e.stream_id = s.id and e.kind = 'funds-added' and e.block_number <= d.confirmed) added on true
  left join lateral (
    select e.paused from stream_events e
    where e.stream_id = s.id and e.kind = 'claims-paused' and e.block_number <= d.confirmed
    order by e.block_number desc, e.log_index desc limit 1) claims on true`

const columns = (db: Queryable): Fragment => db`
  s.id, s.organization_id as "organizationId", s.type, s.target_vault_id as "targetVaultId",
  s.target_chain_id as "targetChainId", s.target_token as "targetToken", s.chain_id as "chainId",
  s.reward_token as "rewardToken", s.factory, s.contract_address as contract, s.admin, s.signed_until as "signedUntil",
  s.point_id as "pointId", s.total_amount as "totalAmount", s.fee_amount as "feeAmount",
  added.amount as "addedAmount", added.fee as "addedFee", s.starts_at as "startsAt", s.ends_at as "endsAt",
  s.custom_args as "customArgs", s.adapters, s.claim_paused or coalesce(claims.paused, false) as "claimPaused",
  s.hash_commitment_paused as "hashCommitmentPaused",
  s.merkle_tree_computation_paused as "merkleTreeComputationPaused",
  s.snapshot_computation_paused as "snapshotComputationPaused", s.alarm, s.created_at as "createdAt",
  s.updated_at as "updatedAt", case when s.point_id is null then made.block_timestamp else s.created_at end as "confirmedAt"`

function where(db: Queryable, filter: StreamFilter): Fragment {
  const { ids, organizationIds, targetChainIds, targetTokens, wallet } = filter
  return db`
    (s.point_id is not null or made.block_timestamp is not null)
    ${ids ? db`and s.id = any(${[...ids]}::uuid[])` : db``}
    ${organizationIds ? db`and s.organization_id = any(${[...organizationIds]}::uuid[])` : db``}
    ${targetChainIds ? db`and s.target_chain_id = any(${[...targetChainIds]}::bigint[])` : db``}
    ${
      targetTokens
        ? db`and (s.target_chain_id, s.target_token) in (
            select * from unnest(${targetTokens.map(({ chainId }) => chainId)}::bigint[],
              ${targetTokens.map(({ address }) => address)}::text[]))`
        : db``
    }
    ${
      wallet
        ? db`and exists (select from stream_wallet_snapshots w join stream_snapshots n on n.id = w.snapshot_id
            where w.wallet = hex_bytes(${wallet}) and n.stream_id = s.id and n.vetoed_at is null)`
        : db``
    }`
}

/** Confirmed streams, in the order they were created. */
export async function listStreams(db: Queryable, filter: StreamFilter, page?: PageRequest): Promise<StreamRow[]> {
  const rows = await db<Loaded[]>`
    select ${columns(db)} from ${joined(db)} where ${where(db, filter)} order by s.created_at, s.id
    ${page ? db`limit ${page.limit} offset ${page.offset}` : db``}`
  return rows.map(parse)
}

export async function countStreams(db: Queryable, filter: StreamFilter): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*)::int as count from ${joined(db)} where ${where(db, filter)}`
  return row?.count ?? 0
}

/** A stream, confirmed or not. */
export async function findStream(db: Queryable, id: string): Promise<StreamRow | undefined> {
  const [row] = await db<Loaded[]>`select ${columns(db)} from ${joined(db)} where s.id = ${id}`
  return row && parse(row)
}

/** Every stream, confirmed or not, in the order they were created. */
export async function listAllStreams(db: Queryable): Promise<StreamRow[]> {
  const rows = await db<Loaded[]>`select ${columns(db)} from ${joined(db)} order by s.created_at, s.id`
  return rows.map(parse)
}

export type NewStream = Pick<
  StreamRow,
  | 'id'
  | 'organizationId'
  | 'type'
  | 'targetChainId'
  | 'targetToken'
  | 'chainId'
  | 'rewardToken'
  | 'factory'
  | 'contract'
  | 'admin'
  | 'signedUntil'
  | 'pointId'
  | 'totalAmount'
  | 'feeAmount'
  | 'startsAt'
  | 'endsAt'
  | 'customArgs'
  | 'adapters'
  | 'createdAt'
> & { fromBlock: number | null }

export async function recordStream(tx: Transaction, stream: NewStream, targetVaultId: number): Promise<void> {
  const { id, organizationId, type, targetChainId, targetToken, chainId, rewardToken, factory, contract } = stream
  const { admin, signedUntil, fromBlock, pointId, startsAt, endsAt, createdAt } = stream
  await tx`
    insert into streams (id, organization_id, type, target_vault_id, target_chain_id, target_token, chain_id,
      reward_token, factory, contract_address, admin, signed_until, from_block, point_id, total_amount, fee_amount,
      starts_at, ends_at, custom_args, adapters, created_at, updated_at)
    values (${id}, ${organizationId}, ${type}, ${targetVaultId}, ${targetChainId}, ${targetToken}, ${chainId},
      ${rewardToken}, ${factory}, ${contract}, ${admin}, ${signedUntil}, ${fromBlock}, ${pointId},
      ${stream.totalAmount?.toString() ?? null}, ${stream.feeAmount?.toString() ?? null}, ${startsAt}, ${endsAt},
      ${JSON.stringify(stream.customArgs)}::text::jsonb, ${JSON.stringify(stream.adapters)}::text::jsonb, ${createdAt},
      ${createdAt})`
}

/** Signed creations that nobody sent while they could be sent: forgotten; how many they were. */
export async function removeUnsent(db: Queryable): Promise<number> {
  const { count } = await db`
    delete from streams s using ${depths(db)} d
    where d.chain_id = s.chain_id and not exists (select from stream_events e where e.stream_id = s.id)
      and s.signed_until < case when d.confirmed >= d.block_number then d.block_timestamp else (
        select b.timestamp from ${blocksOf(db)} b where b.chain_id = d.chain_id and b.number <= d.confirmed
        order by b.number desc limit 1) end
      and exists (select from ${sourcesOf(db)} r where r.chain_id = s.chain_id and r.projection = 'streams'
        and r.source = s.id::text and r.synced)`
  return count
}

const flags: Readonly<Record<PauseFlag, string>> = {
  claimPaused: 'claim_paused',
  hashCommitmentPaused: 'hash_commitment_paused',
  merkleTreeComputationPaused: 'merkle_tree_computation_paused',
  snapshotComputationPaused: 'snapshot_computation_paused',
}

/** Pauses a step of a stream, or lets it go on. False where there is no such stream. */
export async function updatePause(
  tx: Transaction,
  id: string,
  change: { flag: PauseFlag; paused: boolean; alarm: string | null; at: Date },
): Promise<boolean> {
  const { count } = await tx`
    update streams set ${tx(flags[change.flag])} = ${change.paused}, alarm = ${change.alarm}, updated_at = ${change.at}
    where id = ${id}`
  return count > 0
}

/** Moves the end of a stream to an earlier instant. False where it ends by then anyway. */
export async function updateEnd(tx: Transaction, id: string, endsAt: Date, at: Date): Promise<boolean> {
  const { count } = await tx`
    update streams set ends_at = ${endsAt}, updated_at = ${at}
    where id = ${id} and starts_at < ${endsAt} and (ends_at is null or ends_at > ${endsAt})`
  return count > 0
}

/**
 * Ends a stream without an end whose budget was used up by its newest snapshot. False where it has an end, funds came after
 * that snapshot (confirmed or not), or an increase is signed that can still be sent.
 */
export async function endUsedUp(
  tx: Transaction,
  { id, snapshotAt, endsAt, at }: { id: string; snapshotAt: number; endsAt: Date; at: Date },
): Promise<boolean> {
  const { count } = await tx`
    update streams s set ends_at = ${endsAt}, updated_at = ${at}
    where s.id = ${id} and s.ends_at is null and s.starts_at < ${endsAt}
      and not exists (select from stream_events e
        where e.stream_id = s.id and e.kind = 'funds-added' and e.block_timestamp > to_timestamp(${snapshotAt}))
      and not exists (select from stream_operations o
        where o.stream_id = s.id and o.is_open and o.type = 'budget-increase' and o.deadline > ${at})`
  return count > 0
}

/** The factories of the chains that are followed. */
export async function listFactories(db: Queryable): Promise<{ chainId: number; factory: string }[]> {
  return db<{ chainId: number; factory: string }[]>`
    select chain_id as "chainId", stream_factory as factory from ${chainsOf(db)} c
    where watched and stream_factory is not null order by chain_id`
}
