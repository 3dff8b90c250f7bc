/**
 * Transactions this installation sends itself, one queue a chain and key. Owns the tables `senders`, `outgoing_transactions`
 * and `outgoing_attempts`. A signed transaction is recorded before it is sent, and checked until its block is final.
 */

export { toGasLimit } from './decide.js'
export { computeOpenSeconds, describeKey, type KeyHealth } from './describeKeys.js'
export { createSender, type Sender, type SenderCaps, type SenderOptions } from './sender.js'
export {
  cancelOutgoing,
  findOutgoing,
  type Held,
  listOutgoing,
  listOutgoingStates,
  type Outgoing,
  OutgoingDiffers,
  type OutgoingRow,
  type OutgoingState,
  recordOutgoing,
} from './storeOutgoing.js'
export { listSenders, releaseSender, type SenderStatus, sumSpending } from './storeSenders.js'
