import { type Address, isAddressEqual } from 'viem'
import { combine } from '../../rpc/multicall.js'
import { type Ask, type Hints, named, type Shape } from './hints.js'

/**
 * A BoringVault of Veda, or its teller, accountant or queue. The vault names its teller as the hook of its transfers, the teller the
 * accountant, and that the base asset; each has to name the vault again, so a teller of another vault is not taken.
 */
export async function findVeda(ask: Ask, address: Address, hints: Hints): Promise<Shape | undefined> {
  const { hook, accountant, base, boringVault, vault: owner } = hints
  const isQueue = boringVault !== undefined && accountant !== undefined
  const isPart = owner !== undefined && (accountant !== undefined || base !== undefined)
  const vault = isQueue ? boringVault : isPart ? owner : hook && address
  if (vault === undefined) return undefined
  const teller = vault === address ? hook : await ask(named(vault, 'hook'))
  if (teller === undefined) return undefined
  const told = await ask(combine({ vault: named(teller, 'vault'), accountant: named(teller, 'accountant') }))
  if (told.accountant === undefined || !isSame(told.vault, vault)) return undefined
  const asset = await ask(named(told.accountant, 'base'))
  if (asset === undefined) return undefined
  if (vault !== address && !isSame(base ? address : accountant, told.accountant)) return undefined
  const queue = isQueue ? `, its queue is ${address}` : ''
  return {
    address: vault,
    recognised: {
      asset,
      receiptToken: vault,
      ...(isQueue ? { escrow: address } : {}),
      notes: [
        `a vault of Veda (BoringVault): shares are bought at the teller ${teller} and redeemed through a queue that others solve${queue}; no plan is built for it, and its shares are watched`,
      ],
    },
  }
}

function isSame(one: Address | undefined, other: Address): boolean {
  return one !== undefined && isAddressEqual(one, other)
}
