import type { Context } from '../../postgres/context.js'
import { listPoints } from './storePoints.js'
import { toPoint } from './stream.js'

type PointsInput = { id?: string; orgId?: string; symbol?: string; name?: string }

/** Points of all organizations. */
export async function getStreamPoints(ctx: Context, { id, orgId, symbol, name }: PointsInput) {
  const ids = id === undefined ? undefined : [id]
  const points = await listPoints(ctx.db, { ids, organizationId: orgId, symbol, name })
  return { points: points.map(toPoint) }
}
