import { hexToBytes } from 'viem'

/** Half the order of secp256k1, big-endian: the largest s that is not a mirrored signature (EIP-2). */
const halfOrder = hexToBytes('0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0')

/** Whether a signature is in the one form we write: 65 bytes, v 27 or 28, low s. */
export function isCanonicalSignature(signature: Uint8Array): boolean {
  const v = signature[64]
  if (signature.length !== 65 || (v !== 27 && v !== 28)) return false
  const s = signature.subarray(32, 64)
  const at = s.findIndex((byte, index) => byte !== halfOrder[index])
  return at < 0 || (s[at] ?? 0) < (halfOrder[at] ?? 0)
}
