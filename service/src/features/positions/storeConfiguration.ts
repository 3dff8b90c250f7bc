import { standardEntryPoints } from '@openearn/attribution'
import type { DeriveConfig, DeriveVault, SignedOnlySetting } from '../../derive/config.js'
import type { Queryable } from '../../postgres/pool.js'
import { chainsOf } from '../../rpc/storeChains.js'
import type { DatedLine } from '../../sync/configuration.js'
import { findRulesStart } from '../../sync/storeRules.js'
import { type HolderSetting, vaultsOf } from '../../vaults/configured/index.js'
import { listSigners } from '../catalogue/index.js'
import { listBelieved } from './storeDoubts.js'

type ForwarderSetting = { address: string; activeFrom: string; startBlock?: number }

/** The version of the rules by which operations are apart from what is around their bundle. */
const apartVersion = 3

/** Everything of the configuration that decides positions of a chain, as it is now. */
export async function loadConfiguration(db: Queryable, chainId: number): Promise<DeriveConfig> {
  const [vaults, distributors, settings, signers, chain, apartFrom, doubts] = await Promise.all([
    db<(Omit<DeriveVault, 'holders'> & { holders: readonly HolderSetting[] })[]>`
      select id, address, kind, lower(receipt_token) as "receiptToken", lower(asset) as asset,
        asset_decimals as "assetDecimals", escrow, contracts, start_block as "startBlock",
        ceil(extract(epoch from active_from))::bigint as "activeFrom", holders
      from ${vaultsOf(db)} v where chain_id = ${chainId} order by id`,
    db<{ id: string; from: number }[]>`
      select id, ceil(extract(epoch from active_from))::bigint as "from" from distributors order by id`,
    db<{ id: string; from: number; signedOnly: boolean }[]>`
      select distributor_id as id, ceil(extract(epoch from active_from))::bigint as "from", signed_only as "signedOnly"
      from distributor_settings order by active_from`,
    listSigners(db, chainId),
    db<{ entryPoints: string[]; trustTraces: boolean; forwarders: ForwarderSetting[]; settlement: string | null }[]>`
      select entry_points as "entryPoints", trust_traces as "trustTraces", forwarders,
        swap->'orders'->>'settlement' as settlement
      from ${chainsOf(db)} c where chain_id = ${chainId}`,
    findRulesStart(db, apartVersion),
    listBelieved(db, chainId),
  ])
  const signedOnly = new Map<string, SignedOnlySetting[]>()
  for (const { id, ...setting } of settings) signedOnly.set(id, [...(signedOnly.get(id) ?? []), setting])
  const own = (chain[0]?.entryPoints ?? []).map((address) => address.toLowerCase())
  return {
    chainId,
    vaults: vaults.map(({ holders, ...vault }) => {
      const own = doubts.flatMap(({ vaultId, ...doubt }) => (vaultId === vault.id ? [doubt] : []))
      return { ...vault, ...toHolders(holders), ...(own.length > 0 ? { doubts: own } : {}) }
    }),
    distributors: new Map(distributors.map(({ id, from }) => [id, from])),
    signedOnly,
    signers: new Set(signers.map(({ address }) => address)),
    entryPoints: [...new Set([...standardEntryPoints, ...own])],
    trustTraces: chain[0]?.trustTraces === true,
    forwarders: (chain[0]?.forwarders ?? []).map(({ address, activeFrom, startBlock }) => ({
      address: address.toLowerCase(),
      from: Math.ceil(Date.parse(activeFrom) / 1000),
      ...(startBlock === undefined ? {} : { startBlock }),
    })),
    settlements: chain[0]?.settlement ? [chain[0].settlement.toLowerCase()] : [],
    operationsApartFrom: Math.ceil(apartFrom.getTime() / 1_000),
  }
}

function toHolders(holders: readonly HolderSetting[]): Pick<DeriveVault, 'holders'> {
  if (holders.length === 0) return {}
  return {
    holders: holders.map(({ address, kind, activeFrom, markets }) => ({
      ...{ address, kind, ...(markets ? { markets } : {}) },
      from: activeFrom === undefined ? 0 : Math.ceil(Date.parse(activeFrom) / 1000),
    })),
  }
}

/** The rules by which rows are derived. Another number derives everything that was derived by older rules again. */
const rulesLine: DatedLine = { line: 'rules 7', from: 0 }

/** The configuration as dated lines. */
export function listLines(config: DeriveConfig): DatedLine[] {
  const lines: DatedLine[] = [rulesLine]
  for (const [id, from] of config.distributors) lines.push({ line: `distributor ${id} ${from}`, from })
  for (const [id, settings] of config.signedOnly)
    for (const { from, signedOnly } of settings) lines.push({ line: `signed-only ${id} ${signedOnly} ${from}`, from })
  for (const {
    address,
    kind,
    receiptToken,
    escrow,
    contracts = {},
    activeFrom,
    holders = [],
    doubts = [],
  } of config.vaults) {
    const beside = Object.entries(contracts).map(([name, contract]) => ` ${name} ${contract}`)
    const kept = holders.map((holder) => ` holder ${holder.address} ${holder.kind} ${(holder.markets ?? []).join()}`)
    const parts = [...beside.sort(), ...new Set(kept.sort())].join('')
    const shape = `${address} ${kind} ${receiptToken} ${escrow ?? ''}${parts}`
    for (const holder of holders)
      lines.push({ line: `holder ${address} ${holder.address} ${holder.kind} ${holder.from}`, from: holder.from })
    for (const { holder, at } of doubts) lines.push({ line: `doubt ${address} ${holder} ${at}`, from: at + 1 })
    lines.push({ line: `vault ${shape} ${activeFrom}`, from: activeFrom })
    // Balances and requests are counted from a vault's first block, long before it counts for anybody.
    lines.push({ line: `shape ${shape}`, from: 0, of: address })
  }
  for (const signer of config.signers) lines.push({ line: `signer ${signer}`, from: 0 })
  if (config.trustTraces) lines.push({ line: 'trust-traces', from: 0 })
  for (const { address, from } of config.forwarders ?? []) lines.push({ line: `forwarder ${address}`, from })
  for (const settlement of config.settlements ?? []) lines.push({ line: `settlement ${settlement}`, from: 0 })
  const { operationsApartFrom: apartFrom = 0 } = config
  lines.push({ line: `operations-apart ${apartFrom}`, from: apartFrom })
  for (const entryPoint of config.entryPoints) lines.push({ line: `entry-point ${entryPoint}`, from: 0 })
  return lines
}
