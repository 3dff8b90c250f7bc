import type { DeriveConfig } from '../../src/derive/config.js'
import type { RawBlock, RawTransaction } from '../../src/rpc/raw.js'
import { addressOf } from './bytes.js'
import { isSignedCall } from './signing.js'
import { firstTopics } from './told.js'
import type { Frame } from './types.js'

/**
 * SEMANTICS §2: a settlement of our own order book holds one order, and its suffix is signed for the solver that calls it;
 * it counts as the order's receiver.
 */
export function readSettlement(
  { logs }: RawBlock,
  transaction: RawTransaction | undefined,
  config: DeriveConfig,
): (frame: Pick<Frame, 'caller' | 'target' | 'data'>) => string | undefined {
  const { settlements = [] } = config
  return (frame) => {
    if (!settlements.includes(frame.target)) return undefined
    const trades = logs.filter(
      ({ transactionHash, address, topics }) =>
        transactionHash === transaction?.hash && address === frame.target && topics[0] === firstTopics.trade,
    )
    const [only] = trades
    return trades.length === 1 && isSignedCall(frame, config) ? addressOf(only!.topics[1]!) : undefined
  }
}
