import { hex, instant, int4, int8, nullable, numeric } from '../../postgres/columns.js'
import type { Fragment, Queryable, Transaction } from '../../postgres/pool.js'
import { describeTable, insertRows, parseRows, type RowOf, selectList } from '../../postgres/table.js'
import type { Observations } from '../../sync/projection.js'
import { cursorsOf } from '../../sync/storeCursors.js'
import { sourcesOf } from '../../sync/storeSources.js'
import { type HolderSetting, vaultsOf } from '../../vaults/configured/index.js'
import { declaredAs } from './storeKept.js'

const doubtsTable = describeTable('holder_doubts', {
  chainId: [int8],
  vaultId: [int4],
  holder: [hex],
  wallet: [hex],
  blockNumber: [int8],
  blockHash: [hex],
  said: [numeric],
  urls: [int4],
  readAt: [instant],
  believedFrom: [nullable(instant)],
})

type Row = RowOf<typeof doubtsTable>

/** A view that contradicts the events of its holder, and what is known of the holder. */
export type Doubt = Omit<Row, 'believedFrom'>
export type HolderOf = {
  vaultId: number
  vaultAddress: string
  holder: Pick<HolderSetting, 'address' | 'kind' | 'markets'>
}

/** The holders that are not believed, with the chain time from when: they decide derived rows. */
export async function listBelieved(
  db: Queryable,
  chainId: number,
): Promise<{ vaultId: number; holder: string; at: number }[]> {
  return db<{ vaultId: number; holder: string; at: number }[]>`
    select vault_id as "vaultId", hex_text(holder) as holder, extract(epoch from believed_from)::bigint as at
    from holder_doubts where chain_id = ${chainId} and believed_from is not null
    order by vault_id, holder, block_number`
}

/** Holders that are not believed and were not declared anew since, as statements read them. */
export const doubtedOf = (db: Queryable): Fragment => db.view`(
  select distinct d.vault_id, d.holder from holder_doubts d join ${vaultsOf(db)} v on v.id = d.vault_id
  where d.believed_from is not null and not exists (select from jsonb_array_elements(v.holders) e
    where lower(e->>'address') = hex_text(d.holder) and (e->>'activeFrom')::timestamptz > d.believed_from))`

/** Accounts of holders, each with its shares, and the block that all belong to. */
export type KeptSample = {
  block: { number: number; hash: string }
  accounts: (HolderOf & { wallet: string; shares: bigint })[]
}

/**
 * Random accounts of each holder of a chain that counts and about which there is no doubt yet, `count` of each, read at one
 * instant. Undefined where nothing is derived.
 */
export async function sampleAccounts(db: Queryable, chainId: number, count: number): Promise<KeptSample | undefined> {
  type Sampled = { number: number; hash: string; vaultId: number; vaultAddress: string; address: string } & {
    declared: HolderSetting[]
    wallet: string
    shares: string
  }
  const rows = await db<Sampled[]>`
    with start as materialized (select decode(substr(md5(random()::text), 1, 8), 'hex') as wallet)
    select c.block_number as number, c.block_hash as hash, v.id as "vaultId", v.address as "vaultAddress",
      hex_text(n.holder) as address, v.holders as declared, hex_text(a.wallet) as wallet, a.shares
    from ${cursorsOf(db)} c
    join ${vaultsOf(db)} v on v.chain_id = c.chain_id and v.holders <> '[]'
    cross join lateral (
      select distinct hex_bytes(lower(e->>'address')) as holder from jsonb_array_elements(v.holders) e) d
    join held_shares n on n.vault_id = v.id and n.holder = d.holder and n.wallet = n.holder and n.detail like 'counting %'
    cross join start
    cross join lateral (
      (select h.wallet, h.shares from held_shares h
        where h.vault_id = v.id and h.holder = n.holder and h.wallet >= start.wallet and h.wallet <> h.holder
        order by h.wallet limit ${count})
      union
      (select h.wallet, h.shares from held_shares h
        where h.vault_id = v.id and h.holder = n.holder and h.wallet <> h.holder order by h.wallet limit 2)) a
    where c.chain_id = ${chainId} and c.block_hash <> ''
      and not exists (select from ${sourcesOf(db)} s where s.chain_id = c.chain_id and s.projection = 'positions'
        and not s.synced and (s.source = v.address or s.source like v.address || ' %'))
      and not exists (select from holder_doubts d where d.vault_id = v.id and d.holder = n.holder and d.believed_from is null)
      and not exists (select from ${doubtedOf(db)} d where d.vault_id = v.id and d.holder = n.holder)
    order by v.id, n.holder, a.wallet`
  const [first] = rows
  if (!first) return undefined
  const accounts = rows.map(({ vaultId, vaultAddress, address, declared, wallet, shares }) => ({
    ...{ vaultId, vaultAddress, holder: { address, ...declaredAs(address, declared) } },
    ...{ wallet, shares: BigInt(shares) },
  }))
  return { block: { number: first.number, hash: first.hash }, accounts }
}

/** The shares that a holder kept for an account at the end of a block, as they are derived now. */
export async function readKeptAt(
  db: Queryable,
  { vaultId, holder, wallet, blockNumber }: Pick<Doubt, 'vaultId' | 'holder' | 'wallet' | 'blockNumber'>,
): Promise<bigint> {
  const [row] = await db<{ shares: string }[]>`
    select coalesce(
      (select c.before from held_share_changes c
        where c.vault_id = ${vaultId} and c.holder = hex_bytes(${holder}) and c.wallet = hex_bytes(${wallet})
          and c.block_number > ${blockNumber}
        order by c.block_number, c.transaction_index limit 1),
      (select h.shares from held_shares h
        where h.vault_id = ${vaultId} and h.holder = hex_bytes(${holder}) and h.wallet = hex_bytes(${wallet})),
      0) as shares`
  return BigInt(row?.shares ?? 0)
}

/** Doubts that are not believed yet, with the vault and the declarations of their holder. */
export async function listWaiting(db: Queryable, chainId: number): Promise<(Doubt & { of: HolderOf })[]> {
  type Loaded = object & { vaultAddress: string; declared: HolderSetting[] }
  const rows = await db<Loaded[]>`
    select ${selectList(db, doubtsTable, { of: 'd' })}, v.address as "vaultAddress", v.holders as declared
    from holder_doubts d join ${vaultsOf(db)} v on v.id = d.vault_id
    where d.chain_id = ${chainId} and d.believed_from is null order by d.vault_id, d.holder, d.block_number`
  const doubts = parseRows(doubtsTable, rows)
  return rows.flatMap(({ vaultAddress, declared }, index) => {
    const doubt = doubts[index]
    if (!doubt) return []
    const { vaultId, holder: address } = doubt
    return [{ ...doubt, of: { vaultId, vaultAddress, holder: { address, ...declaredAs(address, declared) } } }]
  })
}

export async function recordDoubt(db: Queryable, doubt: Doubt): Promise<void> {
  await insertRows(db, doubtsTable, [{ ...doubt, believedFrom: null }], { conflict: 'do nothing' })
}

type Key = Pick<Doubt, 'vaultId' | 'holder' | 'blockNumber'>

export async function removeDoubt(db: Queryable, { vaultId, holder, blockNumber }: Key): Promise<void> {
  await db`
    delete from holder_doubts where vault_id = ${vaultId} and holder = hex_bytes(${holder})
      and block_number = ${blockNumber} and believed_from is null`
}

/** Believes a doubt from an instant of chain time on; returns whether it was there and not believed yet. */
export async function believeDoubt(
  tx: Transaction,
  { vaultId, holder, blockNumber }: Key,
  from: Date,
): Promise<boolean> {
  const rows = await tx`
    update holder_doubts set believed_from = ${from}
    where vault_id = ${vaultId} and holder = hex_bytes(${holder}) and block_number = ${blockNumber}
      and believed_from is null returning 1`
  return rows.length > 0
}

/** Views read at blocks that are orphaned tell nothing. */
export const doubtObservations: Observations = {
  name: 'views of holders',
  rewind: async (tx, { chainId, number }) => {
    await tx`delete from holder_doubts where chain_id = ${chainId} and block_number > ${number}`
  },
}
