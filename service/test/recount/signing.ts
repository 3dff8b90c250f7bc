import { type Hex, hashTypedData, recoverAddress } from 'viem'
import { type Digits, hashOf } from './bytes.js'
import { readTail, type Suffix } from './suffixes.js'
import type { Chain, Frame } from './types.js'

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
function digestFor(suffix: Suffix, frame: Frame, chainId: number): Hex {
  const key = [suffix.bytes, frame.caller, frame.target, frame.data, chainId].join()
  const digest = digests.get(key) ?? digestOf(suffix, frame, chainId)
  if (digests.size > 5_000) digests.clear()
  digests.set(key, digest)
  return digest
}

const recovered = new Map<string, string>()

/** Who signed a digest; remembered, because it is slow. */
async function signerOf(digest: Hex, signature: Digits): Promise<string> {
  const key = `${digest}${signature}`
  const known = recovered.get(key)
  if (known !== undefined) return known
  let signer = ''
  if (['1b', '1c'].includes(signature.slice(128)))
    signer = (await recoverAddress({ hash: digest, signature: `0x${signature}` }).catch(() => '')).toLowerCase()
  recovered.set(key, signer)
  return signer
}

/** A signature holds for a call: the digest it was given for, and the call it names. */
export type Holding = { digest: Hex; place: number }

/**
 * The calls of a chain for which the signature of a frame's suffix holds: the frame or one inside it, with no other call
 * to the vault between it and the event.
 */
export async function findHoldings(
  chain: Chain,
  index: number,
  suffix: Suffix,
  vault: string,
  world: { chainId: number; signers: ReadonlySet<string> },
): Promise<Holding[]> {
  if (suffix.ours?.signature === undefined) return []
  const found: Holding[] = []
  for (let inner = index; inner >= 0; inner -= 1) {
    const frame = chain.frames[inner]!
    const between = chain.frames
      .slice(0, inner)
      .filter(({ isCall, target, place }) => isCall && target === vault && place !== chain.emitting)
    if (between.length > 0) continue
    const digest = digestFor(suffix, frame, world.chainId)
    if (world.signers.has(await signerOf(digest, suffix.ours.signature))) found.push({ digest, place: frame.place })
  }
  return found
}
