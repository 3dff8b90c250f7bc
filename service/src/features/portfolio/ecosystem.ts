import { parseEvmAddress } from '../../wallets/evmAddress.js'
import { parseSolanaAddress } from '../../wallets/solana.js'
import { parseTonAddress } from '../../wallets/tonAddress.js'

export type Ecosystem = 'evm' | 'solana' | 'ton'

/** A wallet and its ecosystem, which the form of the address tells. EVM in lower case, Solana in base58, TON raw. */
export function findWallet(
  text: string,
  network: { tonTestnet: boolean },
): { ecosystem: Ecosystem; address: string } | undefined {
  const evm = parseEvmAddress(text)
  if (evm !== undefined) return { ecosystem: 'evm', address: evm }
  const ton = parseTonAddress(text, { testOnly: network.tonTestnet })
  if (ton !== undefined) return { ecosystem: 'ton', address: ton }
  const solana = parseSolanaAddress(text)
  return solana === undefined ? undefined : { ecosystem: 'solana', address: solana }
}
