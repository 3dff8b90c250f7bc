import type { Queryable } from '../../postgres/pool.js'
import { depths } from '../../sync/storeDepths.js'

/** Verified entries of one kind together. `usd`: US dollars of those that have a price; `unpriced`: how many have none. */
export type FlowSum = { count: number; usd: string; unpriced: number }

export type Flows = { deposits: FlowSum; withdrawals: FlowSum }

const none: FlowSum = { count: 0, usd: '0', unpriced: 0 }

/** The sums of a distributor's verified entries at some vaults, from an instant up to another, which is not part of it. */
export async function sumFlowsOf(
  db: Queryable,
  { distributorId, vaultIds }: { distributorId: string; vaultIds: readonly number[] },
  { from, to }: { from: Date; to: Date },
): Promise<Flows> {
  const rows = await db<(FlowSum & { kind: string })[]>`
    select i.kind, count(*)::int as count, trim_scale(coalesce(sum(i.amount_usd), 0))::text as usd,
      count(*) filter (where i.amount_usd is null)::int as unpriced
    from interactions i join ${depths(db)} d on d.chain_id = i.chain_id and i.block_number <= d.confirmed
    where i.distributor_id = ${distributorId} and i.vault_id = any(${[...vaultIds]}::int[])
      and i.block_timestamp >= ${from} and i.block_timestamp < ${to}
    group by i.kind`
  const sumOf = (kind: string): FlowSum => {
    const row = rows.find((each) => each.kind === kind)
    return row ? { count: row.count, usd: row.usd, unpriced: row.unpriced } : none
  }
  return { deposits: sumOf('deposit'), withdrawals: sumOf('withdraw') }
}
