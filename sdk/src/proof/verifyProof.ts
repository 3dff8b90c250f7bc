import { type Hex, hexToBytes, keccak256 } from 'viem'
import {
  computeEntries,
  type ProvenEntry,
  readHeader,
  readPath,
  readReceipt,
  readTransaction,
  recoverSender,
  standardEntryPoints,
  type Trusted,
  type VerifiedEntry,
} from '../codec.js'
import { getMember, isRecord, parseAddress, readList } from '../verify/shape.js'
import { Refused, readMembers, refuse } from './refused.js'
import type { AttributionProof, ProofTrust, ProofVerdict } from './types.js'

/** Bytes of a header, of one node, and nodes of a path; the keys of lists have at most ten half bytes. */
const [nodeMax, nodesMax, entriesMax] = [64 * 1024 * 1024, 12, 10_000]
const hash = (bytes: Uint8Array) => keccak256(bytes, 'bytes')

/**
 * Checks a proof of a transaction's entries against a block hash that the reader knows, without a network. Everything the
 * verdict holds is computed from the proven bytes and `trust`; a member of the proof that differs from that, or that nothing
 * decides, is refused. Never throws, whatever the proof is.
 */
export async function verifyProof(
  proof: AttributionProof,
  known: { chainId: number; blockHash: string; trust: ProofTrust },
): Promise<ProofVerdict> {
  try {
    return await verify(proof, known)
  } catch (error) {
    const problem = error instanceof Refused ? error.message : 'the proof cannot be read'
    return { ok: false, problems: [problem], chain: 'reader', block: null, entries: [] }
  }
}

async function verify(
  proof: unknown,
  known: { chainId: number; blockHash: string; trust: ProofTrust },
): Promise<ProofVerdict> {
  const trusted = readTrust(known.trust)
  const members = ['version', 'chainId', 'txHash', 'blockHash', 'header', 'transaction', 'receipt', 'entries'] as const
  const given = readMembers(proof, members, 'the proof')
  if (given.version !== 1) refuse('the proof is of another version than 1')
  if (given.chainId !== known.chainId) refuse(`the proof is not of chain ${known.chainId}`)
  const blockHash = known.blockHash.toLowerCase() as Hex
  if (given.blockHash !== blockHash) refuse('the proof is of another block')

  const headerBytes = readBytes(given.header, 'header')
  if (keccak256(headerBytes) !== blockHash) refuse('header does not hash to the block hash')
  const header = readHeader(headerBytes) ?? refuse('header has an unknown form')
  const [transactionAt, receiptAt] = [readPlace(given.transaction, 'transaction'), readPlace(given.receipt, 'receipt')]
  if (transactionAt.index !== receiptAt.index) refuse('transaction and receipt have different indexes')
  const transactionBytes =
    readPath({ root: header.transactionsRoot, ...transactionAt }, hash) ??
    refuse('transaction: the path proves nothing')
  const receiptBytes =
    readPath({ root: header.receiptsRoot, ...receiptAt }, hash) ?? refuse('receipt: the path proves nothing')
  const transaction = readTransaction(transactionBytes) ?? refuse('transaction has an unknown form')
  const logs = readReceipt(receiptBytes) ?? refuse('receipt is of a reverted transaction, or has an unknown form')
  if (given.txHash !== transaction.hash) refuse('txHash is not the hash of the transaction')
  const { chainId = BigInt(known.chainId) } = transaction
  if (chainId !== BigInt(known.chainId)) refuse('the transaction names another chain')

  const from = (await recoverSender(transaction)) ?? refuse('nobody signed the transaction')
  const computed = await computeEntries({ chainId, blockHash, transaction: { ...transaction, from }, logs }, trusted)
  const entries = compareEntries(given.entries, computed)
  const block = { number: Number(header.number), timestamp: Number(header.timestamp) }
  return { ok: true, problems: [], chain: transaction.chainId === undefined ? 'reader' : 'transaction', block, entries }
}

function readBytes(value: unknown, what: string): Uint8Array {
  const isHex = typeof value === 'string' && value.length <= 2 + 2 * nodeMax && /^0x(?:[0-9a-f]{2})+$/.test(value)
  return isHex ? hexToBytes(value as Hex) : refuse(`${what} is not in lower-case hex`)
}

function readPlace(value: unknown, what: string): { index: number; path: Uint8Array[] } {
  const { index, path } = readMembers(value, ['index', 'path'], what)
  const nodes = readList(path, nodesMax)
  if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index > 0xffffffff || Object.is(index, -0))
    return refuse(`${what}: the index is no place in a block`)
  return { index, path: nodes?.map((node) => readBytes(node, `${what}: a node`)) ?? refuse(`${what}: no path`) }
}

const entryMembers = ['id', 'logIndex', 'distributorId', 'walletAddress', 'amountRaw', 'rule', 'restsOn'] as const

/** The computed entries that the proof names; each of its members has to be as computed. */
function compareEntries(given: unknown, computed: readonly VerifiedEntry[]): VerifiedEntry[] {
  const list = readList(given, entriesMax)
  if (!list || list.length === 0) return refuse('the proof names no entry')
  let last = -1
  return list.map((value, at) => {
    const entry = readMembers(value, entryMembers, `entry ${at}`)
    const found = computed.find(({ logIndex }) => logIndex === entry.logIndex)
    if (!found) return refuse(`entry ${at}: the bytes and what you trust decide no entry of this log`)
    if (found.logIndex <= last) refuse(`entry ${at}: the entries are not in the order of their logs`)
    last = found.logIndex
    for (const name of entryMembers)
      if (!isSame(entry[name], found[name])) refuse(`entry ${at}: ${name} is not what the bytes say`)
    return found
  })
}

function isSame(given: unknown, computed: ProvenEntry[keyof ProvenEntry]): boolean {
  if (!Array.isArray(computed)) return given === computed
  const list = readList(given, computed.length)
  return list?.length === computed.length && list.every((each, at) => each === computed[at])
}

/** The trusted facts, parsed. An address in another form refuses every proof. */
function readTrust(trust: ProofTrust): Trusted {
  const lower = (value: unknown): Hex => {
    const address = parseAddress(isRecord(value) ? getMember(value, 'address') : value)
    return (address ?? refuse('trust holds something that is no address')).toLowerCase() as Hex
  }
  const vaults = trust.vaults.map((vault) => {
    const address = lower(vault)
    return [address, { kind: vault.kind, share: vault.share ? lower(vault.share) : address }] as const
  })
  return {
    vaults: new Map(vaults),
    signers: trust.signers.map(lower),
    entryPoints: (trust.entryPoints ?? standardEntryPoints).map(lower),
    distributors: trust.distributors,
  }
}
