import { zeroAddress } from 'viem'
import type { EmittingVault } from '../events.js'

/** The addresses of a vault: its own, then those of its further contracts. */
export function listVaultAddresses({ address, contracts }: Pick<EmittingVault, 'address' | 'contracts'>): string[] {
  return contracts === undefined ? [address] : [...new Set([address, ...Object.values(contracts)])]
}

/** The addresses of a vault, and who keeps shares in escrow for it. */
type HoldingVault = Pick<EmittingVault, 'address' | 'contracts'> & {
  escrow: string | null
  /** Contracts that keep shares for accounts and are looked through. */
  holders?: readonly { address: string }[]
}

/** Nobody has the keys of these: shares they receive are lost to everybody. */
const burnAddresses: readonly string[] = [zeroAddress, '0x000000000000000000000000000000000000dead']

/** The vault, its further contracts, its escrow and the holders that are looked through: they hold shares only for others. */
export function listOwnAddresses(vault: HoldingVault): string[] {
  const holders = (vault.holders ?? []).map(({ address }) => address.toLowerCase())
  return [...new Set([...listVaultAddresses(vault), ...(vault.escrow === null ? [] : [vault.escrow]), ...holders])]
}

/** Whether an address holds shares only for others: the vault, its further contracts, its escrow. */
export function holdsForOthers(vault: HoldingVault, address: string): boolean {
  return address === vault.escrow || isVaultAddress(vault, address)
}

/** Whether an address is never an LP: the zero and the burn address, and addresses that hold only for others. */
export function keepsNothing(vault: HoldingVault, address: string): boolean {
  return burnAddresses.includes(address) || holdsForOthers(vault, address) || isLookedThrough(vault, address)
}

/** Whether an address is a declared holder of a vault's shares, whose accounts count instead. */
export function isLookedThrough({ holders }: Pick<HoldingVault, 'holders'>, address: string): boolean {
  return holders?.some((holder) => holder.address.toLowerCase() === address) ?? false
}

/** All addresses that keep nothing, of a vault whose own addresses are known. */
export function listNonHolders(own: readonly string[]): ReadonlySet<string> {
  return new Set([...burnAddresses, ...own])
}

/** Whether an address is the vault or one of its further contracts. */
export function isVaultAddress(vault: Pick<EmittingVault, 'address' | 'contracts'>, address: string): boolean {
  if (address === vault.address) return true
  for (const name in vault.contracts) if (vault.contracts[name] === address) return true
  return false
}
