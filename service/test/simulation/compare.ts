import type { Database } from '../../src/postgres/pool.js'
import { priceOf } from './expected.js'
import { token, tokenDecimals } from './model.js'
import type { Outcome } from './playedChain.js'
import type { Entry, Expected } from './recount.js'

/** What is found wrong: lines that are there and should not be, and the other way round. */
export function createFindings() {
  const found: string[] = []
  const same = (what: string, actual: readonly string[], wanted: readonly string[]) => {
    const [a, b] = [new Set(actual), new Set(wanted)]
    for (const line of actual) if (!b.has(line)) found.push(`${what} too many: ${line}`)
    for (const line of wanted) if (!a.has(line)) found.push(`${what} missing: ${line}`)
    if (actual.length !== a.size) found.push(`${what}: something twice`)
    if (actual.length !== wanted.length) found.push(`${what}: ${actual.length} instead of ${wanted.length}`)
  }
  return { found, same }
}

const lineOf = (entry: Entry) =>
  [
    ...[entry.block.hash, entry.transactionHash, entry.logIndex, entry.kind, entry.vault, entry.wallet],
    ...[entry.distributor, entry.how, entry.assets, entry.shares],
  ].join(' ')

/** How often each line is there. */
const countOf = (all: readonly string[]) => {
  const counts = new Map<string, number>()
  for (const line of all) counts.set(line, (counts.get(line) ?? 0) + 1)
  return [...counts].map(([line, count]) => `${line}: ${count}`)
}

/** Differences between the tables of a chain and what they should say; empty when there is none. */
export async function findDifferences(db: Database, played: Outcome, expected: Expected): Promise<string[]> {
  const { found, same } = createFindings()
  const [tables, broken, unpriced] = await Promise.all([
    readTables(db, played.chainId),
    findBroken(db, played.chainId),
    findWrongPrices(db, played, expected),
  ])
  const of = (what: string) => tables.get(what) ?? []
  const keyed = (map: ReadonlyMap<string, bigint>) => [...map].map(([key, shares]) => `${key} ${shares}`)
  same('balance', of('balance'), keyed(expected.balances))
  same('lot', of('lot'), keyed(expected.lots))
  same(
    'request',
    of('request'),
    expected.requests.map((r, i) =>
      [i + 1, r.kind, r.controller, r.distributor ?? '-', r.amount, r.remaining, r.cancelled].join(' '),
    ),
  )
  same('entry', of('entry'), expected.entries.map(lineOf))
  same('watched', of('watched'), expected.watched)
  same('used signature', countOf(of('used')), countOf(expected.used))
  return [...found, ...broken, ...unpriced, ...findUnrecorded(played, of('live'), of('retracted'))]
}

type Line = { what: string; line: string }

async function readTables(db: Database, chainId: number): Promise<Map<string, string[]>> {
  const rows = await db<Line[]>`
    with own as materialized (select id, address from vaults where chain_id = ${chainId})
    select 'balance' as what, concat_ws(' ', v.address, hex_text(b.wallet), b.shares) as line
    from balances b join own v on v.id = b.vault_id where b.shares > 0
    union all
    select 'lot', concat_ws(' ', v.address, hex_text(l.wallet), l.distributor_id, l.shares)
    from lots l join own v on v.id = l.vault_id where l.shares > 0
    union all
    select 'request', concat_ws(' ', row_number() over (order by r.block_number, r.log_index), r.kind,
      hex_text(r.controller), coalesce(r.distributor_id, '-'), r.amount, r.remaining, r.cancelled)
    from requests r join own v on v.id = r.vault_id
    union all
    select 'entry', concat_ws(' ', i.block_hash, i.transaction_hash, i.log_index, i.kind, v.address, i.wallet,
      i.distributor_id, i.attribution, i.assets, i.shares)
    from interactions i join own v on v.id = i.vault_id where i.chain_id = ${chainId}
    union all
    select 'live', id::text from interactions where chain_id = ${chainId}
    union all
    select 'retracted', interaction_id::text from retractions where chain_id = ${chainId}
    union all
    select 'watched', concat_ws(' ', hex_text(block_hash), hex_text(transaction_hash))
    from transaction_attributions where chain_id = ${chainId} and not retracted
    union all
    select 'used', concat_ws(' ', v.address, u.block_number) from used_signatures u join own v on v.id = u.vault_id`
  const tables = new Map<string, string[]>()
  for (const { what, line } of rows) {
    const lines = tables.get(what) ?? []
    lines.push(line)
    tables.set(what, lines)
  }
  return tables
}

/** Histories that do not lead to what is there, and rows of a vault that say they are of another chain. */
async function findBroken(db: Database, chainId: number): Promise<string[]> {
  const vaultIds = (await db<{ id: number }[]>`select id from vaults where chain_id = ${chainId}`).map(({ id }) => id)
  const rows = await db<{ line: string }[]>`
    select concat_ws(' ', 'history', v.address, hex_text(c.wallet), c.block_number) as line
    from (select *, lag(after, 1, 0::numeric) over w as held, lag(attributed_after, 1, 0::numeric) over w as lots
      from balance_changes where vault_id = any(${vaultIds}) window w as (partition by vault_id, wallet order by block_number, transaction_index)) c
    join vaults v on v.id = c.vault_id
    where c.before <> c.held or c.attributed_before <> c.lots or c.chain_id <> v.chain_id
    union all
    select concat_ws(' ', 'present', v.address, hex_text(b.wallet))
    from balances b join vaults v on v.id = b.vault_id
    where b.vault_id = any(${vaultIds}) and (b.chain_id <> v.chain_id
      or b.shares <> (select after from balance_changes c where c.vault_id = b.vault_id and c.wallet = b.wallet
        order by block_number desc, transaction_index desc limit 1)
      or b.attributed <> (select coalesce(sum(shares), 0) from lots l where l.vault_id = b.vault_id and l.wallet = b.wallet))
    union all
    select concat_ws(' ', 'lot history', v.address, hex_text(c.wallet), c.distributor_id, c.block_number)
    from (select *, lag(after, 1, 0::numeric) over (partition by vault_id, wallet, distributor_id
        order by block_number, transaction_index) as held from lot_changes where vault_id = any(${vaultIds})) c
    join vaults v on v.id = c.vault_id where c.before <> c.held or c.chain_id <> v.chain_id
    union all
    select concat_ws(' ', 'first block', v.address, hex_text(b.wallet), b.first_block)
    from balances b join vaults v on v.id = b.vault_id
    where b.vault_id = any(${vaultIds}) and b.first_block is distinct from (select min(block_number) from balance_changes c
      where c.vault_id = b.vault_id and c.wallet = b.wallet)
    union all
    select concat_ws(' ', 'first block', v.address, hex_text(l.wallet), l.distributor_id, l.first_block)
    from lots l join vaults v on v.id = l.vault_id
    where l.vault_id = any(${vaultIds}) and l.first_block is distinct from (select min(block_number) from lot_changes c
      where c.vault_id = l.vault_id and c.wallet = l.wallet and c.distributor_id = l.distributor_id)
    union all
    select concat_ws(' ', 'request of another chain', v.address, r.id)
    from requests r join vaults v on v.id = r.vault_id where v.id = any(${vaultIds}) and r.chain_id <> v.chain_id
    union all
    select concat_ws(' ', 'count of entries', coalesce(n.vault_id, i.vault_id), coalesce(n.distributor_id, i.distributor_id),
      coalesce(n.kind, i.kind), n.entries, 'instead of', i.entries)
    from (select * from interaction_counts where chain_id = ${chainId}) n
    full join (select vault_id, distributor_id, kind, count(*) as entries from interactions where chain_id = ${chainId}
      group by vault_id, distributor_id, kind) i using (vault_id, distributor_id, kind)
    where n.entries is distinct from i.entries`
  return rows.map(({ line }) => line)
}

/** Entries whose worth is not that of their block's time, and choices that no entry, or another price, explains. */
async function findWrongPrices(db: Database, played: Outcome, expected: Expected): Promise<string[]> {
  const { chainId, rules, committed } = played
  if (rules.prices.length === 0) return []
  const { found, same } = createFindings()
  const scale = 10n ** BigInt(tokenDecimals + 6)
  const rows = await db<{ hash: string; log: number; assets: string; usd: string | null }[]>`
    select block_hash as hash, log_index as log, assets, trim_scale(amount_usd * ${scale.toString()}::numeric)::text as usd
    from interactions where chain_id = ${chainId}`
  const times = new Map(played.blocks.map(({ hash, timestamp }) => [hash, timestamp]))
  for (const { hash, log, assets, usd } of rows) {
    const price = priceOf(rules, times.get(hash) ?? 0)
    const worth = price === undefined ? null : (BigInt(assets) * price).toString()
    if (worth !== usd) found.push(`worth of ${hash} ${log}: ${usd} instead of ${worth}`)
  }
  const choices = await db<{ hash: string; address: string; micros: string }[]>`
    select c.block_hash as hash, c.address, trim_scale(p.price_usd * 1000000)::text as micros
    from price_choices c join price_observations p on p.id = c.price_observation_id and p.chain_id = c.chain_id
    where c.chain_id = ${chainId}`
  // Those of blocks that an operator's rewind took back, and that never came again, stay.
  const live = choices
    .filter(({ hash }) => times.has(hash))
    .map(({ hash, address, micros }) => `${hash} ${address} ${micros}`)
  const chosen = new Set(
    expected.entries.flatMap(({ block: { hash, timestamp } }) => {
      const price = priceOf(rules, timestamp)
      return price === undefined ? [] : [`${hash} ${token} ${price}`]
    }),
  )
  // What was chosen stays when the entries went because the catalogue changed.
  same('price choice', committed ? live : live.filter((line) => chosen.has(line)), [...chosen])
  return found
}

/** Entries that were once committed and are gone without a retraction, and retractions of what never was. */
function findUnrecorded({ committed }: Outcome, live: readonly string[], retracted: readonly string[]): string[] {
  if (!committed) return []
  const known = new Set([...live, ...retracted])
  return [
    ...[...committed].filter((id) => !known.has(id)).map((id) => `entry gone without a retraction: ${id}`),
    ...[...known].filter((id) => !committed.has(id)).map((id) => `entry or retraction of what never was: ${id}`),
  ]
}
