import type { Fragment, Queryable } from '../../postgres/pool.js'
import { identitiesOf, snapshotsOf } from '../../snapshots/index.js'
import { rulesOf } from '../../sync/storeRules.js'
import { vaultsOf } from '../../vaults/configured/index.js'
import { shareReadingsOf } from '../paid/index.js'
import { shareMintsOf } from '../positions/index.js'
import type { InputName } from './statementFacts.js'
import type { StatementFiles } from './statementFiles.js'

type Month = { from: Date; to: Date }

/** The chains that have vaults. */
export async function listVaultChains(db: Queryable): Promise<number[]> {
  const rows = await db<{ chainId: number }[]>`
    select distinct chain_id as "chainId" from ${vaultsOf(db)} v order by chain_id`
  return rows.map(({ chainId }) => chainId)
}

/** Versions of the rules that hold before an instant, with the instant each holds from; version 1 always held. */
export async function listRules(db: Queryable, before: Date): Promise<{ version: number; from: Date }[]> {
  return db<{ version: number; from: Date }[]>`
    select r.version, r.holds_from as "from" from ${rulesOf(db)} r where r.holds_from < ${before} order by r.version`
}

/** The newest snapshot of some vaults on each chain before an instant. */
export async function listLastBlocks(
  db: Queryable,
  vaultIds: readonly number[],
  before: Date,
): Promise<{ chainId: number; blockNumber: number; blockHash: string }[]> {
  return db<{ chainId: number; blockNumber: number; blockHash: string }[]>`
    select distinct on (v.chain_id) v.chain_id as "chainId", s.block_number as "blockNumber",
      hex_text(s.block_hash) as "blockHash"
    from ${vaultsOf(db)} v cross join lateral (
      select * from ${snapshotsOf(db)} s where s.vault_id = v.id and s.block_timestamp < ${before}
      order by s.block_timestamp desc limit 1) s
    where v.id = any(${[...vaultIds]}::int[])
    order by v.chain_id, s.block_number desc`
}

/**
 * SHA-256 of what the USD-days of a distributor in a vault follow from in a month, one line a row in the order of the chain: lots
 * from their beginning on, the rest from the last snapshot at or before the month on.
 */
export async function hashInputs(
  db: Queryable,
  { vaultId, distributorId, from, to }: Month & { vaultId: number; distributorId: string },
): Promise<Record<InputName, string>> {
  const hash = (lines: Fragment) => db`(
    select encode(sha256(convert_to(coalesce(string_agg(line, E'\n' order by place, line), ''), 'UTF8')), 'hex') from (${lines}) l)`
  const within = (at: Fragment) => db`${at} < ${to} and ${at} >= (select at from begin)`
  const [row] = await db<Record<InputName, string>[]>`
    with begin as materialized (
      select coalesce((select max(s.block_timestamp) from ${snapshotsOf(db)} s
        where s.vault_id = ${vaultId} and s.block_timestamp <= ${from}), '-infinity') as at)
    select ${hash(db`
        select array[c.block_number, c.transaction_index] as place,
          concat_ws(' ', c.block_number, c.transaction_index, hex_text(c.wallet), c.before, c.after) as line
        from lot_changes c where c.vault_id = ${vaultId} and c.distributor_id = ${distributorId} and c.block_timestamp < ${to}`)}
        as lots,
      ${hash(db`
        select s.block_number as place, concat_ws(' ', s.block_number, hex_text(s.block_hash), s.total_supply, s.price_numerator,
          s.price_exponent) as line
        from ${snapshotsOf(db)} s where s.vault_id = ${vaultId} and ${within(db`s.block_timestamp`)}`)} as snapshots,
      ${hash(db`
        select s.block_number as place, concat_ws(' ', s.block_number, s.price_observation_id, s.price_usd) as line
        from ${snapshotsOf(db)} s where s.vault_id = ${vaultId} and ${within(db`s.block_timestamp`)}`)} as prices,
      ${hash(db`
        select array[m.block_number, m.log_index] as place, concat_ws(' ', m.block_number, hex_text(m.block_hash), m.log_index,
          m.shares, m.assets) as line
        from ${shareMintsOf(db)} m where m.vault_id = ${vaultId} and ${within(db`m.block_timestamp`)}`)} as mints,
      ${hash(db`
        select r.block_number as place, concat_ws(' ', r.block_number, hex_text(r.block_hash), r.price_numerator,
          r.price_exponent) as line
        from ${shareReadingsOf(db)} r where r.vault_id = ${vaultId} and ${within(db`r.block_timestamp`)}`)} as readings,
      ${hash(db`
        select i.block_number as place, concat_ws(' ', i.block_number, hex_text(i.block_hash), i.agrees) as line
        from ${identitiesOf(db)} i where i.vault_id = ${vaultId} and ${within(db`i.block_timestamp`)}`)} as identities`
  if (!row) throw new Error('a statement without a table gives one row')
  return row
}

export type StatementKey = { distributorId: string; month: string; terms: string }
export type KeptStatement = { revision: number; document: string; rowsCsv: string; manifest: string }

/** The newest revision of a statement. */
export async function findStatement(db: Queryable, key: StatementKey): Promise<KeptStatement | undefined> {
  const [row] = await db<KeptStatement[]>`
    select revision, document, rows_csv as "rowsCsv", manifest from statements
    where distributor_id = ${key.distributorId} and month = ${key.month} and terms = ${key.terms}
    order by revision desc limit 1`
  return row
}

/** Keeps a revision; false where another process kept one of the same number first. */
export async function recordStatement(
  db: Queryable,
  { distributorId, month, terms }: StatementKey,
  made: StatementFiles & { revision: number; madeAt: Date; rulesVersion: number },
): Promise<boolean> {
  const { revision, madeAt, rulesVersion, sha256, document, rowsCsv, manifest } = made
  const { count } = await db`
    insert into statements (distributor_id, month, terms, revision, made_at, rules_version, sha256, document, rows_csv, manifest)
    values (${distributorId}, ${month}, ${terms}, ${revision}, ${madeAt}, ${rulesVersion}, decode(${sha256}, 'hex'), ${document},
      ${rowsCsv}, ${manifest})
    on conflict do nothing`
  return count === 1
}
