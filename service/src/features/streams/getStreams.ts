import type { Queryable } from '../../postgres/pool.js'
import type { CatalogueContext } from '../catalogue/index.js'
import { allotSnapshots, computeShownCost, shownMax } from './allotment.js'
import { listPoints } from './storePoints.js'
import { countSnapshots, listNewest, listSnapshots } from './storeReadings.js'
import { listStreams, type StreamRow } from './storeStreams.js'
import { toStream } from './stream.js'

export type ShowInput = { withSnapshots?: boolean | null; usersCount?: boolean | null }

type GetStreamsInput = ShowInput & { id?: string; orgId?: string }

/** Confirmed streams of all organizations. */
export async function getStreams(ctx: CatalogueContext, input: GetStreamsInput) {
  return { streams: await showStreams(ctx, await select(ctx, input), input) }
}

/** The cost of the snapshots in a response. */
export async function computeGetStreamsCost(ctx: CatalogueContext, input: GetStreamsInput): Promise<number> {
  return input.withSnapshots === true ? computeCost(ctx, await select(ctx, input)) : 0
}

function select(ctx: CatalogueContext, { id, orgId }: GetStreamsInput): Promise<StreamRow[]> {
  return listStreams(ctx.db, {
    ids: id === undefined ? undefined : [id],
    organizationIds: orgId === undefined ? undefined : [orgId],
  })
}

/** The units that the snapshots of streams cost. */
export async function computeCost(ctx: CatalogueContext, rows: readonly StreamRow[]): Promise<number> {
  return computeShownCost(await allot(ctx, rows))
}

/** How many snapshots of each stream are shown: of the newest streams first. */
async function allot(ctx: { db: Queryable }, rows: readonly StreamRow[]) {
  const newestFirst = rows.map(({ id }) => id).reverse()
  return allotSnapshots(await countSnapshots(ctx.db, newestFirst, shownMax + 1))
}

/** Streams as the wire has them, with what their snapshots say. */
export async function showStreams(
  ctx: Pick<CatalogueContext, 'catalogue'> & { db: Queryable },
  rows: readonly StreamRow[],
  input: ShowInput = {},
) {
  if (rows.length === 0) return []
  const ids = rows.map((row) => row.id)
  const pointIds = rows.flatMap((row) => row.pointId ?? [])
  const [newest, allotments, points] = await Promise.all([
    listNewest(ctx.db, ids),
    input.withSnapshots === true ? allot(ctx, rows) : undefined,
    pointIds.length > 0 ? listPoints(ctx.db, { ids: pointIds }) : [],
  ])
  const shown = allotments && (await listSnapshots(ctx.db, allotments))
  const truncated = new Set(allotments?.filter((each) => each.isTruncated).map(({ streamId }) => streamId))
  const snapshot = ctx.catalogue.current()
  const pointsById = new Map(points.map((point) => [point.id, point]))
  return rows.map((row) =>
    toStream(row, {
      ...{ snapshot, points: pointsById, usersCount: input.usersCount !== false },
      last: shown?.get(row.id)?.[0] ?? newest.last.get(row.id),
      committed: newest.committed.get(row.id),
      ...(shown ? { snapshots: shown.get(row.id) ?? [], isTruncated: truncated.has(row.id) } : {}),
    }),
  )
}
