import type { Address } from 'viem'

/** The address that stands for a chain's native token. */
export const nativeToken: Address = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'
