import { createHash } from 'node:crypto'
import type { Queryable } from '../../postgres/pool.js'

type Line = { line: string }

/**
 * SHA-256 of everything derived for a chain that is not a price: ledger entries with raw amounts and attribution,
 * balances, lots, requests and used signatures, each in a fixed order. Equal state gives an equal hash, on any database.
 */
export async function computeStateHash(db: Queryable, chainId: number): Promise<string> {
  const hash = createHash('sha256')
  const add = async (name: string, query: { cursor(rows: number): AsyncIterable<Line[]> }) => {
    hash.update(`${name}\n`)
    for await (const rows of query.cursor(5_000)) for (const { line } of rows) hash.update(`${line}\n`)
  }
  await add(
    'interactions',
    db<Line[]>`
      select concat_ws(' ', i.id, v.address, i.kind, i.block_number, i.block_hash, i.transaction_hash, i.log_index, i.wallet,
        i.distributor_id, i.attribution, i.assets, i.shares, i.is_swap) as line
      from interactions i join vaults v on v.id = i.vault_id where i.chain_id = ${chainId}
      order by i.block_number, i.log_index, i.distributor_id collate "C", i.wallet`,
  )
  await add(
    'balances',
    db<Line[]>`
      select concat_ws(' ', v.address, hex_text(b.wallet), b.shares, b.attributed) as line
      from balances b join vaults v on v.id = b.vault_id where v.chain_id = ${chainId} and b.shares > 0
      order by v.address collate "C", b.wallet`,
  )
  await add(
    'lots',
    db<Line[]>`
      select concat_ws(' ', v.address, hex_text(l.wallet), l.distributor_id, l.shares) as line
      from lots l join vaults v on v.id = l.vault_id where v.chain_id = ${chainId} and l.shares > 0
      order by v.address collate "C", l.wallet, l.distributor_id`,
  )
  await add(
    'requests',
    db<Line[]>`
      select concat_ws(' ', r.id, v.address, r.kind, hex_text(r.controller), hex_text(r.owner), r.request_id, coalesce(r.distributor_id, '-'),
        coalesce(r.attribution, '-'), r.is_swap, r.amount, r.remaining, r.cancelled, r.cancelling) as line
      from requests r join vaults v on v.id = r.vault_id where v.chain_id = ${chainId}
      order by r.block_number, r.log_index`,
  )
  await add(
    'signatures',
    db<Line[]>`
      select concat_ws(' ', v.address, hex_text(u.digest), u.block_number) as line
      from used_signatures u join vaults v on v.id = u.vault_id where v.chain_id = ${chainId}
      order by v.address collate "C", u.digest`,
  )
  return hash.digest('hex')
}
