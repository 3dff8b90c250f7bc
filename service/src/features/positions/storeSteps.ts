import type { Database } from '../../postgres/pool.js'

/** Selects the holdings of a vault at the end of block `from` (instant `at`), and their changes up to the end of `to`. */
export type StepsAsk = { chainId: number; vaultId: number; from: number; to: number; at: number }

/** A wallet's shares from an instant (unix seconds) on. */
export type ShareStep = { at: number; wallet: string; shares: bigint }
export type LotShareStep = ShareStep & { distributorId: string }

/** Rows read at a time. */
const chunk = 20_000

/**
 * Shares of every holder and their changes, in the order of time. The holding at the end of a block is the present holding, or,
 * for a holder with later changes, the holding before the first of them.
 */
export async function listShareSteps(db: Database, { chainId, vaultId, from, to, at }: StepsAsk): Promise<ShareStep[]> {
  const held = db<{ wallet: string; shares: string }[]>`
    with moved as (
      select distinct on (wallet) wallet, before from balance_changes
      where chain_id = ${chainId} and vault_id = ${vaultId} and block_number > ${from}
      order by wallet, block_number, transaction_index)
    select hex_text(b.wallet) as wallet, coalesce(m.before, b.shares) as shares
    from balances b left join moved m on m.wallet = b.wallet
    where b.vault_id = ${vaultId} and coalesce(m.before, b.shares) > 0
    order by b.wallet`
  const changes = db<{ at: number; wallet: string; shares: string }[]>`
    select date_part('epoch', block_timestamp)::bigint as at, hex_text(wallet) as wallet, after as shares
    from balance_changes
    where chain_id = ${chainId} and vault_id = ${vaultId} and block_number > ${from} and block_number <= ${to}
    order by block_number, transaction_index, wallet`
  const names = new Map<string, string>()
  const [before, since] = await Promise.all([
    collect(held, ({ wallet, shares }) => ({ at, wallet: keepName(names, wallet), shares: BigInt(shares) })),
    collect(changes, (row) => ({ at: row.at, wallet: keepName(names, row.wallet), shares: BigInt(row.shares) })),
  ])
  return before.concat(since)
}

/** The same of the lots of some distributors. */
export async function listLotSteps(
  db: Database,
  { chainId, vaultId, from, to, at }: StepsAsk,
  distributorIds: readonly string[],
): Promise<LotShareStep[]> {
  if (distributorIds.length === 0) return []
  const own = [...distributorIds]
  const held = db<{ wallet: string; distributorId: string; shares: string }[]>`
    with moved as (
      select distinct on (wallet, distributor_id) wallet, distributor_id, before from lot_changes
      where chain_id = ${chainId} and vault_id = ${vaultId} and block_number > ${from}
        and distributor_id = any(${own}::text[])
      order by wallet, distributor_id, block_number, transaction_index)
    select hex_text(l.wallet) as wallet, l.distributor_id as "distributorId", coalesce(m.before, l.shares) as shares
    from lots l left join moved m on m.wallet = l.wallet and m.distributor_id = l.distributor_id
    where l.vault_id = ${vaultId} and l.distributor_id = any(${own}::text[]) and coalesce(m.before, l.shares) > 0
    order by l.wallet, l.distributor_id`
  const changes = db<{ at: number; wallet: string; distributorId: string; shares: string }[]>`
    select date_part('epoch', block_timestamp)::bigint as at, hex_text(wallet) as wallet,
      distributor_id as "distributorId", after as shares
    from lot_changes
    where chain_id = ${chainId} and vault_id = ${vaultId} and block_number > ${from} and block_number <= ${to}
      and distributor_id = any(${own}::text[])
    order by block_number, transaction_index, wallet, distributor_id`
  const [before, since] = await Promise.all([
    collect(held, (row) => ({ ...row, at, shares: BigInt(row.shares) })),
    collect(changes, (row) => ({ ...row, shares: BigInt(row.shares) })),
  ])
  return before.concat(since)
}

type Reading<Row> = { cursor(size: number): AsyncIterable<Row[]> }

/** All rows of a statement, read in parts by a connection of its own: two are read at once, for the server works longest. */
async function collect<Row, Step>(reading: Reading<Row>, parse: (row: Row) => Step): Promise<Step[]> {
  const steps: Step[] = []
  for await (const rows of reading.cursor(chunk)) for (const row of rows) steps.push(parse(row))
  return steps
}

/** One text a wallet, however often it moves. */
function keepName(names: Map<string, string>, wallet: string): string {
  const known = names.get(wallet)
  if (known === undefined) names.set(wallet, wallet)
  return known ?? wallet
}
