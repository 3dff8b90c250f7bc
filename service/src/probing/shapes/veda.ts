import { type Address, isAddressEqual } from 'viem'
import { findVaultKind } from '../../vaults/index.js'
import type { Ask, Hints, Shape } from './hints.js'

/**
 * The vault of Veda that a teller, accountant or queue belongs to. Each names the vault, and the vault has to know the part again: by
 * its teller and accountant, as its kind recognises them, so a teller of another vault is not taken.
 */
export async function findVeda(ask: Ask, address: Address, hints: Hints): Promise<Shape | undefined> {
  const { accountant, base, boringVault, vault: owner } = hints
  const isQueue = boringVault !== undefined && accountant !== undefined
  const isPart = owner !== undefined && (accountant !== undefined || base !== undefined)
  const vault = isQueue ? boringVault : isPart ? owner : undefined
  const recognise = findVaultKind('veda')?.recognise
  if (vault === undefined || typeof recognise !== 'function') return undefined
  let found = await ask(recognise(vault))
  while (found?.next) found = await ask(found.next)
  const { contracts = {} } = found ?? {}
  if (!found) return undefined
  if (!isQueue)
    return isSame(address, base ? contracts['accountant'] : contracts['teller'])
      ? { address: vault, kind: 'veda', recognised: found }
      : undefined
  if (!isSame(accountant, contracts['accountant'])) return undefined
  const recognised = { ...found, contracts: { ...contracts, queue: address }, escrow: address, notes: [queueNote] }
  return { address: vault, kind: 'veda', recognised }
}

const queueNote =
  'a vault of Veda (BoringVault), with its queue: a deposit locks the shares for a time, so nothing is tried here; deposit and ask for a withdrawal with little money first'

function isSame(one: Address, other: Address | undefined): boolean {
  return other !== undefined && isAddressEqual(one, other)
}
