import type { RawLog } from '../../rpc/raw.js'
import { addressIn, type DeclaredHolder, type HolderKind, type HolderSaying, numberIn, told, wordOf } from './holder.js'

/**
 * Collateral that is not lent on, kept by market: Morpho Blue. It emits before the share moves, but for a liquidation, which it
 * emits after.
 */
export const collateral: HolderKind = {
  name: 'collateral',
  byMarket: true,
  // `position(bytes32,address)`: supplied shares, borrowed shares, collateral.
  views: ({ address, markets = [] }, account) =>
    markets.map((market) => ({
      ...{ target: address, data: `0x93c52062${market.slice(2)}${wordOf(account)}` },
      word: { at: 2, of: 3 },
    })),
  events: new Map([
    told('SupplyCollateral(bytes32,address,address,uint256)', { topics: 4, words: 1 }, (log, holder) =>
      ofMarket(log, holder, {
        ...{ kind: 'in', account: addressIn(log, 3), shares: numberIn(log, 0), isBeforeTransfer: true },
      }),
    ),
    told('WithdrawCollateral(bytes32,address,address,address,uint256)', { topics: 4, words: 2 }, (log, holder) =>
      ofMarket(log, holder, {
        ...{ kind: 'out', account: addressIn(log, 2), shares: numberIn(log, 1), isBeforeTransfer: true },
      }),
    ),
    told(
      'Liquidate(bytes32,address,address,uint256,uint256,uint256,uint256,uint256)',
      { topics: 4, words: 5 },
      (log, holder) => ofMarket(log, holder, { kind: 'out', account: addressIn(log, 3), shares: numberIn(log, 2) }),
    ),
  ]),
}

function ofMarket(log: RawLog, { markets = [] }: DeclaredHolder, saying: HolderSaying): HolderSaying | undefined {
  return markets.includes(log.topics[1] ?? '') ? saying : undefined
}
