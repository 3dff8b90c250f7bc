import { derivedId, newId } from '../src/kernel/ids.js'
import { type Earn, openEarn } from './harness.js'

/** Two vaults, one of them in a product; entries of two distributors; the last one is not verified yet. */
export const vaults = [`0x${'11'.repeat(20)}`, `0x${'22'.repeat(20)}`]
export const opportunities = [newId(), newId()]
export const product = newId()
export const token = `0x${'aa'.repeat(20)}`
export const hash = (n: number) => `0x${n.toString(16).padStart(64, '0')}`

type Entry = {
  block: number
  log: number
  vault: number
  kind?: string
  distributor?: string
  wallet?: string
  assets?: string
  usd?: string | null
}
export const entries: Entry[] = [
  { block: 10, log: 1, vault: 0, assets: '5000000', usd: '5' },
  { block: 11, log: 1, vault: 0, assets: '1000000', usd: null, kind: 'withdraw' },
  { block: 11, log: 4, vault: 1, assets: '9000000', usd: '9.5', distributor: 'beta' },
  { block: 12, log: 0, vault: 1, assets: '20000000', usd: '20', wallet: `0x${'ff'.repeat(20)}` },
  // At the head with 2 confirmations wanted: not verified yet.
  { block: 14, log: 0, vault: 0, assets: '70000000', usd: '70' },
]
export const idOf = ({ block, log }: Entry) => derivedId(`31337:${hash(block)}:${hash(block * 100 + log)}:${log}`)

/** The whole service with a ledger as the watcher would have written it. */
export async function openLedgerWorld(): Promise<Earn> {
  const earn = await openEarn()
  const { db } = earn
  await db`insert into chains (chain_id, name, slug, confirmations) values (31337, 'Devnet', 'devnet', 2)`
  await db`insert into tokens (chain_id, address, decimals, symbol, name, logo_url)
    values (31337, ${token}, 6, 'USD', 'Dollar', 'https://logo/usd')`
  for (const [index, vault] of vaults.entries()) {
    await db`insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals)
      values (31337, ${vault}, 'erc4626', ${token}, 6, ${vault}, 6)`
    await db`insert into opportunities (id, slug, name, type, chain_id, vault_address)
      values (${opportunities[index]!}, ${`o${index}`}, ${['Zeta', 'alpha'][index]!}, 'vault', 31337, ${vault})`
  }
  await db`insert into products (id, name) values (${product}, 'P')`
  await db`insert into opportunity_products (opportunity_id, product_id) values (${opportunities[1]!}, ${product})`
  await earn.distributor('acme')
  await earn.distributor('beta')
  await db`insert into chain_cursors (chain_id, start_block, block_number, block_hash, head_number, finalized_number, updated_at)
    values (31337, 0, 14, ${hash(14)}, 14, 10, now())`
  for (const entry of entries)
    await db`insert into interactions (id, chain_id, vault_id, kind, block_number, block_hash, block_timestamp,
        transaction_hash, transaction_index, log_index, wallet, distributor_id, attribution, assets, shares, amount, is_swap,
        amount_usd)
      select ${idOf(entry)}, 31337, id, ${entry.kind ?? 'deposit'}, ${entry.block}, ${hash(entry.block)},
        to_timestamp(${1_700_000_000 + entry.block}), ${hash(entry.block * 100 + entry.log)}, 0, ${entry.log},
        ${entry.wallet ?? `0x${'0a'.repeat(20)}`}, ${entry.distributor ?? 'acme'}, 'signed', ${entry.assets ?? '1'}, 1,
        ${entry.assets ?? '1'}::numeric / 1000000, false, ${entry.usd ?? null}
      from vaults where address = ${vaults[entry.vault]!}`
  await db`
    insert into interaction_counts
    select chain_id, vault_id, distributor_id, kind, count(*) from interactions
    group by chain_id, vault_id, distributor_id, kind`
  return earn
}
