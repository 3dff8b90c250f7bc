import type { Queryable } from '../../postgres/pool.js'
import type { CapabilityRecord, StreamAprs } from './records.js'
import type { Deltas } from './schema.js'

export type CapabilityPush = { opportunityId: string; capability: CapabilityRecord }
export type TvlPush = { opportunityId: string; tvlUsd: string | null; analyticsAt: Date }
/** Movements, and the APR that yield incentives show where it is indexed. */
export type DeltasPush = { opportunityId: string; deltas: Partial<Deltas>; indexedApr?: number | null }
export type StreamAprsPush = { opportunityId: string; streamAprs: StreamAprs }

/** Replaces what vaults allow, as last read. */
export async function updateCapabilities(tx: Queryable, pushes: readonly CapabilityPush[]): Promise<void> {
  const rows = pushes.map(({ opportunityId, capability: { capabilityAt, ...rest } }) => ({
    opportunityId,
    ...rest,
    capabilityAt: capabilityAt.toISOString(),
  }))
  await tx`
    insert into opportunity_capabilities (opportunity_id, deposit_open, withdraw_open, deposit_closed_reason,
      withdraw_closed_reason, deposit_at_once, withdraw_at_once, capability_at)
    select "opportunityId", "depositOpen", "withdrawOpen", "depositClosedReason", "withdrawClosedReason",
      "depositAtOnce", "withdrawAtOnce", "capabilityAt"
    from jsonb_to_recordset(${tx.json(rows)}) as r ("opportunityId" uuid, "depositOpen" boolean,
      "withdrawOpen" boolean, "depositClosedReason" text, "withdrawClosedReason" text,
      "depositAtOnce" boolean, "withdrawAtOnce" boolean, "capabilityAt" timestamptz)
    where exists (select from opportunities where id = "opportunityId")
    on conflict (opportunity_id) do update set deposit_open = excluded.deposit_open,
      withdraw_open = excluded.withdraw_open, deposit_closed_reason = excluded.deposit_closed_reason,
      withdraw_closed_reason = excluded.withdraw_closed_reason, deposit_at_once = excluded.deposit_at_once,
      withdraw_at_once = excluded.withdraw_at_once, capability_at = excluded.capability_at`
}

/** Replaces TVL figures. A null TVL is one that has no price. */
export async function updateTvl(tx: Queryable, pushes: readonly TvlPush[]): Promise<void> {
  const rows = pushes.map((push) => ({ ...push, analyticsAt: push.analyticsAt.toISOString() }))
  await tx`
    insert into opportunity_analytics (opportunity_id, tvl_usd, analytics_at)
    select "opportunityId", "tvlUsd", "analyticsAt"
    from jsonb_to_recordset(${tx.json(rows)}) as r ("opportunityId" uuid, "tvlUsd" numeric, "analyticsAt" timestamptz)
    where exists (select from opportunities where id = "opportunityId")
    on conflict (opportunity_id) do update set tvl_usd = excluded.tvl_usd, analytics_at = excluded.analytics_at`
}

/** Replaces movements, as computed by those who keep history. */
export async function updateDeltas(tx: Queryable, pushes: readonly DeltasPush[]): Promise<void> {
  await tx`
    insert into opportunity_analytics (opportunity_id, deltas, indexed_apr)
    select "opportunityId", deltas, "indexedApr"
    from jsonb_to_recordset(${tx.json(pushes.map((push) => ({ ...push })))})
      as r ("opportunityId" uuid, deltas jsonb, "indexedApr" numeric)
    where exists (select from opportunities where id = "opportunityId")
    on conflict (opportunity_id) do update set deltas = excluded.deltas, indexed_apr = excluded.indexed_apr`
}

/** Replaces what the streams that run pay. */
export async function updateStreamAprs(tx: Queryable, pushes: readonly StreamAprsPush[]): Promise<void> {
  await tx`
    insert into opportunity_analytics (opportunity_id, stream_aprs)
    select "opportunityId", "streamAprs"
    from jsonb_to_recordset(${tx.json(pushes.map((push) => ({ ...push })))})
      as r ("opportunityId" uuid, "streamAprs" jsonb)
    where exists (select from opportunities where id = "opportunityId")
    on conflict (opportunity_id) do update set stream_aprs = excluded.stream_aprs`
}
