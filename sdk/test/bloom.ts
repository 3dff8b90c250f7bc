import { bytesToHex, type Hex, keccak256 } from 'viem'

/** The bloom of logs (Ethereum yellow paper, 4.3.1). */
export function bloomOf(logs: readonly { address: Hex; topics: readonly Hex[] }[]): Hex {
  const bloom = new Uint8Array(256)
  for (const { address, topics } of logs)
    for (const entry of [address, ...topics]) {
      const hash = keccak256(entry, 'bytes')
      for (const at of [0, 2, 4]) {
        const bit = (((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) & 2047
        bloom[255 - (bit >> 3)] = (bloom[255 - (bit >> 3)] ?? 0) | (1 << (bit & 7))
      }
    }
  return bytesToHex(bloom)
}
