import { hex, int4, int8, nullable, numeric, oneOf, seconds } from '../../postgres/columns.js'
import type { Queryable } from '../../postgres/pool.js'
import { describeTable } from '../../postgres/table.js'
import {
  type HolderSetting,
  keepsNothing,
  listNonHolders,
  listOwnAddresses,
  vaultsOf,
} from '../../vaults/configured/index.js'
import type { FlowKind, FlowsVault } from './flows.js'

export const flowsTable = describeTable('flows', {
  chainId: [int8],
  blockNumber: [int8],
  timestamp: [seconds, 'block_timestamp'],
  vaultId: [int4],
  transactionIndex: [int4],
  wallet: [hex],
  kind: [oneOf<FlowKind>()],
  shares: [numeric],
  assets: [nullable(numeric)],
})

/** A vault as flows see it, with the line of its configuration that decides rows. */
export type ConfiguredVault = FlowsVault & { line: string }

/** The vaults of a chain by id. */
export async function listFlowsVaults(db: Queryable, chainId: number): Promise<ReadonlyMap<number, ConfiguredVault>> {
  type Row = {
    id: number
    address: string
    receiptToken: string
    escrow: string | null
    contracts: Record<string, string>
    holders: HolderSetting[]
  }
  const rows = await db<Row[]>`
    select id, address, lower(receipt_token) as "receiptToken", escrow, contracts, holders from ${vaultsOf(db)} v where chain_id = ${chainId}`
  return new Map(
    rows.map(({ id, ...vault }) => {
      const line = `no holders of vault ${id}: ${[...listNonHolders(listOwnAddresses(vault))].sort().join(' ')}`
      return [id, { line, isExcluded: (wallet: string) => keepsNothing(vault, wallet) }]
    }),
  )
}
