import { transferTopic } from '../src/rpc/abis.js'
import { findVaultKind } from '../src/vaults/index.js'

/** The first topic of an event of a kind, by the name it is declared under; throws where there is none. */
function findTopic(kindName: string, eventName: string): string {
  const found = findVaultKind(kindName)?.emits.find(({ event }) => event.name === eventName)
  if (!found) throw new Error(`vaults of the kind ${kindName} emit no ${eventName}`)
  return found.topic
}

/** First topics by the names of what they mean. */
export const topics = {
  transfer: transferTopic,
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
