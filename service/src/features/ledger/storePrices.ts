import { type Database, inTransaction, type Queryable, type Transaction } from '../../postgres/pool.js'
import { listWithheld } from '../../snapshots/index.js'
import { lockCursor } from '../../sync/storeCursors.js'
import { vaultsOf } from '../../vaults/configured/index.js'

/** A token in a block: all entries of it share one price. */
export type Priced = { asset: string; blockNumber: number; blockHash: string; timestamp: number }

const column = <T, V>(rows: readonly T[], read: (row: T) => V): V[] => rows.map(read)

/**
 * Chooses the price of each token in each block: the last observation at or before the block's time, if any.
 * Earlier choices stay.
 */
export async function choosePrices(db: Queryable, chainId: number, rows: readonly Priced[]): Promise<void> {
  await db`
    insert into price_choices (chain_id, address, block_number, block_hash, price_observation_id)
    select ${chainId}, t.asset, t.block_number, t.block_hash, p.id
    from (select distinct * from unnest(${column(rows, (r) => r.asset)}::text[],
        ${column(rows, (r) => r.blockNumber)}::bigint[], ${column(rows, (r) => r.blockHash)}::text[],
        ${column(rows, (r) => r.timestamp)}::bigint[]) as t (asset, block_number, block_hash, at)) t
    cross join lateral price_at(${chainId}, t.asset, to_timestamp(t.at)) p
    on conflict do nothing`
}

/** Drops the choices for orphaned blocks. */
export async function removePriceChoicesAbove(
  db: Queryable,
  { chainId, number, tip }: { chainId: number; number: number; tip: number },
): Promise<void> {
  const [from, to] = [number + 1, Math.max(number, tip)]
  await db`delete from price_choices where chain_id = ${chainId} and block_number between ${from} and ${to}`
}

type Unpriced = Priced & { id: string }

/** Entries without a price though there is one of their time, some of them. */
async function listUnpriced(db: Queryable, chainId: number, limit: number): Promise<Unpriced[]> {
  return db<Unpriced[]>`
    select i.id, v.asset, i.block_number as "blockNumber", i.block_hash as "blockHash",
      extract(epoch from i.block_timestamp)::bigint as timestamp
    from ${vaultsOf(db)} v
    cross join lateral (
      select min(o.observed_at) as since from price_observations o
      where o.chain_id = v.chain_id and o.address = v.asset and o.withheld is null) first
    join interactions i on i.vault_id = v.id and i.amount_usd is null and i.amount is not null
      and i.block_timestamp >= first.since
    cross join lateral price_at(v.chain_id, v.asset, i.block_timestamp) p
    where v.chain_id = ${chainId}
    limit ${limit}`
}

const entriesMax = 5_000

/**
 * Prices entries that were written when nothing had been observed yet, once something has. Each is filled once, and the
 * choice is recorded with it, so a rebuild gives the same digits before and after. Returns how many were filled.
 */
export async function fillLatePrices(db: Database, chainId: number): Promise<number> {
  let filled = 0
  for (;;) {
    if ((await listUnpriced(db, chainId, 1)).length === 0) return filled
    const count = await inTransaction(db, async (tx) => {
      // No block comes or goes meanwhile.
      await lockCursor(tx, chainId)
      const rows = await listUnpriced(tx, chainId, entriesMax)
      if (rows.length === 0) return 0
      await choosePrices(tx, chainId, rows)
      const done = await tx`
        update interactions i set price_observation_id = o.id, amount_usd = trunc(i.amount * o.price_usd, 18)
        from ${vaultsOf(tx)} v, price_choices c, price_observations o
        where i.id = any(${column(rows, (r) => r.id)}::uuid[]) and v.id = i.vault_id and c.chain_id = i.chain_id
          and c.address = v.asset and c.block_hash = i.block_hash and o.id = c.price_observation_id`
      return done.count
    })
    filled += count
    if (count === 0) return filled
  }
}

/** Prices entries derived again by what was chosen for them. */
export async function priceRebuilt(tx: Transaction, chainId: number, entries: string): Promise<void> {
  await tx`
    update ${tx(entries)} i set price_observation_id = o.id, amount_usd = trunc(i.amount * o.price_usd, 18)
    from ${vaultsOf(tx)} v, price_choices c, price_observations o
    where i.amount_usd is null and i.amount is not null and v.id = i.vault_id and c.chain_id = ${chainId} and c.address = lower(v.asset)
      and c.block_hash = i.block_hash and o.id = c.price_observation_id`
}

/**
 * Removes the units and US dollars of entries of vaults that differ from their configuration, back to the last reading that
 * agreed, and restores them if the differing reading was orphaned. Returns how many changed.
 */
export async function settleAmounts(db: Database, chainId: number): Promise<number> {
  const [taken] = await db<{ some: boolean }[]>`
    select exists (select from interactions where amount is null and chain_id = ${chainId}) as some`
  if (!taken?.some && (await listWithheld(db, chainId)).size === 0) return 0
  return inTransaction(db, async (tx) => {
    // No block comes or goes meanwhile.
    await lockCursor(tx, chainId)
    const spans = [...(await listWithheld(tx, chainId))].flatMap(([vaultId, withheld]) =>
      withheld.map(({ from, to }) => ({ vaultId, from, to })),
    )
    const within = tx`select from jsonb_to_recordset(${tx.json(spans)}) as s ("vaultId" integer, "from" bigint, "to" bigint)
      where s."vaultId" = i.vault_id and i.block_number between s."from" and s."to"`
    const withdrawn = await tx`
      update interactions i set amount = null, amount_usd = null, price_observation_id = null
      where i.chain_id = ${chainId} and i.vault_id = any(${column(spans, ({ vaultId }) => vaultId)}::int[])
        and i.amount is not null and exists (${within})`
    const given = await tx`
      update interactions e
      set amount = g.amount, amount_usd = trunc(g.amount * g.price_usd, 18), price_observation_id = g.observation
      from (
        select i.id, trim_scale(i.assets * ('1e-' || v.asset_decimals)::numeric) as amount, o.price_usd,
          o.id as observation
        from interactions i join ${vaultsOf(tx)} v on v.id = i.vault_id
        left join price_choices c on c.chain_id = i.chain_id and c.address = lower(v.asset)
          and c.block_hash = i.block_hash
        left join price_observations o on o.id = c.price_observation_id
        where i.chain_id = ${chainId} and i.amount is null and not exists (${within})) g
      where e.id = g.id`
    return withdrawn.count + given.count
  })
}
