import type { VaultKind } from '../kind.js'
import { erc4626Calls, erc4626Emits } from './erc4626.js'

/**
 * Vaults this service can neither build for nor price: they are listed and watched. Their shares are followed as those of
 * every vault, and where they emit the events of ERC-4626, deposits and withdrawals are credited.
 */
export const other: VaultKind = {
  name: 'other',
  summary: 'Listed and watched only: no plans are built, and the price of its shares is not indexed.',
  asyncDeposit: false,
  asyncRedeem: false,
  emits: erc4626Emits,
  calls: erc4626Calls,
  errors: [],
  plans: undefined,
  readFigures: undefined,
  recognise: 'it is what no other kind is',
}
