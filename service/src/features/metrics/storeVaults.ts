import { usdDecimals } from '../../kernel/amount.js'
import type { Queryable } from '../../postgres/pool.js'
import { vaultsOf } from '../../vaults/configured/index.js'
import { type Era, type FloorSetting, type Floors, floorAt, readFloors } from './floors.js'

/** A vault as series of it are read. */
export type SeriesVault = {
  id: number
  chainId: number
  /** Lower-case. */
  address: string
  assetDecimals: number
  /** The usual exponent of its snapshots' prices, and what makes 10^-18 US dollars of shares × price numerator × price. */
  priceExponent: number
  factor: string
  /** When which of its floors decides. */
  eras: readonly Era[]
}

type VaultRow = Pick<SeriesVault, 'id' | 'chainId' | 'address' | 'assetDecimals'> & {
  receiptDecimals: number
  lpFloor: FloorSetting[]
}

const columns = (db: Queryable) => db`
  v.id, v.chain_id as "chainId", v.address, v.asset_decimals as "assetDecimals",
  v.receipt_decimals as "receiptDecimals", v.lp_floor as "lpFloor"`

/** Digits of a share beyond those it has, in which the price of one is read. */
const extraDigits = 12

function toSeriesVault({ receiptDecimals, lpFloor, ...vault }: VaultRow): SeriesVault {
  const priceExponent = receiptDecimals + extraDigits
  const places = priceExponent + vault.assetDecimals - usdDecimals
  const factor = places > 0 ? `0.${'1'.padStart(places, '0')}` : `1${'0'.repeat(-places)}`
  return { ...vault, priceExponent, factor, eras: readFloors(lpFloor).eras }
}

/** Vaults in which a distributor ever had a lot. */
export async function listDistributorVaults(db: Queryable, distributorId: string): Promise<SeriesVault[]> {
  const rows = await db<VaultRow[]>`
    select ${columns(db)} from ${vaultsOf(db)} v
    where exists (select from attributed_steps a where a.distributor_id = ${distributorId} and a.vault_id = v.id)
    order by v.id`
  return rows.map(toSeriesVault)
}

/** A vault by chain and lower-case address. */
export async function findSeriesVault(
  db: Queryable,
  { chainId, address }: { chainId: number; address: string },
): Promise<SeriesVault | undefined> {
  const [row] = await db<VaultRow[]>`
    select ${columns(db)} from ${vaultsOf(db)} v where v.chain_id = ${chainId} and v.address = ${address}`
  return row && toSeriesVault(row)
}

/** Vaults by their ids. */
export async function listSeriesVaults(db: Queryable, ids: readonly number[]): Promise<SeriesVault[]> {
  const rows = await db<
    VaultRow[]
  >`select ${columns(db)} from ${vaultsOf(db)} v where v.id = any(${[...ids]}::int[]) order by v.id`
  return rows.map(toSeriesVault)
}

/** The floors of vaults that decide at an instant, by their ids. */
export async function listFloorsAt(
  db: Queryable,
  ids: readonly number[],
  at: Date,
): Promise<ReadonlyMap<number, bigint>> {
  return new Map([...(await listVaultFloors(db, ids))].map(([id, floors]) => [id, floorAt(floors, at)]))
}

/** The floors of vaults by their ids. */
export async function listVaultFloors(db: Queryable, ids: readonly number[]): Promise<ReadonlyMap<number, Floors>> {
  const rows = await db<{ id: number; lpFloor: FloorSetting[] }[]>`
    select id, lp_floor as "lpFloor" from ${vaultsOf(db)} v where id = any(${[...ids]}::int[])`
  return new Map(rows.map(({ id, lpFloor }) => [id, readFloors(lpFloor)]))
}
