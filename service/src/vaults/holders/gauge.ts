import { zeroAddress } from 'viem'
import { transferTopic } from '../../rpc/abis.js'
import type { RawLog } from '../../rpc/raw.js'
import { addressIn, type HolderKind, type HolderSaying, numberIn, ownBalance } from './holder.js'

/**
 * A gauge that gives a transferable receipt for each share, one to one: minted when a share comes in, burned when it goes out,
 * and moved from account to account. Only the receipt's Transfers count, for other events of gauges repeat them.
 */
export const gauge: HolderKind = {
  name: 'gauge',
  views: ownBalance,
  events: new Map([[transferTopic, readReceipt]]),
}

function readReceipt(log: RawLog): HolderSaying | undefined {
  if (log.topics.length !== 3 || log.data.length !== 66) return undefined
  const [from, to, shares] = [addressIn(log, 1), addressIn(log, 2), numberIn(log, 0)]
  if (from === to) return undefined
  if (from === zeroAddress) return { kind: 'in', account: to, shares }
  if (to === zeroAddress) return { kind: 'out', account: from, shares }
  return { kind: 'move', account: from, to, shares }
}
