import { toEventSelector } from 'viem'
import type { RawLog } from '../rpc/raw.js'
import { findTopic, vaultTopics } from '../vaults/index.js'

export { decodeVaultEvent, eventParties, type VaultEvent, vaultTopics } from '../vaults/index.js'

/** First topics by the names of what they mean; those of vaults are their kinds' own. */
export const topics = {
  transfer: toEventSelector('event Transfer(address indexed from, address indexed to, uint256 amount)') as string,
  deposit: findTopic('erc4626', 'Deposit'),
  withdraw: findTopic('erc4626', 'Withdraw'),
  depositRequest: findTopic('erc7540', 'DepositRequest'),
  redeemRequest: findTopic('erc7540', 'RedeemRequest'),
  cancelDepositRequest: findTopic('erc7540', 'CancelDepositRequest'),
  cancelDepositClaim: findTopic('erc7540', 'CancelDepositClaim'),
  cancelRedeemRequest: findTopic('erc7540', 'CancelRedeemRequest'),
  cancelRedeemClaim: findTopic('erc7540', 'CancelRedeemClaim'),
  tokenDeposit: findTopic('erc5115', 'Deposit'),
  tokenRedeem: findTopic('erc5115', 'Redeem'),
  depositRequestCanceled: findTopic('lagoon', 'DepositRequestCanceled'),
} as const

/** All first topics asked of a node for watched contracts. */
export const watchedTopics: readonly string[] = [topics.transfer, ...vaultTopics]

export type Transfer = { logIndex: number; from: string; to: string; amount: bigint }

/** An ERC-20 Transfer, or undefined when the log is another or has another shape. */
export function decodeTransfer(log: RawLog): Transfer | undefined {
  const [first, from, to] = log.topics
  if (first !== topics.transfer || from === undefined || to === undefined) return undefined
  if (log.topics.length !== 3 || log.data.length !== 66) return undefined
  return { logIndex: log.logIndex, from: `0x${from.slice(26)}`, to: `0x${to.slice(26)}`, amount: BigInt(log.data) }
}
