import type { Queryable } from '../../postgres/pool.js'
import { type HolderSetting, keepsNothing, vaultsOf } from '../../vaults/configured/index.js'
import type { MetricsVault } from './changes.js'
import { type FloorSetting, readFloors } from './floors.js'

/** A vault as metrics sees it, with the line of its configuration that decides rows. */
export type ConfiguredVault = MetricsVault & { line: string }

/** The vaults of a chain by id. */
export async function listMetricsVaults(db: Queryable, chainId: number): Promise<ReadonlyMap<number, ConfiguredVault>> {
  const rows = await db<
    {
      id: number
      address: string
      receiptToken: string
      escrow: string | null
      contracts: Record<string, string>
      holders: HolderSetting[]
      lpFloor: FloorSetting[]
    }[]
  >`
    select id, address, lower(receipt_token) as "receiptToken", escrow, contracts, holders, lp_floor as "lpFloor"
    from ${vaultsOf(db)} v where chain_id = ${chainId}`
  return new Map(
    rows.map(({ id, lpFloor, ...vault }) => {
      const { levels } = readFloors(lpFloor)
      const line = `floors of vault ${id}: ${levels.join()}`
      return [id, { levels, line, isExcluded: (wallet: string) => keepsNothing(vault, wallet) }]
    }),
  )
}
