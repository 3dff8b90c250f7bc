import type { Queryable } from '../../postgres/pool.js'

/** Of a vault: what is held at the end of block `from`, at the instant `at`, and what changes from there to the end of `to`. */
export type StepsAsk = { chainId: number; vaultId: number; from: number; to: number; at: number }

/** A wallet's shares from an instant (unix seconds) on. */
export type ShareStep = { at: number; wallet: string; shares: bigint }
export type LotShareStep = ShareStep & { distributorId: string }

/** Rows read at a time. */
const chunk = 20_000

/**
 * Shares of every holder and each of their changes, in the order of time. What was held at the end of a block is what is
 * held now, but for those that moved since: of these it is what they had before they first did.
 */
export async function listShareSteps(
  db: Queryable,
  { chainId, vaultId, from, to, at }: StepsAsk,
): Promise<ShareStep[]> {
  const held = db<{ wallet: string; shares: string }[]>`
    with moved as (
      select distinct on (wallet) wallet, before from balance_changes
      where chain_id = ${chainId} and vault_id = ${vaultId} and block_number > ${from}
      order by wallet, block_number, transaction_index)
    select hex_text(b.wallet) as wallet, coalesce(m.before, b.shares) as shares
    from balances b left join moved m on m.wallet = b.wallet
    where b.vault_id = ${vaultId} and coalesce(m.before, b.shares) > 0`
  const changes = db<{ at: number; wallet: string; shares: string }[]>`
    select extract(epoch from block_timestamp)::bigint as at, hex_text(wallet) as wallet, after as shares
    from balance_changes
    where chain_id = ${chainId} and vault_id = ${vaultId} and block_number > ${from} and block_number <= ${to}
    order by block_number, transaction_index`
  const steps: ShareStep[] = []
  for await (const rows of held.cursor(chunk))
    for (const { wallet, shares } of rows) steps.push({ at, wallet, shares: BigInt(shares) })
  const names = new Map(steps.map(({ wallet }) => [wallet, wallet]))
  for await (const rows of changes.cursor(chunk))
    for (const row of rows) steps.push({ at: row.at, wallet: keepName(names, row.wallet), shares: BigInt(row.shares) })
  return steps
}

/** The same of the lots of some distributors. */
export async function listLotSteps(
  db: Queryable,
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
    where l.vault_id = ${vaultId} and l.distributor_id = any(${own}::text[]) and coalesce(m.before, l.shares) > 0`
  const changes = db<{ at: number; wallet: string; distributorId: string; shares: string }[]>`
    select extract(epoch from block_timestamp)::bigint as at, hex_text(wallet) as wallet,
      distributor_id as "distributorId", after as shares
    from lot_changes
    where chain_id = ${chainId} and vault_id = ${vaultId} and block_number > ${from} and block_number <= ${to}
      and distributor_id = any(${own}::text[])
    order by block_number, transaction_index, distributor_id`
  const steps: LotShareStep[] = []
  for await (const rows of held.cursor(chunk))
    for (const row of rows) steps.push({ ...row, at, shares: BigInt(row.shares) })
  for await (const rows of changes.cursor(chunk))
    for (const row of rows) steps.push({ ...row, shares: BigInt(row.shares) })
  return steps
}

/** One text a wallet, however often it moves. */
function keepName(names: Map<string, string>, wallet: string): string {
  const known = names.get(wallet)
  if (known === undefined) names.set(wallet, wallet)
  return known ?? wallet
}
