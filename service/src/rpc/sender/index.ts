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
