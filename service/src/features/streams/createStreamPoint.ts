import { conflict, invalidArgument, permissionDenied } from '../../kernel/errors.js'
import { newId } from '../../kernel/ids.js'
import { type Caller, written } from '../../kernel/operation.js'
import type { Context, Written } from '../../postgres/context.js'
import { recordPoint } from './storePoints.js'
import { toPoint } from './stream.js'

export const incentivize = 'organization:incentivize:streams'
const allowing: readonly string[] = [incentivize, `${incentivize}:create`]

/** Throws 403. One of two permissions is enough. */
export function assertMayCreatePoints({ permissions }: Caller): void {
  if (!permissions.some((permission) => allowing.includes(permission)))
    throw permissionDenied(`this operation needs the permission ${incentivize} or ${incentivize}:create`)
}

type PointInput = { symbol: string; name: string; decimals?: number | null; logoUrl?: string | null }

/** Creates points of the caller's organization. */
export async function createStreamPoint(
  ctx: Context,
  input: PointInput,
  caller: Caller,
): Promise<Written<{ point: ReturnType<typeof toPoint> }>> {
  assertMayCreatePoints(caller)
  const [symbol, name] = [input.symbol.trim().toUpperCase(), input.name.trim()]
  if (symbol === '' || symbol.length > 32) throw invalidArgument('symbol must have 1 to 32 characters')
  if (name === '') throw invalidArgument('name must not be blank')
  const now = ctx.clock.now()
  const point = {
    ...{ id: newId(), organizationId: caller.organizationId, symbol, name },
    ...{ decimals: input.decimals ?? 18, logoUrl: input.logoUrl ?? null, createdAt: now, updatedAt: now },
  }
  return written({ point: toPoint(point) }, async (tx) => {
    if (!(await recordPoint(tx, point))) throw conflict(`your organization has points ${symbol} already`)
  })
}
