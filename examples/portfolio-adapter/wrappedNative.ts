import type { Address } from 'viem'
import { type Adapter, balanceCall, parseWord } from '../../service/src/features/portfolio/index.js'

/**
 * The contract that wraps the native token, shown as what it is: native tokens kept elsewhere, one for one. Its token is a
 * receipt, so the row explains it.
 */
export const wrappedNativeAdapter: Adapter = {
  name: 'wrapped-native',
  ask: async ({ chain, snapshot, wallet }) => {
    const wrapped = snapshot.chains.get(chain.chainId)?.wrappedNative?.toLowerCase()
    if (!wrapped) return { reads: [], answer: () => ({ items: [] }) }
    return {
      reads: [{ target: wrapped as Address, data: balanceCall(wallet) }],
      answer: ([result]) => {
        const raw = parseWord(result)
        if (raw === undefined) return { items: [], problems: [`${wrapped} does not answer its balance`] }
        if (raw === 0n) return { items: [] }
        const symbol = chain.nativeSymbol
        // Priced as the token that is wrapped.
        const token = { address: wrapped, symbol, name: symbol, decimals: 18, logoUrl: '' }
        return {
          items: [
            {
              ...{ protocol: { id: 'wrapped', name: 'Wrapped', siteUrl: '', logoUrl: '' }, name: `Wrapped ${symbol}` },
              ...{ type: 'yield', opportunityId: null, pool: wrapped, description: 'One for one, at any time' },
              ...{ supplied: [{ token, raw, explains: wrapped }], borrowed: [], rewards: [] },
            },
          ],
        }
      },
    }
  },
}
