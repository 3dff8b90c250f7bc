import { hex, int4, int8, nullable, numeric, oneOf, seconds } from '../../postgres/columns.js'
import type { Queryable } from '../../postgres/pool.js'
import { copyRows, describeTable, insertRows } from '../../postgres/table.js'
import type { Above, Place } from '../../sync/projection.js'
import { keepsNothing, listNonHolders, listOwnAddresses } from '../../vaults/index.js'
import type { Flow, FlowKind, FlowsVault } from './flows.js'

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

/** A vault as flows see it, with what of its configuration decides rows. */
export type ConfiguredVault = FlowsVault & { line: string }

/** The vaults of a chain by id. */
export async function listFlowsVaults(db: Queryable, chainId: number): Promise<ReadonlyMap<number, ConfiguredVault>> {
  type Row = {
    id: number
    address: string
    receiptToken: string
    escrow: string | null
    contracts: Record<string, string>
  }
  const rows = await db<Row[]>`
    select id, address, lower(receipt_token) as "receiptToken", escrow, contracts from vaults where chain_id = ${chainId}`
  return new Map(
    rows.map(({ id, ...vault }) => {
      const line = `no holders of vault ${id}: ${[...listNonHolders(listOwnAddresses(vault))].sort().join(' ')}`
      return [id, { line, isExcluded: (wallet: string) => keepsNothing(vault, wallet) }]
    }),
  )
}

export async function recordFlows(
  db: Queryable,
  rows: readonly Flow[],
  { chainId, place, isLive }: { chainId: number; place: Place; isLive: boolean },
): Promise<void> {
  if (rows.length === 0) return
  const shared = { chainId }
  if (isLive) {
    await insertRows(db, place(flowsTable), rows, { shared })
    return
  }
  const copy = await copyRows(db, place(flowsTable), { shared })
  await copy.write(rows)
  await copy.end()
}

/** Takes flows back to the end of a block. `vaultIds` limits it to some vaults. */
export async function removeFlowsAbove(db: Queryable, above: Above, vaultIds?: readonly number[]): Promise<void> {
  const { chainId, number, tip } = above
  const own = vaultIds === undefined ? db`` : db`and vault_id = any(${[...vaultIds]}::int[])`
  await db`
    delete from flows
    where chain_id = ${chainId} and block_number between ${number + 1} and ${Math.max(number, tip)} ${own}`
}
