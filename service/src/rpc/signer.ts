import { type Address, bytesToHex, hexToBytes, recoverAddress, toHex } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { createCircuit } from '../kernel/circuit.js'
import type { Clock } from '../kernel/clock.js'
import { type Outbound, OutboundError } from '../kernel/outbound.js'
import { createRoom } from './room.js'

/** A key of this installation, wherever it lives. One shape for all that is signed. */
export type Signer = {
  /** Lower-case. */
  readonly address: Address
  /**
   * Signature (r, s, v; low s, v 27 or 28) over a digest of 32 bytes, by the key of `address` and no other. Throws
   * SignerFailed if the signer does not return one.
   */
  sign(digest: Uint8Array): Promise<Uint8Array>
}

/** No signature could be had: the signer is slow, gone, refuses, or signs something else. */
export class SignerFailed extends Error {
  override readonly name = 'SignerFailed'
}

/** A key in this process. */
export function createKeySigner(
  privateKey: `0x${string}`,
  sign: (digest: Uint8Array, privateKey: Uint8Array) => Uint8Array,
): Signer {
  const bytes = hexToBytes(privateKey)
  return {
    address: lower(privateKeyToAddress(privateKey)),
    sign: async (digest) => sign(digest, bytes),
  }
}

export type RemoteSigner = { url: string; address: Address; token: string | undefined }

/** A person waits for what is signed. */
const bounds = { tryMs: 1_000, allMs: 2_500, inFlight: 16, waiting: 256, answerBytes: 4_096 }

/**
 * A key that is elsewhere, as in a KMS: `POST {"digest": "0x…", "address": "0x…"}` to its url returns
 * `{"signature": "0x…"}`, 64 bytes (r, s) or 65 (with v). The response is verified: a signature is valid only if `address`
 * is recovered from it.
 */
export function createRemoteSigner(
  { url, address, token }: RemoteSigner,
  { outbound, clock }: { outbound: Outbound; clock: Clock },
): Signer {
  const { host } = new URL(url)
  const circuit = createCircuit(host, clock)
  const room = createRoom({ inFlight: bounds.inFlight, waiting: bounds.waiting, waitMs: bounds.allMs })
  const headers = { 'Content-Type': 'application/json', ...(token ? { Authorization: `Bearer ${token}` } : {}) }
  const ask = (body: string): Promise<string> => {
    const refusal = circuit.findRefusal()
    if (refusal) throw refusal
    return outbound.fetchText({
      ...{ url, method: 'POST', headers, body, timeoutMs: bounds.tryMs, retries: 1 },
      ...{ maxBytes: bounds.answerBytes, signal: AbortSignal.timeout(bounds.allMs) },
    })
  }
  const signer = lower(address)
  return {
    address: signer,
    sign: async (digest) => {
      const body = JSON.stringify({ digest: bytesToHex(digest), address: signer })
      try {
        const busy = () => new OutboundError('busy', `${host} signs too much already`, 1_000)
        const text = await room.run(async () => ask(body), busy)
        const signature = await findSignature(text, digest, signer)
        circuit.onAnswer()
        if (signature) return signature
      } catch (error) {
        if (!(error instanceof OutboundError)) throw error
        if (error.kind !== 'open' && error.kind !== 'busy') circuit.onFailure()
        throw new SignerFailed('the signer of attributions cannot be asked', { cause: error })
      }
      throw new SignerFailed('the signer of attributions returned something other than a signature of its key')
    },
  }
}

/** The order of the curve. Each signature exists with a smaller s and a larger one, and only the smaller counts (EIP-2). */
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

async function findSignature(text: string, digest: Uint8Array, address: Address): Promise<Uint8Array | undefined> {
  const found = readSignature(text)
  if (!found) return undefined
  const s = BigInt(toHex(found.subarray(32, 64)))
  if (s >= order) return undefined
  const low = s > order / 2n ? hexToBytes(toHex(order - s, { size: 32 })) : found.subarray(32, 64)
  // Signers differ in what v they say, if any; which it is follows from the address.
  for (const v of [27, 28]) {
    const signature = new Uint8Array([...found.subarray(0, 32), ...low, v])
    if ((await recover(digest, signature)) === address) return signature
  }
  return undefined
}

function readSignature(text: string): Uint8Array | undefined {
  try {
    const { signature } = JSON.parse(text) as { signature?: unknown }
    if (typeof signature !== 'string' || !/^0x([0-9a-fA-F]{128}|[0-9a-fA-F]{130})$/.test(signature)) return undefined
    return hexToBytes(signature as `0x${string}`).subarray(0, 64)
  } catch {
    return undefined
  }
}

async function recover(digest: Uint8Array, signature: Uint8Array): Promise<Address | undefined> {
  try {
    return lower(await recoverAddress({ hash: digest, signature }))
  } catch {
    // Out-of-range r or s, or an x that is on no point: no key made this signature.
    return undefined
  }
}

const lower = (address: string): Address => address.toLowerCase() as Address
