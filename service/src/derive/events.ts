import { transferTopic } from '../rpc/abis.js'
import type { RawLog } from '../rpc/raw.js'
import { vaultTopics } from '../vaults/index.js'

export { decodeVaultEvent, eventParties, type VaultEvent, vaultTopics } from '../vaults/index.js'

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
