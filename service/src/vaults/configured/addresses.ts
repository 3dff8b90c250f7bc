import { zeroAddress } from 'viem'
import type { EmittingVault } from '../events.js'

/** The addresses of a vault: its own, then those of its further contracts. */
export function listVaultAddresses({ address, contracts }: Pick<EmittingVault, 'address' | 'contracts'>): string[] {
  return contracts === undefined ? [address] : [...new Set([address, ...Object.values(contracts)])]
}

/** The addresses of a vault, and who keeps shares in escrow for it. */
type HoldingVault = Pick<EmittingVault, 'address' | 'contracts'> & { escrow: string | null }

/** Nobody has the keys of these: shares they receive are lost to everybody. */
const burnAddresses: readonly string[] = [zeroAddress, '0x000000000000000000000000000000000000dead']

/** The vault, its further contracts and its escrow: they hold shares only for others. */
export function listOwnAddresses(vault: HoldingVault): string[] {
  return [...listVaultAddresses(vault), ...(vault.escrow === null ? [] : [vault.escrow])]
}

/** Whether an address holds shares only for others: the vault, its further contracts, its escrow. */
export function holdsForOthers(vault: HoldingVault, address: string): boolean {
  return address === vault.escrow || isVaultAddress(vault, address)
}

/** Whether an address is never a holder: the zero and the burn address, and addresses that hold only for others. */
export function keepsNothing(vault: HoldingVault, address: string): boolean {
  return burnAddresses.includes(address) || holdsForOthers(vault, address)
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
