import { getAddress, isAddress } from 'viem'

/** An address with its EIP-55 checksum; text that is no address stays as it is. */
export function formatAddress(address: string): string {
  return isAddress(address, { strict: false }) ? getAddress(address) : address
}
