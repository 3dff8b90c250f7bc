import type { Address } from 'viem'
import { invalidArgument } from '../../kernel/errors.js'

export const ecosystems = ['evm', 'solana', 'ton'] as const
export type WalletEcosystem = (typeof ecosystems)[number]

/** A wallet; the address is in the normal form of its ecosystem, so that equal wallets compare equal. */
export type Wallet = { ecosystem: WalletEcosystem; address: string }

/** The wallet behind an address as people write it. Throws 400 when the ecosystem has no such address. */
export function parseWallet(ecosystem: WalletEcosystem, text: string): Wallet {
  const address = ecosystem === 'evm' ? parseEvmAddress(text) : undefined
  if (address === undefined) throw invalidArgument(`address is not an address of ${ecosystem}`)
  return { ecosystem, address }
}

/** An EVM address in lower case; undefined for anything but 0x and 40 hex digits. The checksum is not judged. */
export function parseEvmAddress(text: string): Address | undefined {
  return /^0[xX][0-9a-fA-F]{40}$/.test(text) ? `0x${text.slice(2).toLowerCase()}` : undefined
}
