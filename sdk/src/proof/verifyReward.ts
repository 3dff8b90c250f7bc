import { type Hex, sha256, stringToBytes } from 'viem'
import { readList } from '../verify/shape.js'
import { computeRoot } from '../verify/streamCalls.js'
import { Refused, readMembers, refuse } from './refused.js'

/** A proof of a wallet's reward, as `openearn streams prove` writes it. Hex is lower-case. */
export type RewardProof = {
  version: 1
  wallet: string
  /** All the wallet has earned so far, in smallest units. */
  cumulative: string
  /** The siblings of its leaf, from the bottom up. */
  path: string[]
  /** The text of the reward file; only for a reader that knows its SHA-256. */
  file?: string
}

/** The contents of the reward file that concern the wallet. Instants are unix seconds, shares smallest units. */
export type RewardInputs = {
  streamId: string
  /** Strategy, adapters, start, end and budget, as the file has them. */
  terms: Readonly<Record<string, unknown>>
  /** The instant up to which it was accrued. */
  to: number
  /** The last block of the target's chain by then. */
  block: { number: number; hash: string }
  balances: { at: number; shares: string }[]
  lots: { at: number; distributorId: string; shares: string }[]
}

/** `inputs`: null where the reader knows no reward file. */
export type RewardVerdict =
  | { ok: true; problems: []; wallet: string; cumulative: bigint; inputs: RewardInputs | null }
  | { ok: false; problems: [string] }

/** A tree of this many levels has more leaves than there are addresses. */
const levelsMax = 160

/**
 * Checks a proof of a wallet's reward, without a network. `root` is that of the stream's contract, and decides wallet and amount.
 * `file` is the SHA-256 of the reward file: it decides the terms, and the wallet's balances and lots. A member that differs is
 * refused, and so is a file of which the reader knows no SHA-256. That the inputs come to the amount is not counted here:
 * `openearn streams recompute` does that. Never throws, whatever the proof is.
 */
export function verifyReward(proof: RewardProof, known: { root: string; file?: string }): RewardVerdict {
  try {
    return verify(proof, known)
  } catch (error) {
    return { ok: false, problems: [error instanceof Refused ? error.message : 'the proof cannot be read'] }
  }
}

function verify(proof: unknown, known: { root: string; file?: string }): RewardVerdict {
  const members = ['version', 'wallet', 'cumulative', 'path'] as const
  const given = readMembers(proof, known.file === undefined ? members : [...members, 'file'], 'the proof')
  if (given.version !== 1) refuse('the proof is of another version than 1')
  const wallet = readHex(given.wallet, 20, 'wallet')
  const cumulative = readAmount(given.cumulative)
  const path = readList(given.path, levelsMax) ?? refuse('path is no list of siblings')
  const siblings = path.map((node) => readHex(node, 32, 'a sibling of the path'))
  const root = known.root.toLowerCase()
  if (computeRoot(wallet, cumulative, siblings) !== root)
    refuse('the path leads from this wallet and amount to another root')
  const inputs =
    known.file === undefined
      ? null
      : readInputs(given.file, { wallet, cumulative: String(cumulative), root, hash: known.file.toLowerCase() })
  return { ok: true, problems: [], wallet, cumulative, inputs }
}

function readHex(value: unknown, bytes: number, what: string): Hex {
  const isHex = typeof value === 'string' && value.length === 2 + 2 * bytes && /^0x[0-9a-f]+$/.test(value)
  return isHex ? (value as Hex) : refuse(`${what} is not ${bytes} bytes in lower-case hex`)
}

function readAmount(value: unknown): bigint {
  const isWhole = typeof value === 'string' && /^[1-9][0-9]{0,77}$/.test(value)
  return isWhole ? BigInt(value) : refuse('cumulative is no text of a whole number above 0')
}

/** The members of a reward file that are read here. */
type RewardFile = {
  origin: { block: { number: number; hash: string } }
  terms: { streamId: string }
  to: number
  balances: [number, string, string][]
  lots: [number, string, string, string][]
  result: { root: string | null; wallets: [string, string][] }
}

/** The wallet's inputs in a file whose bytes the reader knows by their hash. */
function readInputs(
  text: unknown,
  { wallet, cumulative, root, hash }: { wallet: string; cumulative: string; root: string; hash: string },
): RewardInputs {
  if (typeof text !== 'string' || sha256(stringToBytes(text)) !== hash)
    return refuse('file does not hash to the SHA-256 of the reward file')
  const { terms, to, origin, balances, lots, result }: RewardFile = JSON.parse(text)
  if (result.root !== root) refuse('the reward file is of another root')
  const rows = result.wallets.filter(([each]) => each === wallet)
  if (rows.length !== 1 || rows[0]?.[1] !== cumulative) refuse('the reward file has another amount of the wallet')
  const { streamId, ...agreed } = terms
  return {
    ...{ streamId, terms: agreed, to, block: origin.block },
    balances: balances.flatMap(([at, each, shares]) => (each === wallet ? [{ at, shares }] : [])),
    lots: lots.flatMap(([at, each, distributorId, shares]) => (each === wallet ? [{ at, distributorId, shares }] : [])),
  }
}
