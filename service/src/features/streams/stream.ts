import { formatTs } from '../../kernel/clock.js'
import { formatAddress } from '../../wallets/format.js'
import { type CatalogueSnapshot, findToken } from '../catalogue/index.js'
import type { PointRow } from './storePoints.js'
import type { StreamSnapshotRow, WalletSnapshotRow } from './storeReadings.js'
import type { StreamRow } from './storeStreams.js'
import { toStreamToken } from './tokens.js'

const strategies = { 1: 'fixed-rate', 2: 'fixed-apr', 3: 'daily-budget' } as const

/** The shown parts of a stream in addition to its row. */
export type StreamView = {
  snapshot: CatalogueSnapshot
  points: ReadonlyMap<string, PointRow>
  /** The newest, and the newest that is committed. */
  last?: StreamSnapshotRow | undefined
  committed?: StreamSnapshotRow | undefined
  /** Where they were asked for, the newest first; not all of them where `isTruncated`. */
  snapshots?: readonly StreamSnapshotRow[]
  isTruncated?: boolean
  usersCount?: boolean
}

/** A stream as the wire has it. */
export function toStream(row: StreamRow, view: StreamView) {
  const { snapshot, points, last, committed, snapshots, isTruncated = false, usersCount = true } = view
  const { chainId, rewardToken, customArgs, confirmedAt } = row
  const reward = chainId === null || rewardToken === null ? undefined : findToken(snapshot, chainId, rewardToken)
  const point = row.pointId === null ? undefined : points.get(row.pointId)
  const target = findToken(snapshot, row.targetChainId, row.targetToken)
  const show = (each: StreamSnapshotRow) => toStreamSnapshot(each, row, usersCount)
  return {
    id: row.id,
    orgId: row.organizationId,
    userId: null,
    type: row.type,
    strategy: strategies[row.type],
    chainId,
    contractAddress: row.contract === null ? null : formatAddress(row.contract),
    admin: row.admin === null ? null : formatAddress(row.admin),
    totalAmount: row.totalAmount === null ? null : String(row.totalAmount + row.addedAmount),
    feeAmount: row.feeAmount === null ? null : String(row.feeAmount + row.addedFee),
    startTimestamp: formatTs(row.startsAt),
    endTimestamp: row.endsAt === null ? null : formatTs(row.endsAt),
    createdAt: formatTs(row.createdAt),
    updatedAt: formatTs(row.updatedAt),
    creationConfirmedAt: confirmedAt === null ? null : formatTs(confirmedAt),
    ...(reward ? { rewardToken: toStreamToken(reward) } : {}),
    ...(point ? { point: toPoint(point) } : {}),
    customArgs: {
      ...customArgs,
      targetToken: {
        address: formatAddress(row.targetToken),
        symbol: target?.symbol ?? '',
        chain: { chainId: String(row.targetChainId) },
      },
    },
    adapters: row.adapters,
    claimPaused: row.claimPaused,
    hashCommitmentPaused: row.hashCommitmentPaused,
    merkleTreeComputationPaused: row.merkleTreeComputationPaused,
    snapshotComputationPaused: row.snapshotComputationPaused,
    ...(last ? { lastSnapshot: show(last) } : {}),
    ...(committed ? { committedSnapshot: show(committed) } : {}),
    ...(snapshots ? { snapshots: snapshots.map(show) } : {}),
    ...(isTruncated ? { snapshotsTruncated: true } : {}),
  }
}

/** A snapshot as the wire has it. */
export function toStreamSnapshot(row: StreamSnapshotRow, { customArgs }: StreamRow, usersCount: boolean) {
  const { apr, baseApr, tvl, baseTvl, rewardTokenPrice, root, commitTxHash } = row
  return {
    timestamp: formatTs(row.at),
    createdAt: formatTs(row.createdAt),
    updatedAt: formatTs(row.updatedAt),
    amountBase: String(row.amountBase),
    amountDistributed: String(row.amountDistributed),
    ...{ apr, baseApr, tvl, baseTvl, rewardTokenPrice, rootHash: root, commitTxHash },
    userCount: usersCount ? row.userCount : null,
    activeUserCount: usersCount ? row.activeUserCount : null,
    customArgs,
    customMetrics: row.customMetrics,
  }
}

export function toWalletSnapshot(row: WalletSnapshotRow) {
  const { tvl, baseTvl, apr, baseApr, customMetrics } = row
  return {
    timestamp: formatTs(row.at),
    createdAt: formatTs(row.createdAt),
    updatedAt: formatTs(row.updatedAt),
    rewardsAccumulated: String(row.rewards),
    rewardsAccumulatedBase: String(row.rewardsBase),
    ...{ tvl, baseTvl, apr, baseApr, customMetrics },
  }
}

export function toPoint({ id, organizationId, symbol, name, decimals, logoUrl, createdAt, updatedAt }: PointRow) {
  const [created, updated] = [formatTs(createdAt), formatTs(updatedAt)]
  return { id, orgId: organizationId, symbol, name, decimals, logoUrl, createdAt: created, updatedAt: updated }
}
