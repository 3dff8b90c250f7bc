import { type Hex, keccak256, recoverAddress } from 'viem'
import { attributionDomain, attributionTypes } from './attributionTypes.js'
import { concatBytes, hasBytesAt } from './bytes.js'
import { isCanonicalSignature } from './canonicalSignature.js'
import { readLength, text, word } from './provenOperations.js'
import { marker, readSuffixes, type Suffix, suffixCodes } from './readSuffixes.js'
import { readCbor } from './suffixCbor.js'

/** The codes that stand in calldata at any depth, and who signed them. */

/** A suffix, and where the bytes end that it stands in. */
export type Found = { suffix: Suffix; end: number; bodyEnd: number }

const foundMax = 256

/** Every suffix in some calldata, also those at the end of calls inside it; at most 256. */
export function findSuffixes(data: Uint8Array): Found[] {
  const found = new Map<number, Found>()
  for (let at = data.length - marker.length; at >= 0 && found.size < foundMax; at--) {
    if (data[at] !== 0x80 || !hasBytesAt(data, at, marker)) continue
    const end = at + marker.length
    const stack = readSuffixes(readCbor, data, end, 0)
    const bodyEnd = stack.at(-1)?.start ?? end
    for (const suffix of stack) if (!found.has(suffix.end)) found.set(suffix.end, { suffix, end, bodyEnd })
  }
  return [...found.values()]
}

/** Codes that can name a distributor, each once. */
export function listCodes(found: readonly Found[]): string[] {
  const codes = found.flatMap(({ suffix }) => suffixCodes(suffix))
  return [...new Set(codes)].filter((code) => /^[A-Za-z0-9_-]{1,32}$/.test(code))
}

/** Signatures that are recovered for one entry at most. */
const checksMax = 64

/** Whether one of the signers signed that a code brought one of the calls that stand in the data. */
export async function isSigned(
  data: Uint8Array,
  found: readonly Found[],
  said: {
    code: string
    chainId: bigint
    calls: readonly (readonly [wallet: Hex, target: Hex])[]
    signers: readonly Hex[]
  },
): Promise<boolean> {
  let left = checksMax
  for (const { suffix, end, bodyEnd } of found) {
    if (suffix.status !== 'ok' || suffix.schemaId !== 2 || suffix.appCode !== said.code) continue
    const [actionId, signature, referral] = ['i', 'g', 'r'].map((name) => suffix.metadata?.get(name))
    if (!(actionId instanceof Uint8Array) || actionId.length !== 16 || !(signature instanceof Uint8Array)) continue
    if (!isCanonicalSignature(signature) || (referral !== undefined && typeof referral !== 'string')) continue
    for (const [start, stop] of listCalls(data, end, bodyEnd)) {
      // Data could hold many long calls: a hash is computed where it is compared.
      const callHash = keccak256(data.subarray(start, stop), 'bytes')
      for (const [wallet, target] of said.calls) {
        if (left-- <= 0) return false
        const about = { ...said, actionId, referral: referral ?? '', wallet, target, callHash }
        const signer = await recoverAddress({ hash: digestOf(about), signature }).catch(() => '0x')
        if (said.signers.some((address) => address === signer.toLowerCase())) return true
      }
    }
  }
  return false
}

/** Places of the calls that a suffix may be about: the data it ends, a call that ends with it, and calls inside that data. */
function listCalls(data: Uint8Array, end: number, bodyEnd: number): [start: number, stop: number][] {
  const calls: [number, number][] = [[0, bodyEnd]]
  for (let at = 0; at + 32 <= bodyEnd; at++) {
    const length = readLength(data, at)
    if (length === undefined || length < 4) continue
    const [start, stop] = [at + 32, at + 32 + length]
    if (stop === end) calls.unshift([start, bodyEnd])
    else if (end === data.length && stop <= bodyEnd) calls.push([start, stop])
  }
  return calls
}

/** The parts of a digest that are always the same: hashed once, when they are first needed. */
let fixed: readonly [domain: Uint8Array, type: Uint8Array] | undefined

function hashFixed(): NonNullable<typeof fixed> {
  const fields = attributionTypes.Attribution.map(({ name, type }) => `${type} ${name}`).join(',')
  const { name, version } = attributionDomain
  const domain = concatBytes(text('EIP712Domain(string name,string version)'), text(name), text(version))
  return [keccak256(domain, 'bytes'), text(`Attribution(${fields})`)]
}

/** The EIP-712 digest of an attribution. */
function digestOf(about: {
  code: string
  actionId: Uint8Array
  chainId: bigint
  wallet: Hex
  target: Hex
  callHash: Uint8Array
  referral: string
}): Hex {
  fixed ??= hashFixed()
  const [domain, type] = fixed
  const message = concatBytes(
    type,
    text(about.code),
    about.actionId,
    new Uint8Array(16),
    word(about.chainId),
    word(about.wallet),
    word(about.target),
    about.callHash,
    text(about.referral),
  )
  const parts = [Uint8Array.of(0x19, 1), domain, keccak256(message, 'bytes')]
  return keccak256(concatBytes(...parts))
}
