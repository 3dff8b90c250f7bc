import { invalidArgument } from '../../kernel/errors.js'
import { parseEvmAddress } from '../../wallets/evmAddress.js'
import { parseSolanaAddress } from '../../wallets/solana.js'
import { parseTonAddress } from '../../wallets/tonAddress.js'

export const ecosystems = ['evm', 'solana', 'ton'] as const
export type WalletEcosystem = (typeof ecosystems)[number]

/** A wallet; the address is in the normal form of its ecosystem, so that equal wallets compare equal. */
export type Wallet = { ecosystem: WalletEcosystem; address: string }

/**
 * The wallet behind an address as people write it: EVM in lower case, Solana in base58, TON raw. Throws 400 when the
 * ecosystem has no such address, or no wallet can have it. TON addresses marked as test-only pass on a test network.
 */
export function parseWallet(ecosystem: WalletEcosystem, text: string, network: { tonTestnet: boolean }): Wallet {
  const address = {
    evm: () => parseEvmAddress(text),
    solana: () => parseSolanaAddress(text),
    ton: () => parseTonAddress(text, { testOnly: network.tonTestnet }),
  }[ecosystem]()
  if (address === undefined) throw invalidArgument(`address is not an address of ${ecosystem}`)
  return { ecosystem, address }
}
