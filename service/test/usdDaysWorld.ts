import { newId } from '../src/kernel/ids.js'
import type { Database } from '../src/postgres/pool.js'
import { recordObservations } from '../src/prices/index.js'
import { recordIdentities } from '../src/snapshots/storeIdentities.js'
import { type Earn, openEarn } from './harness.js'
import { type History, start, type ToldChain, type ToldVault, timeOf } from './usdDaysHistory.js'

/** A service in whose database histories are written, one after the other. */

const codes = ['acme', 'beta', 'idle']
const confirmations = 12
const wallets = ['01', '02', '03'].map((byte) => `0x${byte.repeat(20)}`)

export const opportunities = { inner: newId(), outer: newId(), wide: newId(), moved: newId() }
type Name = keyof typeof opportunities
const names = Object.keys(opportunities) as Name[]
const addressOf = (name: string) => `0x${(names.indexOf(name as Name) + 0x1a).toString(16).repeat(20)}`
const assetOf = (name: string) =>
  name === 'outer' ? addressOf('inner') : `0x${(names.indexOf(name as Name) + 0xa1).toString(16).repeat(20)}`
const hashOf = (block: number) => `0x${block.toString(16).padStart(64, '0')}`

export async function openUsdDaysWorld({ chains, vaults }: Pick<History, 'chains' | 'vaults'>): Promise<Earn> {
  const earn = await openEarn()
  const { db } = earn
  for (const { chainId } of chains)
    await db`insert into chains (chain_id, name, slug, confirmations) values (${chainId}, 'C', ${`c${chainId}`}, ${confirmations})`
  for (const { name, chainId, assetDecimals, receiptDecimals } of vaults) {
    const [vault, asset] = [addressOf(name), assetOf(name)]
    await db`
      insert into tokens (chain_id, address, decimals, symbol, name)
      values (${chainId}, ${asset}, ${assetDecimals}, 'A', 'A'), (${chainId}, ${vault}, ${receiptDecimals}, 'S', 'S')
      on conflict do nothing`
    await db`
      insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals)
      values (${chainId}, ${vault}, 'erc4626', ${asset}, ${assetDecimals}, ${vault}, ${receiptDecimals})`
    await db`
      insert into opportunities (id, slug, name, type, chain_id, vault_address)
      values (${opportunities[name as Name]}, ${name}, ${name}, 'vault', ${chainId}, ${vault})`
  }
  for (const code of codes) await earn.distributor(code)
  return earn
}

const at = (seconds: number) => new Date((start + seconds) * 1_000)

/** Replaces what the database holds of chains by a history. */
export async function writeHistory(db: Database, history: History): Promise<void> {
  await db`
    truncate chain_cursors, blocks, projections, lot_changes, attributed_steps, vault_snapshots, snapshot_progress, snapshot_gaps,
      share_mints, share_readings, share_reading_gaps, vault_identities, price_observations, usd_days, usd_day_sums,
      usd_day_marks cascade`
  await db`update rules_versions set holds_from = ${at(history.rulesAt)} where version = 2`
  for (const chain of history.chains) await writeChain(db, chain)
  for (const vault of history.vaults) {
    const chain = history.chains.find(({ chainId }) => chainId === vault.chainId)
    const [row] = await db<{ id: number }[]>`select id from vaults where address = ${addressOf(vault.name)}`
    if (!chain || !row) throw new Error(`there is no vault ${vault.name}`)
    await writeLots(db, { vault, chain, id: row.id })
    await writeSnapshots(db, { vault, chain, id: row.id })
    await writeMints(db, { vault, chain, id: row.id })
    await recordIdentities(
      db,
      vault.identities.map(({ block, agrees }) => ({
        ...{ vaultId: row.id, blockNumber: block, blockHash: hashOf(block), timestamp: start + timeOf(chain, block) },
        ...{ asset: agrees ? assetOf(vault.name) : `0x${'ee'.repeat(20)}`, receiptToken: addressOf(vault.name) },
        ...{ assetDecimals: vault.assetDecimals, receiptDecimals: vault.receiptDecimals },
      })),
    )
  }
}

async function writeChain(db: Database, chain: ToldChain): Promise<void> {
  const { chainId, confirmed, head } = chain
  const final = { number: Math.floor(confirmed / 2) }
  await db`
    insert into blocks (chain_id, number, timestamp, hash, parent_hash, has_logs)
    select ${chainId}, n, ${at(0)}::timestamptz + n * ${chain.seconds} * interval '1 second', hex_bytes(${hashOf(1)}),
      hex_bytes(${hashOf(0)}), false
    from unnest(${[...new Set([final.number, confirmed, head])]}::bigint[]) n`
  await db`
    insert into chain_cursors (chain_id, start_block, block_number, block_hash, block_timestamp, head_number, finalized_number,
      updated_at)
    values (${chainId}, 0, ${head}, ${hashOf(head)}, ${at(timeOf(chain, head))}, ${confirmed + confirmations - 1},
      ${final.number}, now())`
  for (const name of ['metrics', 'share mints'])
    await db`insert into projections (chain_id, name, configuration, derived_to) values (${chainId}, ${name}, '[]', ${confirmed})`
}

type Placed = { vault: ToldVault; chain: ToldChain; id: number }

async function writeLots(db: Database, { vault, chain, id }: Placed): Promise<void> {
  const lots = new Map<string, bigint>()
  for (const { block, transaction, wallet, distributorId, after } of vault.lots) {
    const key = `${wallet} ${distributorId}`
    await db`
      insert into lot_changes (chain_id, block_number, block_timestamp, vault_id, transaction_index, wallet, distributor_id,
        before, after)
      values (${chain.chainId}, ${block}, ${at(timeOf(chain, block))}, ${id}, ${transaction}, hex_bytes(${wallets[wallet] ?? ''}),
        ${distributorId}, ${String(lots.get(key) ?? 0n)}, ${String(after)})`
    lots.set(key, after)
  }
  await db`
    insert into attributed_steps (chain_id, first_block, last_block, vault_id, step, distributor_id, shares)
    select chain_id, min(block_number), max(block_number), vault_id, floor(extract(epoch from block_timestamp) / 900)::int as step,
      distributor_id, sum(sum(after - before)) over (partition by distributor_id
        order by floor(extract(epoch from block_timestamp) / 900)::int)
    from lot_changes where vault_id = ${id} and block_number <= ${chain.confirmed}
    group by chain_id, vault_id, distributor_id, floor(extract(epoch from block_timestamp) / 900)::int`
}

async function writeSnapshots(db: Database, { vault, chain, id }: Placed): Promise<void> {
  for (const snapshot of vault.snapshots) {
    const { block, numerator, exponent, supply, priceUsd, basedOn } = snapshot
    const observed = basedOn && (await observeShare(db, chain, { block: basedOn.block, priceUsd: priceUsd ?? '0' }))
    await db`
      insert into vault_snapshots (block_number, block_timestamp, price_observation_id, vault_id, price_exponent, total_assets,
        total_supply, price_numerator, price_usd, block_hash)
      values (${block}, ${at(timeOf(chain, block))}, ${observed ?? null}, ${id}, ${exponent}, 1, ${String(supply)},
        ${String(numerator)}, ${priceUsd}, hex_bytes(${hashOf(block)}))`
  }
}

/** The price of the inner share that follows from a snapshot of it. */
async function observeShare(db: Database, chain: ToldChain, of: { block: number; priceUsd: string }): Promise<number> {
  const { chainId } = chain
  const [address, observedAt] = [addressOf('inner'), at(timeOf(chain, of.block))]
  const shown = { chainId, address, priceUsd: of.priceUsd, source: `share:${address}` }
  const block = { blockNumber: of.block, blockHash: hashOf(of.block) }
  await recordObservations(db, [{ ...shown, ...block, rank: 2, observedAt, validUntil: at(1e6) }])
  const [row] = await db<
    { id: number }[]
  >`select max(id) as id from price_observations where observed_at = ${observedAt}`
  return Number(row?.id)
}

async function writeMints(db: Database, { vault, chain, id }: Placed): Promise<void> {
  for (const { block, logIndex, shares, assets } of vault.mints)
    await db`
      insert into share_mints (chain_id, block_number, block_timestamp, vault_id, log_index, block_hash, transaction_hash,
        shares, assets)
      values (${chain.chainId}, ${block}, ${at(timeOf(chain, block))}, ${id}, ${logIndex}, hex_bytes(${hashOf(block)}),
        hex_bytes(${hashOf(block)}), ${String(shares)}, ${assets === null ? null : String(assets)})`
  for (const [block, reading] of vault.readings)
    if (reading)
      await db`
        insert into share_readings (vault_id, block_number, block_timestamp, block_hash, price_numerator, price_exponent)
        values (${id}, ${block}, ${at(timeOf(chain, block))}, hex_bytes(${hashOf(block)}), ${String(reading.numerator)},
          ${reading.exponent})`
    else
      await db`
        insert into share_reading_gaps (vault_id, block_number, block_timestamp, block_hash, reason, tried_at)
        values (${id}, ${block}, ${at(timeOf(chain, block))}, hex_bytes(${hashOf(block)}), 'no archive', ${at(0)})`
}
