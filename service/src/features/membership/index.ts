/**
 * Membership: which wallets belong to a user, and the agreement they sign to get there. Owns the tables `users`,
 * `memberships`, `agreements`.
 */
export { isMember, type WalletEcosystem } from './store.js'
