import type { Queryable } from '../../postgres/pool.js'
import { snapshotsOf } from '../../snapshots/index.js'
import { everyHolder } from './changes.js'

/** The shares of a wallet in a vault and a scope, from an instant on. */
export type HoldingChange = { vaultId: number; wallet: string; at: number; after: string }

const rowsAtOnce = 10_000

/**
 * The holdings of wallets in vaults and a scope after each change before an instant, as far as metrics are derived, one wallet
 * after the other in the order of time. Read from the changes of holdings, not from stored sums and counts.
 */
export function streamHoldings(
  db: Queryable,
  { scope, vaultIds, end }: { scope: string; vaultIds: readonly number[]; end: number },
): AsyncIterable<HoldingChange[]> {
  const ids = [...vaultIds]
  const derived = db`
    c.vault_id = any(${ids}::int[]) and c.block_timestamp < to_timestamp(${end})
      and c.block_number <= (select p.derived_to from projections p where p.chain_id = c.chain_id and p.name = 'metrics')`
  const columns = db`c.vault_id as "vaultId", hex_text(c.wallet) as wallet, date_part('epoch', c.block_timestamp) as at`
  const order = db`order by c.vault_id, c.wallet, c.block_number, c.transaction_index`
  const rows =
    scope === everyHolder || scope === '*'
      ? db<HoldingChange[]>`
          select ${columns}, ${scope === everyHolder ? db`c.after` : db`c.attributed_after`}::text as after
          from balance_changes c where ${derived} ${order}`
      : db<HoldingChange[]>`
          select ${columns}, c.after::text as after from lot_changes c
          where c.distributor_id = ${scope} and ${derived} ${order}`
  return rows.cursor(rowsAtOnce)
}

/** A snapshot as the value of shares is counted from it. */
export type PricedSnapshot = {
  vaultId: number
  blockNumber: number
  unixSeconds: number
  priceNumerator: string
  priceExponent: number
  priceUsd: string | null
}

/** The newest snapshot of each vault before an instant. */
export function listSnapshotsBefore(
  db: Queryable,
  vaultIds: readonly number[],
  end: number,
): Promise<PricedSnapshot[]> {
  return db<PricedSnapshot[]>`
    select v.id as "vaultId", s.block_number as "blockNumber", date_part('epoch', s.block_timestamp) as "unixSeconds",
      s.price_numerator::text as "priceNumerator", s.price_exponent as "priceExponent", s.price_usd::text as "priceUsd"
    from unnest(${[...vaultIds]}::int[]) as v (id) cross join lateral (
      select * from ${snapshotsOf(db)} s where vault_id = v.id and block_timestamp < to_timestamp(${end})
      order by block_timestamp desc, block_number desc limit 1) s
    order by v.id`
}
