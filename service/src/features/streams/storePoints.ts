import type { Queryable, Transaction } from '../../postgres/pool.js'

export type PointRow = {
  id: string
  organizationId: string
  symbol: string
  name: string
  decimals: number
  logoUrl: string | null
  createdAt: Date
  updatedAt: Date
}

export type PointFilter = {
  ids?: readonly string[] | undefined
  organizationId?: string | undefined
  symbol?: string | undefined
  name?: string | undefined
}

/** Points, in the order they were created. */
export async function listPoints(db: Queryable, filter: PointFilter): Promise<PointRow[]> {
  const { ids, organizationId, symbol, name } = filter
  return db<PointRow[]>`
    select id, organization_id as "organizationId", symbol, name, decimals, logo_url as "logoUrl",
      created_at as "createdAt", updated_at as "updatedAt"
    from stream_points where true
    ${ids === undefined ? db`` : db`and id = any(${[...ids]}::uuid[])`}
    ${organizationId === undefined ? db`` : db`and organization_id = ${organizationId}`}
    ${symbol === undefined ? db`` : db`and symbol = ${symbol.toUpperCase()}`}
    ${name === undefined ? db`` : db`and name = ${name}`}
    order by created_at, id`
}

/** Adds points; false where the organization has some of this symbol. */
export async function recordPoint(tx: Transaction, point: PointRow): Promise<boolean> {
  const { id, organizationId, symbol, name, decimals, logoUrl, createdAt, updatedAt } = point
  const inserted = await tx`
    insert into stream_points (id, organization_id, symbol, name, decimals, logo_url, created_at, updated_at)
    values (${id}, ${organizationId}, ${symbol}, ${name}, ${decimals}, ${logoUrl}, ${createdAt}, ${updatedAt})
    on conflict (organization_id, symbol) do nothing returning id`
  return inserted.length > 0
}
