import type { InteractionRow, TransactionAttribution } from '../../derive/rows.js'
import { formatUnits } from '../../kernel/amount.js'
import {
  bool,
  decimal,
  hex,
  int4,
  int8,
  nullable,
  numeric,
  oneOf,
  seconds,
  text,
  texts,
  uuid,
} from '../../postgres/columns.js'
import type { Fragment, Queryable } from '../../postgres/pool.js'
import { describeTable, insertRows, parseRows, type RowOf, selectList } from '../../postgres/table.js'
import { isWithheld, listWithheld, type Withheld } from '../../snapshots/index.js'
import type { Above, Place } from '../../sync/projection.js'
import { vaultsOf } from '../../vaults/configured/index.js'
import { addCounts, removeCountsOf } from './storeCounts.js'
import { choosePrices } from './storePrices.js'

export const transactionAttributionsTable = describeTable('transaction_attributions', {
  chainId: [int8],
  blockNumber: [int8],
  blockHash: [hex],
  timestamp: [seconds, 'block_timestamp'],
  transactionHash: [hex],
  transactionIndex: [int4],
  from: [hex, 'sender'],
  to: [nullable(hex), 'target'],
  distributorId: [nullable(text)],
  codes: [texts],
  schema: [nullable(text)],
  signatureValid: [nullable(bool)],
  /** The action of ours its signed suffix names. */
  actionId: [nullable(uuid)],
  /** Why something its calldata says does not count. */
  problems: [texts],
  /** Its block was orphaned. */
  retracted: [bool],
})

/** Transactions with the codes they carry, as statements of other rooms read them. */
export const transactionAttributionsOf = (db: Queryable): Fragment => db.view`(
  select chain_id, block_number, transaction_index, block_hash, transaction_hash, sender, target, distributor_id, codes,
    signature_valid, problems, retracted
  from transaction_attributions)`

export const interactionsTable = describeTable('interactions', {
  id: [uuid],
  chainId: [int8],
  vaultId: [int4],
  kind: [oneOf<InteractionRow['kind']>()],
  blockNumber: [int8],
  blockHash: [text],
  timestamp: [seconds, 'block_timestamp'],
  transactionHash: [text],
  transactionIndex: [int4],
  logIndex: [int4],
  wallet: [text],
  distributorId: [text],
  attribution: [oneOf<InteractionRow['attribution']>()],
  assets: [numeric],
  shares: [numeric],
  /** Whole units of the asset; null where nobody knows which token it was. */
  amount: [nullable(decimal)],
  isSwap: [bool],
  amountUsd: [nullable(decimal)],
  priceObservationId: [nullable(int8)],
})

export const countsTable = describeTable('interaction_counts', {
  chainId: [int8],
  vaultId: [int4],
  distributorId: [text],
  kind: [oneOf<InteractionRow['kind']>()],
  entries: [int8],
})

/** The members of a vault that the ledger needs. */
export type LedgerVault = { asset: string; assetDecimals: number }

/** Vaults of a chain by id. */
export async function listLedgerVaults(db: Queryable, chainId: number): Promise<Map<number, LedgerVault>> {
  const rows = await db<(LedgerVault & { id: number })[]>`
    select id, lower(asset) as asset, asset_decimals as "assetDecimals" from ${vaultsOf(db)} v where chain_id = ${chainId}`
  return new Map(rows.map(({ id, ...vault }) => [id, vault]))
}

const column = <T, V>(rows: readonly T[], read: (row: T) => V): V[] => rows.map(read)

const amountOf = (
  { vaultId, assets, blockNumber }: InteractionRow,
  vaults: ReadonlyMap<number, LedgerVault>,
  withheld: ReadonlyMap<number, readonly Withheld[]>,
): string | null =>
  isWithheld(withheld.get(vaultId), blockNumber) ? null : formatUnits(assets, vaults.get(vaultId)?.assetDecimals ?? 0)

/**
 * Writes ledger entries, priced by the observation that is chosen for their token and block (`storePrices.ts`). Live
 * derivation chooses; a rebuild only reads the choices, so that it gives the same digits.
 */
export async function recordInteractions(
  db: Queryable,
  chainId: number,
  rows: readonly InteractionRow[],
  vaults: ReadonlyMap<number, LedgerVault>,
): Promise<void> {
  if (rows.length === 0) return
  const withheld = await listWithheld(
    db,
    chainId,
    column(rows, (r) => r.vaultId),
  )
  const assetOf = ({ vaultId }: InteractionRow) => vaults.get(vaultId)?.asset ?? ''
  await choosePrices(
    db,
    chainId,
    rows.map((row) => ({ ...row, asset: assetOf(row) })),
  )
  const amount = (row: InteractionRow) => amountOf(row, vaults, withheld)
  await db`
    insert into interactions (id, chain_id, vault_id, kind, block_number, block_hash, block_timestamp, transaction_hash,
      transaction_index, log_index, wallet, distributor_id, attribution, assets, shares, amount, is_swap, amount_usd,
      price_observation_id)
    select t.id, ${chainId}, t.vault_id, t.kind, t.block_number, t.block_hash, to_timestamp(t.at), t.transaction_hash,
      t.transaction_index, t.log_index, t.wallet, t.distributor_id, t.attribution, t.assets, t.shares, t.amount, t.is_swap,
      trunc(t.amount * p.price_usd, 18), case when t.amount is not null then p.id end
    from unnest(${column(rows, (r) => r.id)}::uuid[], ${column(rows, (r) => r.vaultId)}::int[], ${column(rows, (r) => r.kind)}::text[],
      ${column(rows, (r) => r.blockNumber)}::bigint[], ${column(rows, (r) => r.blockHash)}::text[],
      ${column(rows, (r) => r.timestamp)}::bigint[], ${column(rows, (r) => r.transactionHash)}::text[],
      ${column(rows, (r) => r.transactionIndex)}::int[], ${column(rows, (r) => r.logIndex)}::int[],
      ${column(rows, (r) => r.wallet)}::text[], ${column(rows, (r) => r.distributorId)}::text[],
      ${column(rows, (r) => r.attribution)}::text[], ${column(rows, (r) => r.assets.toString())}::numeric[],
      ${column(rows, (r) => r.shares.toString())}::numeric[], ${column(rows, amount)}::numeric[],
      ${column(rows, (r) => r.isSwap)}::boolean[], ${column(rows, assetOf)}::text[])
      as t (id, vault_id, kind, block_number, block_hash, at, transaction_hash, transaction_index, log_index, wallet,
        distributor_id, attribution, assets, shares, amount, is_swap, asset)
    left join price_choices c on c.chain_id = ${chainId} and c.address = t.asset and c.block_hash = t.block_hash
    left join price_observations p on p.id = c.price_observation_id`
  await addCounts(
    db,
    rows.map(({ vaultId, distributorId, kind }) => ({ chainId, vaultId, distributorId, kind })),
  )
}

/** Writes entries of a rebuild into the twin table; `priceRebuilt` then prices all of them at once. */
export async function copyInteractions(
  db: Queryable,
  chainId: number,
  rows: readonly InteractionRow[],
  vaults: ReadonlyMap<number, LedgerVault>,
  place: Place,
): Promise<void> {
  if (rows.length === 0) return
  const withheld = await listWithheld(
    db,
    chainId,
    column(rows, (r) => r.vaultId),
  )
  const priced = rows.map((row) => ({ ...row, amount: amountOf(row, vaults, withheld) }))
  const shared = { chainId, amountUsd: null, priceObservationId: null }
  await insertRows(db, place(interactionsTable), priced, { shared })
}

/** Writes what transactions say; a row that was retracted and has come back in the same block counts again. */
export async function recordTransactionAttributions(
  db: Queryable,
  chainId: number,
  rows: readonly TransactionAttribution[],
  place: Place,
): Promise<void> {
  await insertRows(db, place(transactionAttributionsTable), rows, {
    shared: { chainId, retracted: false },
    conflict: `(chain_id, block_hash, transaction_hash) do update set retracted = false,
      distributor_id = excluded.distributor_id, codes = excluded.codes, schema = excluded.schema,
      signature_valid = excluded.signature_valid, action_id = excluded.action_id, problems = excluded.problems`,
  })
}

/** The attribution of a transaction, once for each block it was in; those of orphaned blocks are retracted. */
export type RecordedAttribution = Omit<RowOf<typeof transactionAttributionsTable>, 'timestamp'> & { timestamp: Date }

/** The recorded attributions of a transaction, newest last. */
export async function listTransactionAttributions(
  db: Queryable,
  txHash: string,
  chainId?: number,
): Promise<RecordedAttribution[]> {
  const rows = await db<object[]>`
    select ${selectList(db, transactionAttributionsTable)} from transaction_attributions
    where transaction_hash = hex_bytes(${txHash}) ${chainId === undefined ? db`` : db`and chain_id = ${chainId}`}
    order by chain_id, retracted desc, block_number`
  return parseRows(transactionAttributionsTable, rows).map((row) => ({
    ...row,
    timestamp: new Date(row.timestamp * 1000),
  }))
}

/**
 * Takes the ledger of a chain back to a block because the chain did: entries go and a record of each stays; what
 * transactions said stays, marked. Returns how many entries went. Rows are found between two ends: without the upper one
 * PostgreSQL takes what lies above a block of a low chain for most of the rows of all chains, and reads them all.
 */
export async function retractLedger(db: Queryable, { chainId, number, tip }: Above, reorgId: number): Promise<number> {
  const [from, to] = [number + 1, Math.max(number, tip)]
  await removeCountsOf(db, { chainId, from, to })
  const gone = await db`
    with gone as (
      delete from interactions where chain_id = ${chainId} and block_number between ${from} and ${to} returning *)
    insert into retractions (interaction_id, reorg_id, chain_id, block_number, block_hash, transaction_hash, log_index,
      distributor_id, kind, wallet, assets)
    select id, ${reorgId}, chain_id, block_number, block_hash, transaction_hash, log_index, distributor_id, kind, wallet,
      assets from gone
    on conflict (interaction_id) do update set reorg_id = excluded.reorg_id`
  await db`
    update transaction_attributions set retracted = true
    where chain_id = ${chainId} and block_number between ${from} and ${to} and not retracted`
  return gone.count
}

/** Drops the ledger of a chain above a block so that it can be derived anew from the same chain. */
export async function removeLedgerAbove(db: Queryable, { chainId, number, tip }: Above): Promise<void> {
  const [from, to] = [number + 1, Math.max(number, tip)]
  await removeCountsOf(db, { chainId, from, to })
  await db`delete from interactions where chain_id = ${chainId} and block_number between ${from} and ${to}`
  await db`
    delete from transaction_attributions
    where chain_id = ${chainId} and block_number between ${from} and ${to} and not retracted`
}
