import type { Finding, Frame } from '@openearn/attribution'
import { toEventSelector } from 'viem'
import type { RawLog } from '../rpc/raw.js'
import type { DeriveConfig } from './config.js'

/** GPv2: an order was filled, in part or in whole. */
export const tradeTopic: string = toEventSelector(
  'event Trade(address indexed owner, address sellToken, address buyToken, uint256 sellAmount, uint256 buyAmount, uint256 feeAmount, bytes orderUid)',
)

/**
 * Calls of our settlement contracts that carry our signature, each with the wallet it speaks for: the owner of the one
 * order that was filled, to whom everything is paid. The signature covers the call of the solver, so settlements of
 * other solvers speak for nobody.
 */
export function readSettlements(
  findings: readonly Finding[],
  logs: readonly RawLog[],
  { settlements = [] }: DeriveConfig,
): ReadonlyMap<Frame, string> {
  const spoken = new Map<Frame, string>()
  if (settlements.length === 0) return spoken
  for (const { frame, readings } of findings) {
    if (!frame.proven || !settlements.includes(frame.target)) continue
    const isOurs = readings.some(({ signature: { valid, provenBy, wallet } }) => {
      return valid && provenBy === frame && wallet === frame.caller
    })
    const [only, ...more] = logs.filter(({ address, topics }) => address === frame.target && topics[0] === tradeTopic)
    const owner = only?.topics[1]
    if (isOurs && owner !== undefined && more.length === 0) spoken.set(frame, `0x${owner.slice(26)}`)
  }
  return spoken
}
