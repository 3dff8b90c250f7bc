export { createSender, type Sender, type SenderCaps, type SenderOptions } from './sender.js'
export {
  cancelOutgoing,
  findOutgoing,
  listOutgoing,
  listOutgoingStates,
  type Outgoing,
  OutgoingDiffers,
  type OutgoingRow,
  type OutgoingState,
  recordOutgoing,
} from './storeOutgoing.js'
