import { derivedId } from '../../kernel/ids.js'

/** The devnet's two organizations. The first owns both keys and the first two distributors. */
export const organizations = [
  { id: derivedId('devnet:organization:aurora'), name: 'Aurora Wallet' },
  { id: derivedId('devnet:organization:borealis'), name: 'Borealis App' },
] as const

export const distributors = [
  { id: 'AuroraWallet', name: 'Aurora Wallet', organizationId: organizations[0].id },
  { id: 'AuroraMobile', name: 'Aurora Mobile', organizationId: organizations[0].id },
  { id: 'Borealis', name: 'Borealis App', organizationId: organizations[1].id },
] as const

export const distributorIds = distributors.map(({ id }) => id)
