export { createSender, type Sender, type SenderCaps, type SenderOptions } from './sender.js'
export {
  cancelOutgoing,
  findOutgoing,
  listOutgoing,
  type Outgoing,
  OutgoingDiffers,
  type OutgoingRow,
  type OutgoingState,
  recordOutgoing,
} from './storeOutgoing.js'
