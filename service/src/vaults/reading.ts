import type { Address } from 'viem'

/** A wallet that no vault knows, for reads of limits: anybody may do what it may do. */
export const anybody: Address = '0x000000000000000000000000000000000000bEEF'

/** Digits beyond the share's own, so that a small change of a low-decimal asset's share price shows. */
export const extraDigits = 12
