import type { CatalogueContext } from '../catalogue/index.js'
import { listPoints } from './storePoints.js'
import { listNewest, listSnapshots, type StreamSnapshotRow } from './storeReadings.js'
import { listStreams, type StreamRow } from './storeStreams.js'
import { toStream } from './stream.js'

export type ShowInput = { withSnapshots?: boolean | null; usersCount?: boolean | null }

/** Confirmed streams of all organizations. */
export async function getStreams(ctx: CatalogueContext, input: ShowInput & { id?: string; orgId?: string }) {
  const { id, orgId } = input
  const rows = await listStreams(ctx.db, {
    ids: id === undefined ? undefined : [id],
    organizationIds: orgId === undefined ? undefined : [orgId],
  })
  return { streams: await showStreams(ctx, rows, input) }
}

/** Streams as the wire has them, with what their snapshots say. */
export async function showStreams(ctx: CatalogueContext, rows: readonly StreamRow[], input: ShowInput = {}) {
  if (rows.length === 0) return []
  const withSnapshots = input.withSnapshots === true
  const ids = rows.map((row) => row.id)
  const pointIds = rows.flatMap((row) => row.pointId ?? [])
  const [newest, all, points] = await Promise.all([
    listNewest(ctx.db, ids),
    withSnapshots ? listSnapshots(ctx.db, ids) : undefined,
    pointIds.length > 0 ? listPoints(ctx.db, { ids: pointIds }) : [],
  ])
  const snapshot = ctx.catalogue.current()
  const pointsById = new Map(points.map((point) => [point.id, point]))
  const listOf = (id: string): readonly StreamSnapshotRow[] => {
    const last = newest.last.get(id)
    return all?.get(id) ?? (last ? [last] : [])
  }
  return rows.map((row) =>
    toStream(row, {
      ...{ snapshot, points: pointsById, withSnapshots, usersCount: input.usersCount !== false },
      snapshots: listOf(row.id),
      committed: newest.committed.get(row.id),
    }),
  )
}
