import { createHash } from 'node:crypto'
import { concatBytes } from '@noble/curves/utils.js'
import T, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { stringToBytes } from 'viem'
import { decodeSignature, verifyEd25519 } from './ed25519.js'
import { tonAddressParts } from './tonAddress.js'
import { type Cell, parseBagOfCells, readBits } from './tonCell.js'

/** The message the wallet was asked to sign, and the expected values of its response. */
export type TonExpectation = {
  /** Raw form. */
  address: string
  /** The text, in UTF-8. */
  message: Uint8Array
  nonce: string
  domain: string
  now: Date
  /** Accept `ton_proof`, which covers the nonce but not the text. */
  proofEnabled: boolean
  /** The key a deployed wallet names on chain; undefined when it names none or nobody can be asked. */
  readPublicKey(): Promise<Uint8Array | undefined>
}

export type TonRefusal =
  | 'malformed'
  | 'kind'
  | 'domain-length'
  | 'domain'
  | 'expired'
  | 'future'
  | 'payload'
  | 'state-init-address'
  | 'public-key'
  | 'no-public-key'
  | 'signature'

/** A signature may be this old, and this far ahead of our clock. */
const ageSecondsMax = 900
const skewSeconds = 60

const Domain = T.Union([T.String(), T.Object({ value: T.String(), lengthBytes: T.Optional(T.Integer()) })])
const Payload = T.Union([
  T.String(),
  T.Object({ type: T.Enum(['text']), text: T.String() }),
  T.Object({ type: T.Enum(['binary']), bytes: T.String() }),
  T.Object({ type: T.Enum(['cell']) }),
])
const Answer = T.Object({
  type: T.Enum(['signData', 'ton_proof']),
  signature: T.String(),
  timestamp: T.Union([T.Integer({ minimum: 0 }), T.String({ pattern: '^[0-9]{1,15}$' })]),
  domain: Domain,
  publicKey: T.Optional(T.String()),
  walletStateInit: T.Optional(T.String()),
  payload: T.Optional(Payload),
})
type Answer = Static<typeof Answer>
const answerCheck = Compile(Answer)

/**
 * Judges what a TON wallet answered: the JSON text of TON Connect's `signData` over the agreement (text, or binary with
 * the same bytes) or of its `ton_proof` over the nonce, or the base64 of that JSON; or the 64 bytes of a bare signature
 * over the agreement. The key comes from the wallet's own initial state, whose hash is its address, or from the chain;
 * the one the client names is only compared. Undefined is yes.
 */
export async function verifyTonSignature(text: string, expected: TonExpectation): Promise<TonRefusal | undefined> {
  const bare = decodeSignature(text)
  if (bare.length > 0) return verifyBare(bare, expected)
  const answer = parseAnswer(text)
  if (!answer) return 'malformed'
  const refusal = judgeTerms(answer, expected)
  if (refusal) return refusal
  const publicKey = await findPublicKey(answer, expected)
  if (typeof publicKey === 'string') return publicKey
  const claimed = answer.publicKey?.toLowerCase().replace(/^0x/, '')
  if (claimed !== undefined && claimed !== Buffer.from(publicKey).toString('hex')) return 'public-key'
  const digest = answer.type === 'ton_proof' ? hashProof(answer, expected) : hashSignData(answer, expected)
  const signed = decodeSignature(answer.signature).some((bytes) => verifyEd25519(bytes, digest, publicKey))
  return signed ? undefined : 'signature'
}

async function verifyBare(signatures: Uint8Array[], expected: TonExpectation): Promise<TonRefusal | undefined> {
  const publicKey = await expected.readPublicKey()
  if (!publicKey) return 'no-public-key'
  return signatures.some((bytes) => verifyEd25519(bytes, expected.message, publicKey)) ? undefined : 'signature'
}

function parseAnswer(text: string): Answer | undefined {
  const json = text.trimStart().startsWith('{') ? text : Buffer.from(text, 'base64').toString('utf8')
  try {
    const value: unknown = JSON.parse(json)
    return answerCheck.Check(value) ? value : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Everything but the key and the signature. */
function judgeTerms(answer: Answer, expected: TonExpectation): TonRefusal | undefined {
  if (answer.type === 'ton_proof' && !expected.proofEnabled) return 'kind'
  const { value, lengthBytes = Buffer.byteLength(value) } =
    typeof answer.domain === 'string' ? { value: answer.domain } : answer.domain
  if (lengthBytes !== Buffer.byteLength(value)) return 'domain-length'
  if (value !== expected.domain) return 'domain'
  const now = Math.floor(expected.now.getTime() / 1000)
  if (now - Number(answer.timestamp) > ageSecondsMax) return 'expired'
  if (Number(answer.timestamp) - now > skewSeconds) return 'future'
  return isExpectedPayload(answer, expected) ? undefined : 'payload'
}

/** The payload, when the client sends it along, must be what we asked for; a cell cannot hold an agreement. */
function isExpectedPayload({ type, payload }: Answer, { message, nonce }: TonExpectation): boolean {
  if (payload === undefined) return true
  if (type === 'ton_proof') return payload === nonce
  if (typeof payload === 'string') return Buffer.from(payload).equals(message)
  if (payload.type === 'text') return Buffer.from(payload.text).equals(message)
  return payload.type === 'binary' && Buffer.from(payload.bytes, 'base64').equals(message)
}

async function findPublicKey(answer: Answer, expected: TonExpectation): Promise<Uint8Array | TonRefusal> {
  const { walletStateInit } = answer
  if (walletStateInit !== undefined) {
    const state = parseBagOfCells(Buffer.from(walletStateInit, 'base64'))
    if (!state) return 'malformed'
    if (!state.hash().equals(tonAddressParts(expected.address).hash)) return 'state-init-address'
    const key = findStateKey(state)
    if (key) return key
  }
  return (await expected.readPublicKey()) ?? 'no-public-key'
}

/**
 * Where the wallet contracts keep their key: bits into their data, by the hash of their code. All that were ever
 * published, v1r1 to v5r1.
 */
const keyOffsets: Readonly<Record<string, number>> = {
  a0cfc2c48aee16a271f2cfc0b7382d81756cecb1017d077faaab3bb602f6868c: 32,
  d4902fcc9fad74698fa8e353220a68da0dcf72e32bcb2eb9ee04217c17d3062c: 32,
  '587cc789eff1c84f46ec3797e45fc809a14ff5ae24f1e0c7a6a99cc9dc9061ff': 32,
  '5c9a5e68c108e18721a07c42f9956bfb39ad77ec6d624b60c576ec88eee65329': 32,
  fe9530d3243853083ef2ef0b4c2908c0abf6fa1c31ea243aacaa5bf8c7d753f1: 32,
  b61041a58a7980b946e8fb9e198e3c904d24799ffa36574ea4251c41a566f581: 64,
  '84dafa449f98a6987789ba232358072bc0f76dc4524002a5d0918b9a75d2d599': 64,
  '64dd54805522c5be8a9db59cea0105ccf0d08786ca79beb8cb79e880a8d7322d': 64,
  feb5ff6820e2ff0d9483e7e0d62c817d846789fb4ae580c878866d959dabd5c0: 64,
  f3d7ca53493deedac28b381986a849403cbac3d2c584779af081065af0ac4b93: 113,
  '20834b7b72b112147e1b2fb457b84e74d1a30f04f737d4f62a668e9552d2b72f': 65,
}

/** The key in the initial state of a wallet we know; undefined for other contracts. A state is code and data, no more. */
function findStateKey(state: Cell): Uint8Array | undefined {
  const [code, data] = state.refs
  if (state.isExotic || state.bits.length !== 5 || !code || !data) return undefined
  if (state.beginParse().loadUint(5) !== 0b00110) return undefined
  const offset = keyOffsets[code.hash().toString('hex')]
  return offset === undefined ? undefined : readBits(data, offset, 256)
}

const prefix = concatBytes(Uint8Array.of(0xff, 0xff), stringToBytes('ton-connect'))

/** Digest of `ton_proof`. Its numbers are little-endian, but for the workchain. */
function hashProof({ timestamp }: Answer, { address, domain, nonce }: TonExpectation): Uint8Array {
  const message = concatBytes(
    stringToBytes('ton-proof-item-v2/'),
    ...accountBytes(address),
    uint(Buffer.byteLength(domain), 4).reverse(),
    stringToBytes(domain),
    uint(Number(timestamp), 8).reverse(),
    stringToBytes(nonce),
  )
  return sha256(concatBytes(prefix, sha256(message)))
}

/** Digest of `signData` over a text or the same bytes. Its numbers are big-endian. */
function hashSignData({ timestamp, payload }: Answer, { address, domain, message }: TonExpectation): Uint8Array {
  const binary = typeof payload === 'object' && payload.type === 'binary'
  return sha256(
    concatBytes(
      prefix,
      stringToBytes('/sign-data/'),
      ...accountBytes(address),
      uint(Buffer.byteLength(domain), 4),
      stringToBytes(domain),
      uint(Number(timestamp), 8),
      stringToBytes(binary ? 'bin' : 'txt'),
      uint(message.length, 4),
      message,
    ),
  )
}

function accountBytes(address: string): Uint8Array[] {
  const { workchain, hash } = tonAddressParts(address)
  return [uint(workchain >>> 0, 4), hash]
}

/** A number in big-endian bytes. */
function uint(value: number, length: number): Uint8Array {
  const hex = BigInt(value)
    .toString(16)
    .padStart(length * 2, '0')
  return Uint8Array.from(Buffer.from(hex, 'hex'))
}

function sha256(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from(createHash('sha256').update(bytes).digest())
}
