import type { DeriveVault } from '../../derive/config.js'
import type { InteractionRow, WatchedRow } from '../../derive/rows.js'
import { formatUnits } from '../../kernel/amount.js'
import type { Queryable } from '../../postgres/pool.js'
import { addCounts, removeCountsAbove } from './storeCounts.js'
import { choosePrices } from './storePrices.js'

const column = <T, V>(rows: readonly T[], read: (row: T) => V): V[] => rows.map(read)

/**
 * Writes ledger entries, priced by the observation that was chosen for their token and block (`storePrices.ts`). What is
 * followed chooses; a rebuild only reads, so that it gives the digits that were there.
 */
export async function recordInteractions(
  db: Queryable,
  chainId: number,
  rows: readonly InteractionRow[],
  vaults: ReadonlyMap<number, DeriveVault>,
  options: { choosePrices: boolean },
): Promise<void> {
  if (rows.length === 0) return
  const assetOf = ({ vaultId }: InteractionRow) => vaults.get(vaultId)?.asset ?? ''
  if (options.choosePrices) {
    const moved = rows.map((row) => ({ ...row, asset: assetOf(row) }))
    await choosePrices(db, chainId, moved)
  }
  const amount = ({ vaultId, assets }: InteractionRow) => formatUnits(assets, vaults.get(vaultId)?.assetDecimals ?? 0)
  await db`
    insert into interactions (id, chain_id, vault_id, kind, block_number, block_hash, block_timestamp, transaction_hash,
      transaction_index, log_index, wallet, distributor_id, attribution, assets, shares, amount, is_swap, amount_usd,
      price_observation_id)
    select t.id, ${chainId}, t.vault_id, t.kind, t.block_number, t.block_hash, to_timestamp(t.at), t.transaction_hash,
      t.transaction_index, t.log_index, t.wallet, t.distributor_id, t.attribution, t.assets, t.shares, t.amount, t.is_swap = 1,
      trunc(t.amount * p.price_usd, 18), p.id
    from unnest(${column(rows, (r) => r.id)}::uuid[], ${column(rows, (r) => r.vaultId)}::int[], ${column(rows, (r) => r.kind)}::text[],
      ${column(rows, (r) => r.blockNumber)}::bigint[], ${column(rows, (r) => r.blockHash)}::text[],
      ${column(rows, (r) => r.timestamp)}::bigint[], ${column(rows, (r) => r.transactionHash)}::text[],
      ${column(rows, (r) => r.transactionIndex)}::int[], ${column(rows, (r) => r.logIndex)}::int[],
      ${column(rows, (r) => r.wallet)}::text[], ${column(rows, (r) => r.distributorId)}::text[],
      ${column(rows, (r) => r.attribution)}::text[], ${column(rows, (r) => r.assets.toString())}::numeric[],
      ${column(rows, (r) => r.shares.toString())}::numeric[], ${column(rows, amount)}::numeric[],
      ${column(rows, (r) => Number(r.isSwap))}::int[], ${column(rows, assetOf)}::text[])
      as t (id, vault_id, kind, block_number, block_hash, at, transaction_hash, transaction_index, log_index, wallet,
        distributor_id, attribution, assets, shares, amount, is_swap, asset)
    left join price_choices c on c.chain_id = ${chainId} and c.address = t.asset and c.block_hash = t.block_hash
    left join price_observations p on p.id = c.price_observation_id`
  await addCounts(
    db,
    rows.map(({ vaultId, distributorId, kind }) => ({ chainId, vaultId, distributorId, kind })),
  )
}

/** Writes what was watched; a row that was retracted and has come back in the same block counts again. */
export async function recordWatched(db: Queryable, chainId: number, rows: readonly WatchedRow[]): Promise<void> {
  if (rows.length === 0) return
  await db`
    insert into watched (chain_id, block_number, block_hash, block_timestamp, transaction_hash, transaction_index, sender,
      target, distributor_id, codes, schema, signature_valid, action_id, problems)
    select ${chainId}, block_number, block_hash, to_timestamp(at), transaction_hash, transaction_index, sender, target,
      distributor_id, array(select jsonb_array_elements_text(codes::jsonb)), schema, signature_valid = 1, action_id,
      array(select jsonb_array_elements_text(problems::jsonb))
    from unnest(${column(rows, (r) => r.blockNumber)}::bigint[], ${column(rows, (r) => r.blockHash)}::text[],
      ${column(rows, (r) => r.timestamp)}::bigint[], ${column(rows, (r) => r.transactionHash)}::text[],
      ${column(rows, (r) => r.transactionIndex)}::int[], ${column(rows, (r) => r.from)}::text[],
      ${column(rows, (r) => r.to)}::text[], ${column(rows, (r) => r.distributorId)}::text[],
      ${column(rows, (r) => JSON.stringify(r.codes))}::text[], ${column(rows, (r) => r.schema)}::text[],
      ${column(rows, (r) => (r.signatureValid === null ? null : Number(r.signatureValid)))}::int[],
      ${column(rows, (r) => r.actionId)}::uuid[], ${column(rows, (r) => JSON.stringify(r.problems))}::text[])
      as t (block_number, block_hash, at, transaction_hash, transaction_index, sender, target, distributor_id, codes, schema,
        signature_valid, action_id, problems)
    on conflict (chain_id, block_hash, transaction_hash) do update set retracted = false,
      distributor_id = excluded.distributor_id, codes = excluded.codes, schema = excluded.schema,
      signature_valid = excluded.signature_valid, action_id = excluded.action_id, problems = excluded.problems`
}

/**
 * Takes the ledger of a chain back to a block because the chain did: entries go and a record of each stays; what was
 * watched stays, marked. Answers how many entries went.
 */
export async function retractLedger(db: Queryable, chainId: number, number: number, reorgId: number): Promise<number> {
  await removeCountsAbove(db, chainId, number)
  const gone = await db`
    with gone as (
      delete from interactions where chain_id = ${chainId} and block_number > ${number} returning *)
    insert into retractions (interaction_id, reorg_id, chain_id, block_number, block_hash, transaction_hash, log_index,
      distributor_id, kind, wallet, assets)
    select id, ${reorgId}, chain_id, block_number, block_hash, transaction_hash, log_index, distributor_id, kind, wallet,
      assets from gone
    on conflict (interaction_id) do update set reorg_id = excluded.reorg_id`
  await db`
    update watched set retracted = true where chain_id = ${chainId} and block_number > ${number} and not retracted`
  return gone.count
}

/** Drops the ledger of a chain above a block so that it can be derived anew from the same chain. */
export async function removeLedgerAbove(db: Queryable, chainId: number, number: number): Promise<void> {
  await removeCountsAbove(db, chainId, number)
  await db`delete from interactions where chain_id = ${chainId} and block_number > ${number}`
  await db`delete from watched where chain_id = ${chainId} and block_number > ${number} and not retracted`
}

/** Drops the ledger of a chain so that a rebuild can write it; what was watched in orphaned blocks is a record and stays. */
export async function removeLedger(db: Queryable, chainId: number): Promise<void> {
  await db`delete from interaction_counts where chain_id = ${chainId}`
  await db`delete from interactions where chain_id = ${chainId}`
  await db`delete from watched where chain_id = ${chainId} and not retracted`
}
