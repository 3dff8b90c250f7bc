import { type Address, erc20Abi } from 'viem'
import { mapRead, readContract } from '../../rpc/multicall.js'
import type { VaultKind } from '../kind.js'

/** A token that is no share of anything: who holds how much of it is followed, and one of it is worth one of it. */
export const erc20: VaultKind = {
  name: 'erc20',
  summary: 'A plain token whose balances are followed: no plans are built, and one of it is worth one of it.',
  asyncDeposit: false,
  asyncRedeem: false,
  emits: [],
  calls: [],
  errors: [],
  plans: undefined,
  readFigures: ({ receiptToken, receiptDecimals }) =>
    mapRead(readContract(receiptToken as Address, erc20Abi, 'totalSupply', []), (totalSupply) => ({
      maxDeposit: undefined,
      figures:
        totalSupply === undefined
          ? undefined
          : {
              ...{ totalAssets: totalSupply, totalSupply },
              ...{ priceNumerator: 10n ** BigInt(receiptDecimals), priceExponent: receiptDecimals },
            },
    })),
  recognise: 'what a reward stream is for and no vault gives as its share',
}
