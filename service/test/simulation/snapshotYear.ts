import type { Address } from 'viem'
import type { Database } from '../../src/postgres/pool.js'
import { recordProvided } from '../../src/prices/index.js'
import { runFeedHistory, runHistory, runSnapshots, snapshotObservations } from '../../src/snapshots/index.js'
import { createSnapshotChain, type ModelBlock, type SnapshotChain, snapshotContext } from '../snapshotChain.js'
import type { Random } from './random.js'

export const chainId = 31_337
const day = 86_400
export const start = 1_700_006_400
const days = 365
const confirmations = 6
export const vaults = ['aa', 'bb', 'cc'].map((byte) => `0x${byte.repeat(20)}`)
const fed = `0x${'d1'.repeat(20)}`
const provided = `0x${'d2'.repeat(20)}`
const assets = [fed, provided, fed]
const feed = `0x${'fe'.repeat(20)}` as Address

export type Row = {
  key: string
  vault: string
  number: number
  hash: string
  at: number
  digits: string
  usd: string | null
}

export async function listRows(db: Database): Promise<Row[]> {
  return db<Row[]>`
    select v.address || ' ' || hex_text(s.block_hash) as key, v.address as vault, s.block_number as number,
      hex_text(s.block_hash) as hash, extract(epoch from s.block_timestamp)::bigint as at,
      concat_ws(' ', s.total_assets, s.total_supply, s.price_numerator, s.price_exponent) as digits, s.price_usd::text as usd
    from vault_snapshots s join vaults v on v.id = s.vault_id`
}

/** Rows that were there before and are now others: only what had no price may have got one. */
function findChanged(before: ReadonlyMap<string, Row>, rows: readonly Row[], gone: (row: Row) => boolean): string[] {
  const now = new Map(rows.map((row) => [row.key, row]))
  return [...before.values()].flatMap((row) => {
    const found = now.get(row.key)
    if (!found) return gone(row) ? [] : [`${row.key} is gone`]
    if (found.digits !== row.digits || found.at !== row.at) return [`${row.key} has other figures`]
    return row.usd !== null && found.usd !== row.usd ? [`${row.key} was ${row.usd}, is ${found.usd}`] : []
  })
}

/** The chain, its tokens and its vaults, with nothing read of them yet. */
export async function prepareYear(db: Database): Promise<void> {
  await db`truncate chains, tokens, vaults, vault_snapshots, snapshot_progress, snapshot_gaps, price_observations,
    price_histories cascade`
  await db`insert into chains (chain_id, name, slug, watched, confirmations) values (${chainId}, 'C', 'c', true, ${confirmations})`
  await db`insert into tokens (chain_id, address, decimals, symbol, name) values (${chainId}, ${fed}, 6, 'F', 'F'),
    (${chainId}, ${provided}, 6, 'P', 'P')`
  for (const [index, vault] of vaults.entries())
    await db`
      insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals,
        snapshot_interval_seconds)
      values (${chainId}, ${vault}, 'erc4626', ${assets[index] ?? fed}, 6, ${vault}, 6, ${day})`
}

/** Figures that follow from the block alone, so that another block has others. */
export function figuresOf(address: string, { hash }: ModelBlock) {
  const seed = BigInt(`0x${hash.slice(2, 18)}`) ^ BigInt(`0x${address.slice(2, 10)}`)
  return {
    totalAssets: seed,
    totalSupply: seed / 3n + 1n,
    perShare: (shares: bigint) => (shares * (seed % 977n)) / 970n,
  }
}

export function createYear(): SnapshotChain {
  const model = createSnapshotChain({ chainId, confirmations })
  model.vaultAt = figuresOf
  model.roundsAt = (_, block) => {
    const latest = BigInt(Math.max(0, Math.floor((block.timestamp - start) / (2 * day))))
    const rounds = Array.from({ length: Number(latest) }, (_, index) => {
      const id = (1n << 64n) | BigInt(index + 1)
      const at = BigInt(start + (index + 1) * 2 * day)
      return [id, [id, BigInt(100_000_000 + index * 17), at, at, id] as const] as const
    })
    return { decimals: 8, rounds: new Map(rounds), latest: (1n << 64n) | latest }
  }
  return model
}

/** One year, block by block, with what happens to a service in it. */
export async function playYear(
  db: Database,
  random: Random,
  options: {
    model?: SnapshotChain
    /** Reorganisations below the confirmed depth too, as an operator's rewind makes them. */
    isDeep: boolean
    /** Looks at what is served, every few days. */
    look?: (now: number) => Promise<void>
  },
): Promise<{ model: SnapshotChain; changed: string[]; reorgs: number; gaps: number }> {
  const model = options.model ?? createYear()
  const ctx = () => snapshotContext(model, db)
  const seen = new Map<string, Row>()
  const happened = { changed: [] as string[], reorgs: 0, gaps: 0 }
  let deepestKept = Number.POSITIVE_INFINITY
  let fork = 0
  let now = start
  const check = async () => {
    const rows = await listRows(db)
    happened.changed.push(...findChanged(seen, rows, ({ number }) => number > deepestKept))
    for (const row of [...seen.values()]) if (row.number > deepestKept) seen.delete(row.key)
    for (const row of rows) seen.set(row.key, row)
    deepestKept = Number.POSITIVE_INFINITY
    await options.look?.(now)
  }
  for (let number = 0; now < start + days * day; number++) {
    now += random.int(3_000, 2 * 36_000)
    model.mine(now, String(fork))
    if (random.chance(0.03)) {
      // Inside the confirmed depth, and now and then below it, as an operator's rewind goes.
      const depth =
        !options.isDeep || random.chance(0.7) ? random.int(1, confirmations - 1) : random.int(confirmations, 20)
      const kept = Math.max(0, model.blocks.length - 1 - depth)
      fork += 1
      happened.reorgs += 1
      model.blocks.splice(kept + 1)
      const time = model.blocks.at(-1)?.timestamp ?? start
      const first = Math.floor((now - time) / (depth + 2))
      for (let back = 0; back <= depth; back++) model.mine(time + (back + 1) * Math.max(1, first), String(fork))
      now = Math.max(now, model.blocks.at(-1)?.timestamp ?? now)
      if (depth >= confirmations) {
        deepestKept = kept
        await db.begin((tx) => snapshotObservations.rewind(tx, { chainId, number: kept, tip: number }))
      }
    }
    // Nobody watches now and then.
    if (random.chance(0.12)) {
      happened.gaps += 1
      now += random.int(1, 6) * day
      model.mine(now, String(fork))
    }
    if (random.chance(0.5)) await runSnapshots(ctx())
    if (random.chance(0.1)) await runHistory(ctx(), { runMs: 600_000 })
    if (random.chance(0.1)) {
      // A price that comes late: its time lies up to five days back.
      const observedAt = new Date((now - random.int(0, 5 * day)) * 1_000)
      const priceUsd = `1.0${random.int(100, 999)}`
      const validUntil = new Date(observedAt.getTime() + 10 * day * 1_000)
      await recordProvided(db, [{ chainId, address: provided, priceUsd, source: 'late', observedAt, validUntil }])
    }
    if (random.chance(0.25)) await check()
    if (Math.abs(now - start - (days * day) / 2) < day)
      // The feed is listed in the middle of the year: its past is read then.
      await db`
        update tokens set price_feed = ${db.json({ address: feed, heartbeatSeconds: 2 * day })}
        where address = ${fed} and price_feed is null`
    if (random.chance(0.05)) await runFeedHistory(ctx(), { runMs: 600_000 })
  }
  await db`
    update tokens set price_feed = ${db.json({ address: feed, heartbeatSeconds: 2 * day })} where address = ${fed}`
  for (let more = 0; more < 2 * confirmations; more++) model.mine(now + more, String(fork))
  for (let round = 0; round < 3; round++) {
    await runSnapshots(ctx())
    await runHistory(ctx(), { runMs: 600_000 })
    await runFeedHistory(ctx(), { runMs: 600_000 })
  }
  await check()
  return { model, ...happened }
}

/** Snapshots the year should have: of every grid instant the last block, at most once. */
export function listExpected(model: SnapshotChain): string[] {
  const top = model.blocks[model.blocks.length - confirmations]
  const keys = new Set<string>()
  for (let at = Math.floor(((top?.timestamp ?? 0) - 1) / day) * day; at >= start; at -= day) {
    const block = model.blocks.findLast(({ timestamp }) => timestamp <= at)
    if (block) for (const vault of vaults) keys.add(`${vault} ${block.hash}`)
  }
  return [...keys].sort()
}
