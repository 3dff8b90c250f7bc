import type { GrowthSource } from '../src/vaults/configured/index.js'
import { type Answer, type Earn, type EarnOptions, openEarn } from './harness.js'

export const historyChain = 31_337
export const historyAsset = `0x${'aa'.repeat(20)}`
/** The instant the clock of these tests stands at, in Unix seconds, on every grid. */
export const historyNow = Date.UTC(2026, 10, 20, 12) / 1000

/** A snapshot as a test writes it. What is left out is that of a vault that holds a thousand and gains nothing. */
export type TestSnapshot = {
  at: number
  block?: number
  assets?: bigint
  supply?: bigint
  price?: bigint
  exponent?: number
  usd?: string | null
  hash?: string
}

export type TestVault = {
  address?: string
  kind?: string
  assetDecimals?: number
  receiptDecimals?: number
  interval?: number
  growthSources?: readonly GrowthSource[] | null
  dustFloor?: bigint
  snapshots?: readonly TestSnapshot[]
}

export type HistoryWorld = {
  earn: Earn
  /** Adds a vault with its snapshots; answers its address. */
  vault(input?: TestVault): Promise<string>
  snapshots(address: string, snapshots: readonly TestSnapshot[]): Promise<void>
  /** Calls an operation of history; what the query leaves out is a year by the default step. */
  ask(name: string, address: string, query?: Record<string, string | number | boolean>): Promise<Answer>
  pause(address: string, from: number, to?: number): Promise<void>
  close(): Promise<void>
}

export const iso = (seconds: number) => new Date(seconds * 1000).toISOString()
export const blockHashOf = (block: number) => block.toString(16).padStart(64, '0')

let vaults = 0

/** The whole service with a chain, and vaults whose snapshots the test writes. */
export async function openHistoryWorld(options: EarnOptions = {}): Promise<HistoryWorld> {
  const earn = await openEarn({ now: iso(historyNow), ...options })
  const { db } = earn
  const key = await earn.key({ kind: 'publishable', hourlyUnits: 1_000_000_000 })
  await db`insert into chains (chain_id, name, slug, confirmations) values (${historyChain}, 'Devnet', 'devnet', 1)`
  await db`insert into tokens (chain_id, address, decimals, symbol, name)
    values (${historyChain}, ${historyAsset}, 6, 'USD', 'Dollar')`
  const snapshots: HistoryWorld['snapshots'] = async (address, list) => {
    const rows = list.map((one) => ({
      at: one.at,
      block: one.block ?? Math.floor(one.at / 10),
      assets: String(one.assets ?? 1_000_000_000n),
      supply: String(one.supply ?? 1_000_000_000n),
      price: String(one.price ?? 10n ** 18n),
      exponent: one.exponent ?? 18,
      usd: one.usd === undefined ? '1' : one.usd,
      hash: one.hash ?? blockHashOf(one.block ?? Math.floor(one.at / 10)),
    }))
    await db`
      insert into vault_snapshots (vault_id, block_number, block_timestamp, block_hash, total_assets, total_supply,
        price_numerator, price_exponent, price_usd)
      select v.id, r.block, to_timestamp(r.at), decode(r.hash, 'hex'), r.assets, r.supply, r.price, r.exponent, r.usd
      from jsonb_to_recordset(${db.json(rows)}) as r (at bigint, block bigint, assets numeric, supply numeric,
        price numeric, exponent smallint, usd numeric, hash text)
      join vaults v on v.address = ${address.toLowerCase()}`
  }
  return {
    earn,
    snapshots,
    vault: async (input = {}) => {
      vaults += 1
      const address = input.address ?? `0x${vaults.toString(16).padStart(40, 'c')}`
      const { assetDecimals = 6, receiptDecimals = 6, interval = 900, growthSources = null } = input
      await db`
        insert into vaults (chain_id, address, kind, asset, asset_decimals, receipt_token, receipt_decimals, active_from,
          snapshot_interval_seconds, growth_sources, dust_floor)
        values (${historyChain}, ${address.toLowerCase()}, ${input.kind ?? 'erc4626'}, ${historyAsset}, ${assetDecimals},
          ${address.toLowerCase()}, ${receiptDecimals}, 'epoch', ${interval},
          ${growthSources === null ? null : db.json(growthSources)}, ${String(input.dustFloor ?? 1000n)})`
      await earn.ctx.catalogue.refresh()
      if (input.snapshots) await snapshots(address, input.snapshots)
      return address
    },
    ask: (name, address, query = {}) =>
      earn.call(`GetOpportunityHistorical${name}`, {
        params: { chainId: historyChain, vaultAddress: address },
        query: { startDate: iso(historyNow - 365 * 86_400), ...query },
        key,
      }),
    pause: async (address, from, to) => {
      await db`
        insert into vault_pauses (vault_id, paused_from, resumed_at)
        select id, to_timestamp(${from}), ${to === undefined ? null : iso(to)}::timestamptz
        from vaults where address = ${address.toLowerCase()}`
    },
    close: earn.close,
  }
}

/** Snapshots on a grid up to now, oldest first. */
export function onGrid(count: number, step: number, make: (index: number) => Omit<TestSnapshot, 'at'>): TestSnapshot[] {
  return Array.from({ length: count }, (_, index) => ({ at: historyNow - (count - 1 - index) * step, ...make(index) }))
}
