/**
 * Membership: which wallets belong to a user, and the agreement a wallet signs to get there. Owns the tables `users`,
 * `memberships` and `agreements`, and the three membership operations. Other slices only ask whether a wallet is a
 * member.
 */
export { membershipOperations } from './operations.js'
export { isMember } from './store.js'
export type { WalletEcosystem } from './wallet.js'
