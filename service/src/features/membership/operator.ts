/**
 * The door for the operator's commands: what lists, links and removes members. It loads neither the operations nor the
 * wallets of each ecosystem, so that a command starts at once.
 */
export {
  findUserId,
  listMembers,
  listMembershipEvents,
  listWallets,
  removeMembership,
  updateWalletUser,
} from './storeMembers.js'
export type { Wallet } from './wallet.js'
