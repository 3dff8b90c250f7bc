import { createHash } from 'node:crypto'
import { concatBytes } from '@noble/curves/utils.js'
import { stringToBytes } from 'viem'
import { decodeBase58 } from './base58.js'
import { decodeSignature, isCurvePoint, verifyEd25519 } from './ed25519.js'

/** A wallet's claim to have signed a text it was shown by `domain`. */
export type SolanaClaim = { address: string; message: string; domain: string; signature: string }

/** The address when it is one a wallet can have: 32 bytes in base58, a point of the curve; undefined otherwise. */
export function parseSolanaAddress(text: string): string | undefined {
  const bytes = decodeBase58(text)
  return bytes?.length === 32 && isCurvePoint(bytes) ? text : undefined
}

/**
 * Whether a Solana wallet signed the text: as it stands, or inside one of the envelopes hardware wallets put around it.
 * The envelopes are rebuilt from what we know, with this wallet as the only signer; none is read from the client. The
 * signature is hex, base64 or base58 of 64 bytes.
 */
export function verifySolanaSignature({ address, message, domain, signature }: SolanaClaim): boolean {
  const publicKey = decodeBase58(address)
  if (!publicKey) return false
  const candidates = [stringToBytes(message), ...buildEnvelopes(stringToBytes(message), publicKey, domain)]
  return decodeSignature(signature).some((bytes) =>
    candidates.some((candidate) => verifyEd25519(bytes, candidate, publicKey)),
  )
}

const signingDomain = concatBytes(Uint8Array.of(0xff), stringToBytes('solana offchain'))
/** Restricted ASCII and UTF-8, both for hardware wallets. */
const formats = [0, 1]

/** The off-chain message envelopes of a text: version 1, version 0, and the shorter header of older tools. */
function buildEnvelopes(text: Uint8Array, signer: Uint8Array, domain: string): Uint8Array[] {
  const length = Uint8Array.of(text.length & 0xff, (text.length >> 8) & 0xff)
  const noDomain = new Uint8Array(32)
  const hashedDomain = Uint8Array.from(createHash('sha256').update(domain).digest())
  const versionOne = concatBytes(signingDomain, Uint8Array.of(1, 1), signer, text)
  const versionZero = [noDomain, hashedDomain].flatMap((application) =>
    formats.map((format) =>
      concatBytes(signingDomain, Uint8Array.of(0), application, Uint8Array.of(format, 1), signer, length, text),
    ),
  )
  const legacy = formats.map((format) => concatBytes(signingDomain, Uint8Array.of(0, format), length, text))
  return text.length > 0xffff ? [versionOne] : [versionOne, ...versionZero, ...legacy]
}
