import { encodeRlp, type RlpValue } from '@openearn/attribution/codec'
import { keccak256 } from '../kernel/keccak.js'

/** The address that signed a digest (r, s and v of 27 or 28, 65 bytes), lower-case; undefined where nobody did. */
export type RecoverSigner = (digest: Uint8Array, signature: Uint8Array) => string | undefined

type Told = Record<string, unknown>

/** A transaction that its own fields do not bear out. */
class Unproven extends Error {
  override readonly name = 'Unproven'
}

/**
 * Why the fields a node gives of a transaction are no fact: they have to hash to its hash, and its signer has to be its
 * sender. Undefined where they are one. A deposit of a rollup has no signer: its hash is of its sender too.
 */
export function doubtTransaction(
  told: Told,
  expected: { hash: string; from: string; to: string | null; input: string },
  recover: RecoverSigner,
): string | undefined {
  try {
    if (lower(told.hash) !== expected.hash) return 'another transaction than asked'
    if (lower(told.from) !== expected.from || (lower(told.to) ?? null) !== expected.to)
      return 'fields that are not those of before'
    if (lower(told.input) !== expected.input) return 'fields that are not those of before'
    const { hashed, signed, signature } = readFields(told)
    if (toText(keccak256(hashed)) !== expected.hash) return 'fields that do not hash to its hash'
    if (signed && recover(keccak256(signed), signature ?? new Uint8Array(65)) !== expected.from)
      return 'a sender who did not sign it'
    return undefined
  } catch (error) {
    if (error instanceof Unproven) return error.message
    throw error
  }
}

const lower = (value: unknown): string | undefined => (typeof value === 'string' ? value.toLowerCase() : undefined)
const toText = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`

function bytesOf(value: unknown): Uint8Array {
  const text = typeof value === 'string' ? value : ''
  if (!/^0x(?:[0-9a-fA-F]{2})*$/.test(text)) throw new Unproven('malformed fields')
  return new Uint8Array(Buffer.from(text.slice(2), 'hex'))
}

/** A quantity without leading zeros. */
function quantityOf(value: unknown): Uint8Array {
  const text = typeof value === 'string' ? value : ''
  if (!/^0x[0-9a-fA-F]{0,64}$/.test(text)) throw new Unproven('malformed fields')
  const digits = text.slice(2).replace(/^0+/, '')
  return new Uint8Array(Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex'))
}

function listOf(value: unknown): readonly Told[] {
  if (!Array.isArray(value) || value.some((each) => typeof each !== 'object' || each === null))
    throw new Unproven('malformed fields')
  return value
}

const toOf = (told: Told): Uint8Array =>
  told.to === null || told.to === undefined ? new Uint8Array() : bytesOf(told.to)

function accessListOf(told: Told): RlpValue {
  return listOf(told.accessList ?? []).map(({ address, storageKeys }) => {
    if (!Array.isArray(storageKeys)) throw new Unproven('malformed fields')
    return [bytesOf(address), storageKeys.map(bytesOf)]
  })
}

function authorizationsOf(told: Told): RlpValue {
  return listOf(told.authorizationList).map((each) => [
    quantityOf(each.chainId),
    bytesOf(each.address),
    quantityOf(each.nonce),
    quantityOf(each.yParity ?? each.v),
    quantityOf(each.r),
    quantityOf(each.s),
  ])
}

function hashesOf(value: unknown): RlpValue {
  if (!Array.isArray(value)) throw new Unproven('malformed fields')
  return value.map(bytesOf)
}

type Fields = { hashed: Uint8Array; signed: Uint8Array | undefined; signature: Uint8Array | undefined }

function typed(type: number, fields: readonly RlpValue[]): Uint8Array {
  return Uint8Array.of(type, ...encodeRlp(fields))
}

function readFields(told: Told): Fields {
  const type = told.type === undefined || told.type === null ? 0 : Number(told.type)
  if (type === 0) return readLegacy(told)
  if (type === 0x7e) return { hashed: typed(type, depositFields(told)), signed: undefined, signature: undefined }
  const fields = fieldsOf(type, told)
  const parity = told.yParity ?? told.v
  const marks = [quantityOf(parity), quantityOf(told.r), quantityOf(told.s)]
  const signature = packSignature(told, Number(parity))
  return { hashed: typed(type, [...fields, ...marks]), signed: typed(type, fields), signature }
}

function fieldsOf(type: number, told: Told): readonly RlpValue[] {
  const q = (name: string) => quantityOf(told[name])
  const call = [q('gas'), toOf(told), q('value'), bytesOf(told.input)]
  if (type === 1) return [q('chainId'), q('nonce'), q('gasPrice'), ...call, accessListOf(told)]
  const fees = [q('chainId'), q('nonce'), q('maxPriorityFeePerGas'), q('maxFeePerGas'), ...call, accessListOf(told)]
  if (type === 2) return fees
  if (type === 3) return [...fees, q('maxFeePerBlobGas'), hashesOf(told.blobVersionedHashes)]
  if (type === 4) return [...fees, authorizationsOf(told)]
  throw new Unproven('a type that cannot be hashed')
}

/** A deposit from the chain below a rollup of the OP stack. */
function depositFields(told: Told): readonly RlpValue[] {
  const isSystem = told.isSystemTx === true ? Uint8Array.of(1) : new Uint8Array()
  return [
    bytesOf(told.sourceHash),
    bytesOf(told.from),
    toOf(told),
    quantityOf(told.mint ?? '0x'),
    quantityOf(told.value),
    quantityOf(told.gas),
    isSystem,
    bytesOf(told.input),
  ]
}

function readLegacy(told: Told): Fields {
  const q = (name: string) => quantityOf(told[name])
  const fields: RlpValue[] = [q('nonce'), q('gasPrice'), q('gas'), toOf(told), q('value'), bytesOf(told.input)]
  const v = Number(told.v)
  // EIP-155 puts the chain into v and into what is signed.
  const chainId = v >= 35 ? Math.floor((v - 35) / 2) : undefined
  const signed =
    chainId === undefined
      ? fields
      : [...fields, quantityOf(`0x${chainId.toString(16)}`), new Uint8Array(), new Uint8Array()]
  const signature = packSignature(told, chainId === undefined ? v - 27 : (v - 35) % 2)
  return { hashed: encodeRlp([...fields, q('v'), q('r'), q('s')]), signed: encodeRlp(signed), signature }
}

function packSignature(told: Told, parity: number): Uint8Array {
  if (parity !== 0 && parity !== 1) throw new Unproven('a signature that nobody can have made')
  const signature = new Uint8Array(65)
  const [r, s] = [quantityOf(told.r), quantityOf(told.s)]
  signature.set(r, 32 - r.length)
  signature.set(s, 64 - s.length)
  signature[64] = 27 + parity
  return signature
}
