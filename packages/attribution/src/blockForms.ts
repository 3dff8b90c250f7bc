import { encodeRlp, type RlpValue } from './rlp.js'

/**
 * Headers, transactions and receipts as a block commits to them, from the fields that a node gives: Ethereum to Prague, the
 * OP stack's deposits, and Arbitrum's own types. What is encoded is a fact only when it hashes to what the block says.
 */

/** Fields as JSON of a node gives them. */
export type Told = Readonly<Record<string, unknown>>

/** Fields that cannot be encoded: of an unknown type, or malformed. */
export class Unencodable extends Error {
  override readonly name = 'Unencodable'
}

const none = new Uint8Array(0)

function bytesOf(value: unknown): Uint8Array {
  const text = typeof value === 'string' ? value : ''
  if (!/^0x(?:[0-9a-fA-F]{2})*$/.test(text)) throw new Unencodable('malformed fields')
  const bytes = new Uint8Array(text.length / 2 - 1)
  for (let at = 0; at < bytes.length; at++) bytes[at] = Number.parseInt(text.slice(2 + 2 * at, 4 + 2 * at), 16)
  return bytes
}

/** A quantity without leading zeros. */
function quantityOf(value: unknown): Uint8Array {
  const text = typeof value === 'string' ? value : ''
  if (!/^0x[0-9a-fA-F]{0,64}$/.test(text)) throw new Unencodable('malformed fields')
  const digits = text.slice(2).replace(/^0+/, '')
  return bytesOf(`0x${digits.length % 2 === 0 ? digits : `0${digits}`}`)
}

function listOf(value: unknown): readonly Told[] {
  if (!Array.isArray(value) || value.some((each) => typeof each !== 'object' || each === null))
    throw new Unencodable('malformed fields')
  return value
}

const addressOf = (value: unknown): Uint8Array => (value === null || value === undefined ? none : bytesOf(value))

/** The members that upgrades added to a header, in their order: a header has the first of these, without a gap. */
const added = [
  ['baseFeePerGas', quantityOf],
  ['withdrawalsRoot', bytesOf],
  ['blobGasUsed', quantityOf],
  ['excessBlobGas', quantityOf],
  ['parentBeaconBlockRoot', bytesOf],
  ['requestsHash', bytesOf],
] as const

/** A header in RLP: its hash is the block's. Throws Unencodable. */
export function encodeHeader(told: Told): Uint8Array {
  const isGiven = added.map(([name]) => told[name] !== undefined && told[name] !== null)
  const count = isGiven.lastIndexOf(true) + 1
  if (isGiven.slice(0, count).includes(false)) throw new Unencodable('a header of an unknown form')
  const hashes = ['parentHash', 'sha3Uncles', 'miner', 'stateRoot', 'transactionsRoot', 'receiptsRoot', 'logsBloom']
  return encodeRlp([
    ...hashes.map((name) => bytesOf(told[name])),
    ...['difficulty', 'number', 'gasLimit', 'gasUsed', 'timestamp'].map((name) => quantityOf(told[name])),
    ...['extraData', 'mixHash', 'nonce'].map((name) => bytesOf(told[name])),
    ...added.slice(0, count).map(([name, read]) => read(told[name])),
  ])
}

function typeOf(told: Told): number {
  if (told.type === undefined || told.type === null) return 0
  const type = typeof told.type === 'string' && /^0x[0-9a-fA-F]{1,2}$/.test(told.type) ? Number(told.type) : 0x80
  if (type > 0x7f) throw new Unencodable('a type that cannot be encoded')
  return type
}

function typed(type: number, fields: readonly RlpValue[]): Uint8Array {
  const body = encodeRlp(fields)
  if (type === 0) return body
  const bytes = new Uint8Array(1 + body.length)
  bytes[0] = type
  bytes.set(body, 1)
  return bytes
}

/** A transaction as it stands in its block: its hash is the transaction's. Throws Unencodable. */
export function encodeTransaction(told: Told): Uint8Array {
  const type = typeOf(told)
  return typed(type, transactionFields(type, told))
}

function transactionFields(type: number, told: Told): readonly RlpValue[] {
  const q = (name: string) => quantityOf(told[name])
  const call = () => [q('gas'), addressOf(told.to), q('value'), bytesOf(told.input)]
  if (type === 0) return [q('nonce'), q('gasPrice'), ...call(), q('v'), q('r'), q('s')]
  if (type <= 4) {
    const marks = [quantityOf(told.yParity ?? told.v), q('r'), q('s')]
    if (type === 1) return [q('chainId'), q('nonce'), q('gasPrice'), ...call(), accessListOf(told), ...marks]
    const fees = [q('chainId'), q('nonce'), q('maxPriorityFeePerGas'), q('maxFeePerGas'), ...call(), accessListOf(told)]
    if (type === 3) fees.push(q('maxFeePerBlobGas'), hashesOf(told.blobVersionedHashes))
    if (type === 4) fees.push(authorizationsOf(told))
    return [...fees, ...marks]
  }
  if (type === 0x7e) return depositFields(told)
  return arbitrumFields(type, told)
}

function accessListOf(told: Told): RlpValue {
  return listOf(told.accessList ?? []).map(({ address, storageKeys }) => [bytesOf(address), hashesOf(storageKeys)])
}

function hashesOf(value: unknown): RlpValue {
  if (!Array.isArray(value)) throw new Unencodable('malformed fields')
  return value.map(bytesOf)
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

/** A deposit from the chain below a rollup of the OP stack. */
function depositFields(told: Told): readonly RlpValue[] {
  return [
    bytesOf(told.sourceHash),
    bytesOf(told.from),
    addressOf(told.to),
    quantityOf(told.mint ?? '0x'),
    quantityOf(told.value),
    quantityOf(told.gas),
    told.isSystemTx === true ? Uint8Array.of(1) : none,
    bytesOf(told.input),
  ]
}

/** The fields of Arbitrum's own transactions; nobody signs them. */
function arbitrumFields(type: number, told: Told): readonly RlpValue[] {
  const q = (name: string) => quantityOf(told[name])
  const call = () => [quantityOf(told.maxFeePerGas ?? told.gasPrice), q('gas'), addressOf(told.to), q('value')]
  const [chain, from] = [() => q('chainId'), () => bytesOf(told.from)]
  if (type === 0x64) return [chain(), bytesOf(told.requestId), from(), addressOf(told.to), q('value')]
  if (type === 0x65) return [chain(), from(), q('nonce'), ...call(), bytesOf(told.input)]
  if (type === 0x66) return [chain(), bytesOf(told.requestId), from(), ...call(), bytesOf(told.input)]
  if (type === 0x68) {
    const refund = [bytesOf(told.ticketId), bytesOf(told.refundTo), q('maxRefund'), q('submissionFeeRefund')]
    return [chain(), q('nonce'), from(), ...call(), bytesOf(told.input), ...refund]
  }
  if (type === 0x6a) return [chain(), bytesOf(told.input)]
  throw new Unencodable('a type that cannot be encoded')
}

/** A receipt as it stands in its block. Throws Unencodable. */
export function encodeReceipt(told: Told): Uint8Array {
  const type = typeOf(told)
  const isOfOwn = type === 0x7e || (type >= 0x64 && type <= 0x6a)
  if (type > 4 && !isOfOwn) throw new Unencodable('a type that cannot be encoded')
  const outcome = told.root === undefined || told.root === null ? quantityOf(told.status) : bytesOf(told.root)
  const logs = listOf(told.logs).map(({ address, topics, data }) => [bytesOf(address), hashesOf(topics), bytesOf(data)])
  const fields: RlpValue[] = [outcome, quantityOf(told.cumulativeGasUsed), bytesOf(told.logsBloom), logs]
  // The nonce of a deposit is in the receipt since Canyon only, which marks it by a version.
  if (type === 0x7e && told.depositReceiptVersion !== undefined && told.depositReceiptVersion !== null)
    fields.push(quantityOf(told.depositNonce), quantityOf(told.depositReceiptVersion))
  return typed(type, fields)
}
