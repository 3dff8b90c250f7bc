/**
 * Membership: which wallets belong to a user, and the agreement a wallet signs to get there. Owns the tables `users`,
 * `memberships`, `agreements` and `membership_events`, the three membership operations, and the job that sweeps
 * agreements nobody signed. Other slices only ask whether a wallet is a member; `operator.ts` is the
 * door of the commands that list and link members.
 */
export { sweepAgreements } from './jobs.js'
export { membershipOperations } from './operations.js'
export { isMember } from './store.js'
export { ecosystems, parseWallet, type WalletEcosystem } from './wallet.js'
