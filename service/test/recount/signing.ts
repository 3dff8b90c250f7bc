import { secp256k1 } from '@noble/curves/secp256k1.js'
import { type Hex, hashTypedData } from 'viem'
import { publicKeyToAddress } from 'viem/utils'
import { type Digits, hashOf } from './bytes.js'
import type { Identity } from './identity.js'
import { readTail, type Suffix } from './suffixes.js'
import type { Chain, Creditable, Frame } from './types.js'

/** SEMANTICS §2, *What we write*: what our key signs. */
export function digestOf(
  suffix: Suffix,
  { caller, target, data }: Pick<Frame, 'caller' | 'target' | 'data'>,
  chainId: number,
): Hex {
  const { actionId, referralCode } = suffix.ours!
  return hashTypedData({
    domain: { name: 'OpenEarn Attribution', version: '1' },
    primaryType: 'Attribution',
    types: {
      Attribution: [
        { name: 'code', type: 'string' },
        { name: 'actionId', type: 'bytes16' },
        { name: 'chainId', type: 'uint256' },
        { name: 'wallet', type: 'address' },
        { name: 'target', type: 'address' },
        { name: 'callHash', type: 'bytes32' },
        { name: 'referralCode', type: 'string' },
      ],
    },
    message: {
      code: suffix.codes[0] ?? '',
      actionId: `0x${actionId}`,
      chainId: BigInt(chainId),
      wallet: caller as Hex,
      target: target as Hex,
      callHash: hashOf(readTail(data).data),
      referralCode,
    },
  })
}

const digests = new Map<string, Hex>()
function digestFor(suffix: Suffix, frame: Pick<Frame, 'caller' | 'target' | 'data'>, chainId: number): Hex {
  const key = [suffix.bytes, frame.caller, frame.target, frame.data, chainId].join()
  const digest = digests.get(key) ?? digestOf(suffix, frame, chainId)
  if (digests.size > 5_000) digests.clear()
  digests.set(key, digest)
  return digest
}

const recovered = new Map<string, string>()

/** Who signed a digest; remembered, because it is slow. */
function signerOf(digest: Hex, signature: Digits): string {
  const key = `${digest}${signature}`
  const known = recovered.get(key)
  if (known !== undefined) return known
  const signer = ['1b', '1c'].includes(signature.slice(128)) ? recoverAddress(digest, signature) : ''
  recovered.set(key, signer)
  return signer
}

function recoverAddress(digest: Hex, signature: Digits): string {
  try {
    const key = secp256k1.Signature.fromHex(signature.slice(0, 128))
      .addRecoveryBit(Number.parseInt(signature.slice(128), 16) - 27)
      .recoverPublicKey(Buffer.from(digest.slice(2), 'hex'))
    return publicKeyToAddress(`0x${key.toHex(false)}`).toLowerCase()
  } catch (error) {
    if (error instanceof Error) return ''
    throw error
  }
}

/** Whether a call carries a signature of ours over that very call of its caller. */
export function isSignedCall(
  frame: Pick<Frame, 'caller' | 'target' | 'data'>,
  { chainId, signers }: { chainId: number; signers: ReadonlySet<string> },
): boolean {
  return readTail(frame.data).suffixes.some(
    (suffix) =>
      suffix.ours?.signature !== undefined &&
      signers.has(signerOf(digestFor(suffix, frame, chainId), suffix.ours.signature)),
  )
}

/** A signature holds for a call: the digest it was given for, and the call it names. */
export type Holding = { digest: Hex; place: number }

type Signed = {
  vault: ReadonlySet<string>
  identity: Identity
  config: { chainId: number; signers: ReadonlySet<string> }
}

/**
 * The calls of a chain for which the signature of a frame's suffix holds: the frame or one inside it, with no other call
 * to the vault between it and the event.
 */
export function findHoldings(
  chain: Chain,
  index: number,
  suffix: Suffix,
  event: Creditable,
  { vault, identity, config }: Signed,
): Holding[] {
  if (suffix.ours?.signature === undefined) return []
  const found: Holding[] = []
  for (let inner = index; inner >= 0; inner -= 1) {
    const frame = chain.frames[inner]!
    const between = chain.frames
      .slice(0, inner)
      // What the vault is made to call of itself is another call, be it the one that emitted.
      .filter((each) => each.isCall && vault.has(each.target))
      .filter(({ place }) => vault.has(frame.target) || place !== chain.emitting)
    if (between.length > 0) continue
    for (const caller of identity.namesOf(frame, event)) {
      const digest = digestFor(suffix, { ...frame, caller }, config.chainId)
      if (config.signers.has(signerOf(digest, suffix.ours.signature))) found.push({ digest, place: frame.place })
    }
  }
  return found
}
