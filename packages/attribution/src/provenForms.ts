import { bytesToHex, type Hex, keccak256, recoverAddress, toHex } from 'viem'
import { decodeRlp, encodeRlp, type RlpValue } from './rlp.js'

/** Reading what a path proved. Every form that is not known exactly is undefined. */

const sizes = [32, 32, 20, 32, 32, 32, 256]

export type Header = { number: bigint; timestamp: bigint; transactionsRoot: Uint8Array; receiptsRoot: Uint8Array }

/** A header of Ethereum to Prague, or of a chain with the same form. */
export function readHeader(bytes: Uint8Array): Header | undefined {
  const fields = listOf(decodeRlp(bytes))?.map(bytesOf)
  if (!fields || fields.length < 15 || fields.length > 21) return undefined
  const fits = sizes.every((size, at) => fields[at]?.length === size) && fields[13]?.length === 32
  const [transactionsRoot, receiptsRoot] = [fields[4], fields[5]]
  const [number, timestamp] = [numberOf(fields[8]), numberOf(fields[11])]
  if (!fits || !transactionsRoot || !receiptsRoot || number === undefined || timestamp === undefined) return undefined
  return { number, timestamp, transactionsRoot, receiptsRoot }
}

export type Transaction = {
  hash: Hex
  /** Undefined where the transaction names none: before EIP-155, and deposits of the OP stack. */
  chainId: bigint | undefined
  to: Hex | undefined
  input: Uint8Array
  /** Who made it: in its fields, or to be recovered from the signature over a digest. */
  from: Hex | { digest: Hex; r: bigint; s: bigint; parity: number }
}

type Form = { chain: number | undefined; to: number; input: number; from?: number; fields: number }

/** Where each type has its fields; with `from`, nobody signs it. */
const forms: Readonly<Record<number, Form>> = {
  1: { chain: 0, to: 4, input: 6, fields: 11 },
  2: { chain: 0, to: 5, input: 7, fields: 12 },
  3: { chain: 0, to: 5, input: 7, fields: 14 },
  4: { chain: 0, to: 5, input: 7, fields: 13 },
  100: { chain: 0, to: 3, input: -1, from: 2, fields: 5 },
  101: { chain: 0, to: 5, input: 7, from: 1, fields: 8 },
  102: { chain: 0, to: 5, input: 7, from: 2, fields: 8 },
  104: { chain: 0, to: 5, input: 7, from: 2, fields: 12 },
  126: { chain: undefined, to: 2, input: 7, from: 1, fields: 8 },
}

/** A transaction as it stands in its block. */
export function readTransaction(bytes: Uint8Array): Transaction | undefined {
  const type = bytes[0] ?? 0
  const hash = keccak256(bytes)
  if (type >= 0xc0) return readLegacy(bytes, hash)
  const form = forms[type]
  const fields = listOf(decodeRlp(bytes.subarray(1)))
  if (!form || fields?.length !== form.fields) return undefined
  const chainId = form.chain === undefined ? undefined : numberOf(bytesOf(fields[form.chain]))
  const input = form.input < 0 ? new Uint8Array() : bytesOf(fields[form.input])
  const to = addressOf(fields[form.to])
  if (!input || to === undefined || (form.chain !== undefined && chainId === undefined)) return undefined
  const common = { hash, chainId, to: to === '0x' ? undefined : to, input }
  if (form.from !== undefined) {
    const from = addressOf(fields[form.from])
    return from && from !== '0x' ? { ...common, from } : undefined
  }
  const signed = encodeRlp(fields.slice(0, -3))
  const digest = new Uint8Array(signed.length + 1)
  digest[0] = type
  digest.set(signed, 1)
  const [parity, r, s] = fields.slice(-3).map((field) => numberOf(bytesOf(field)))
  if (parity === undefined || parity > 1n || r === undefined || s === undefined) return undefined
  return { ...common, from: { digest: keccak256(digest), r, s, parity: Number(parity) } }
}

function readLegacy(bytes: Uint8Array, hash: Hex): Transaction | undefined {
  const fields = listOf(decodeRlp(bytes))
  if (fields?.length !== 9) return undefined
  const [v, r, s] = fields.slice(6).map((field) => numberOf(bytesOf(field)))
  const [to, input] = [addressOf(fields[3]), bytesOf(fields[5])]
  if (v === undefined || r === undefined || s === undefined || to === undefined || !input) return undefined
  // EIP-155 puts the chain into v and into what is signed.
  const chainId = v >= 35n ? (v - 35n) / 2n : undefined
  if (chainId === undefined && v !== 27n && v !== 28n) return undefined
  const empty = new Uint8Array()
  const chain = chainId === undefined ? [] : [bytesOfNumber(chainId), empty, empty]
  const digest = keccak256(encodeRlp([...fields.slice(0, 6), ...chain]))
  const parity = Number(chainId === undefined ? v - 27n : (v - 35n) % 2n)
  return { hash, chainId, to: to === '0x' ? undefined : to, input, from: { digest, r, s, parity } }
}

/** Who made a transaction, lower-case; undefined where nobody can have signed it. */
export async function recoverSender({ from }: Pick<Transaction, 'from'>): Promise<Hex | undefined> {
  if (typeof from === 'string') return from
  const { digest: hash, r, s, parity: yParity } = from
  const signature = { r: toHex(r, { size: 32 }), s: toHex(s, { size: 32 }), yParity }
  const signer = await recoverAddress({ hash, signature }).catch(() => undefined)
  return signer?.toLowerCase() as Hex | undefined
}

export type Log = { address: Hex; topics: readonly Hex[]; data: Uint8Array }

/** The logs of a receipt that says success; undefined of any other receipt. */
export function readReceipt(bytes: Uint8Array): readonly Log[] | undefined {
  const type = bytes[0] ?? 0
  const fields = listOf(decodeRlp(type >= 0xc0 ? bytes : bytes.subarray(1)))
  const status = bytesOf(fields?.[0])
  const isKnown = type >= 0xc0 || forms[type] !== undefined
  const count = fields?.length ?? 0
  if (!isKnown || !(count === 4 || (type === 126 && count === 6)) || status?.length !== 1 || status[0] !== 1)
    return undefined
  const logs = listOf(fields?.[3])?.map(readLog)
  return logs?.includes(undefined) ? undefined : (logs as Log[] | undefined)
}

function readLog(value: RlpValue): Log | undefined {
  const [emitter, list, rest, ...others] = listOf(value) ?? []
  const [address, data] = [addressOf(emitter), bytesOf(rest)]
  const topics = listOf(list)?.map((topic) => (bytesOf(topic)?.length === 32 ? bytesToHex(topic as Uint8Array) : '0x'))
  if (!address || address === '0x' || !data || !topics || topics.includes('0x') || others.length > 0) return undefined
  return { address, topics, data }
}

const bytesOf = (value: RlpValue | undefined): Uint8Array | undefined =>
  value instanceof Uint8Array ? value : undefined

function listOf(value: RlpValue | undefined): readonly RlpValue[] | undefined {
  return value === undefined || value instanceof Uint8Array ? undefined : value
}

/** An address, `0x` where there is none, undefined of anything else. */
function addressOf(value: RlpValue | undefined): Hex | undefined {
  const bytes = bytesOf(value)
  return bytes && (bytes.length === 20 || bytes.length === 0) ? bytesToHex(bytes) : undefined
}

function numberOf(bytes: Uint8Array | undefined): bigint | undefined {
  if (!bytes || bytes.length > 32 || bytes[0] === 0) return undefined
  return bytes.length === 0 ? 0n : BigInt(bytesToHex(bytes))
}

function bytesOfNumber(value: bigint): Uint8Array {
  const digits = value.toString(16)
  return Uint8Array.from((digits.length % 2 ? `0${digits}` : digits).match(/../g) ?? [], (pair) =>
    Number.parseInt(pair, 16),
  )
}
