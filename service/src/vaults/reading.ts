import type { Address } from 'viem'

/** Asks for limits on behalf of a wallet that no vault has heard of: what it may do, anybody may. */
export const anybody: Address = '0x000000000000000000000000000000000000bEEF'

/** Digits beyond the share's own, so that a small change of a low-decimal asset's share price shows. */
export const extraDigits = 12
