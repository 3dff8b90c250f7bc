import type { Database } from '../../src/postgres/pool.js'
import type { Expected } from './recount.js'
import type { Played } from './schedule.js'

/** Differences between the tables of a chain and what they should say; empty when there is none. */
export async function findDifferences(db: Database, played: Played, expected: Expected): Promise<string[]> {
  const { chainId } = played
  const found: string[] = []
  const same = (what: string, actual: readonly string[], wanted: readonly string[]) => {
    const [a, b] = [new Set(actual), new Set(wanted)]
    for (const line of actual) if (!b.has(line)) found.push(`${what} too many: ${line}`)
    for (const line of wanted) if (!a.has(line)) found.push(`${what} missing: ${line}`)
    if (actual.length !== a.size) found.push(`${what}: something twice`)
    if (actual.length !== wanted.length) found.push(`${what}: ${actual.length} instead of ${wanted.length}`)
  }
  type Line = { line: string }
  const lines = async (rows: PromiseLike<readonly Line[]>) => (await rows).map(({ line }) => line)
  const balances = await lines(db<Line[]>`
    select concat_ws(' ', v.address, hex_text(b.wallet), b.shares) as line from balances b join vaults v on v.id = b.vault_id
    where v.chain_id = ${chainId} and b.shares > 0`)
  same(
    'balance',
    balances,
    [...expected.balances].map(([key, shares]) => `${key} ${shares}`),
  )
  const lots = await lines(db<Line[]>`
    select concat_ws(' ', v.address, hex_text(l.wallet), l.distributor_id, l.shares) as line
    from lots l join vaults v on v.id = l.vault_id where v.chain_id = ${chainId} and l.shares > 0`)
  same(
    'lot',
    lots,
    [...expected.lots].map(([key, shares]) => `${key} ${shares}`),
  )
  const requests = await lines(db<Line[]>`
    select concat_ws(' ', row_number() over (order by r.block_number, r.log_index), r.kind, hex_text(r.controller),
      coalesce(r.distributor_id, '-'), r.amount, r.remaining, r.cancelled) as line
    from requests r join vaults v on v.id = r.vault_id where v.chain_id = ${chainId}`)
  same(
    'request',
    requests,
    expected.requests.map((r, i) =>
      [i + 1, r.kind, r.controller, r.distributor ?? '-', r.amount, r.remaining, r.cancelled].join(' '),
    ),
  )
  const entries = await lines(db<Line[]>`
    select concat_ws(' ', i.block_hash, i.transaction_hash, i.log_index, i.kind, v.address, i.wallet, i.distributor_id,
      i.attribution, i.assets, i.shares) as line
    from interactions i join vaults v on v.id = i.vault_id where i.chain_id = ${chainId}`)
  same('entry', entries, expected.entries)
  const counts = await lines(db<Line[]>`
    select concat_ws(' ', vault_id, distributor_id, kind, entries) as line from interaction_counts
    where chain_id = ${chainId}`)
  const counted = await lines(db<Line[]>`
    select concat_ws(' ', vault_id, distributor_id, kind, count(*)) as line from interactions
    where chain_id = ${chainId} group by vault_id, distributor_id, kind`)
  same('count of entries', counts, counted)
  const watched = await lines(db<Line[]>`
    select concat_ws(' ', hex_text(block_hash), hex_text(transaction_hash)) as line
    from transaction_attributions
    where chain_id = ${chainId} and not retracted`)
  same('watched', watched, expected.watched)
  const used = await lines(db<Line[]>`
    select concat_ws(' ', v.address, u.block_number) as line from used_signatures u join vaults v on v.id = u.vault_id where v.chain_id = ${chainId}`)
  const countOf = (all: readonly string[]) =>
    [...new Set(all)].map((line) => `${line}: ${all.filter((each) => each === line).length}`)
  same('used signature', countOf(used), countOf(expected.used))
  const vaultIds = (await db<{ id: number }[]>`select id from vaults where chain_id = ${chainId}`).map(({ id }) => id)
  const broken = await lines(db<Line[]>`
    select concat_ws(' ', 'history', v.address, hex_text(c.wallet), c.block_number) as line
    from (select *, lag(after, 1, 0::numeric) over w as held, lag(attributed_after, 1, 0::numeric) over w as lots
      from balance_changes where vault_id = any(${vaultIds}) window w as (partition by vault_id, wallet order by block_number, transaction_index)) c
    join vaults v on v.id = c.vault_id
    where v.chain_id = ${chainId} and (c.before <> c.held or c.attributed_before <> c.lots)
    union all
    select concat_ws(' ', 'present', v.address, hex_text(b.wallet))
    from balances b join vaults v on v.id = b.vault_id
    where v.chain_id = ${chainId} and (
      b.shares <> (select after from balance_changes c where c.vault_id = b.vault_id and c.wallet = b.wallet
        order by block_number desc, transaction_index desc limit 1)
      or b.attributed <> (select coalesce(sum(shares), 0) from lots l where l.vault_id = b.vault_id and l.wallet = b.wallet))
    union all
    select concat_ws(' ', 'lot history', v.address, hex_text(c.wallet), c.distributor_id, c.block_number)
    from (select *, lag(after, 1, 0::numeric) over (partition by vault_id, wallet, distributor_id
        order by block_number, transaction_index) as held from lot_changes where vault_id = any(${vaultIds})) c
    join vaults v on v.id = c.vault_id where v.chain_id = ${chainId} and c.before <> c.held
    union all
    select concat_ws(' ', 'first block', v.address, hex_text(b.wallet), b.first_block)
    from balances b join vaults v on v.id = b.vault_id
    where v.chain_id = ${chainId} and b.first_block is distinct from (select min(block_number) from balance_changes c
      where c.vault_id = b.vault_id and c.wallet = b.wallet)
    union all
    select concat_ws(' ', 'first block', v.address, hex_text(l.wallet), l.distributor_id, l.first_block)
    from lots l join vaults v on v.id = l.vault_id
    where v.chain_id = ${chainId} and l.first_block is distinct from (select min(block_number) from lot_changes c
      where c.vault_id = l.vault_id and c.wallet = l.wallet and c.distributor_id = l.distributor_id)`)
  return [...found, ...broken, ...(await findUnrecorded(db, played))]
}

/** Entries that were once committed and are gone without a retraction, and retractions of what never was. */
async function findUnrecorded(db: Database, { chainId, committed }: Played): Promise<string[]> {
  if (!committed) return []
  const rows = await db<{ id: string; is_live: boolean }[]>`
    select id, true as is_live from interactions where chain_id = ${chainId}
    union all select interaction_id, false from retractions where chain_id = ${chainId}`
  const known = new Set(rows.map(({ id }) => id))
  return [
    ...[...committed].filter((id) => !known.has(id)).map((id) => `entry gone without a retraction: ${id}`),
    ...rows.filter(({ id }) => !committed.has(id)).map(({ id }) => `entry or retraction of what never was: ${id}`),
  ]
}
