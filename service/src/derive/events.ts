import { transferTopic } from '../rpc/abis.js'
import type { RawLog } from '../rpc/raw.js'
import { type VaultEvent, vaultTopics } from '../vaults/index.js'

export { decodeVaultEvent, type VaultEvent, vaultTopics } from '../vaults/index.js'

/** All first topics asked of a node for watched contracts. */
export const watchedTopics: readonly string[] = [transferTopic, ...vaultTopics]

export type Transfer = { logIndex: number; from: string; to: string; amount: bigint }

/** An ERC-20 Transfer, or undefined when the log is another or has another shape. */
export function decodeTransfer(log: RawLog): Transfer | undefined {
  const [first, from, to] = log.topics
  if (first !== transferTopic || from === undefined || to === undefined) return undefined
  if (log.topics.length !== 3 || log.data.length !== 66) return undefined
  return { logIndex: log.logIndex, from: `0x${from.slice(26)}`, to: `0x${to.slice(26)}`, amount: BigInt(log.data) }
}

/** The parties of an event: a frame of one of these counts for all wallets that the event concerns. */
export function eventParties(event: VaultEvent): readonly string[] {
  if (event.kind === 'deposit' || event.kind === 'withdraw') return [event.sender, event.owner]
  if (event.kind === 'depositRequest' || event.kind === 'redeemRequest')
    return [event.sender, event.owner, event.controller]
  return [event.sender, event.controller]
}
