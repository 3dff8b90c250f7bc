/** An EVM address in lower case; undefined for anything but 0x and 40 hex digits. The checksum is not judged. */
export function parseEvmAddress(text: string): string | undefined {
  return /^0[xX][0-9a-fA-F]{40}$/.test(text) ? `0x${text.slice(2).toLowerCase()}` : undefined
}
