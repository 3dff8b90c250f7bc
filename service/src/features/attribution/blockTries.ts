import {
  buildTrie,
  encodeHeader,
  encodeReceipt,
  encodeTransaction,
  type Trie,
  Unencodable,
} from '@openearn/attribution/codec'
import { inFlight } from '../../kernel/async/inFlight.js'
import { memo } from '../../kernel/async/memo.js'
import { notFound, unavailable } from '../../kernel/errors.js'
import { keccak256 } from '../../kernel/keccak.js'
import type { Chain } from '../../rpc/chains.js'
import { createRoom } from '../../rpc/room.js'
import { readWholeBlock, type WholeBlock } from '../../rpc/wholeBlock.js'

/** A block as its hash commits to it: each part hashes to what the header says, and the header to the block's hash. */
export type BlockTries = {
  header: Uint8Array
  transactions: Trie
  receipts: Trie
  encoded: { transactions: readonly Uint8Array[]; receipts: readonly Uint8Array[] }
  /** The place in the block of each receipt's first log. */
  firstLogs: readonly number[]
  /** Bytes of its transactions and receipts. */
  size: number
}

const formatHex = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`

const keptMax = 64
const bytesMax = 64 * 1024 * 1024
/** Bytes of all blocks that are kept of a chain; with their tries they take some three times as much memory. */
const keptBytesMax = 128 * 1024 * 1024
/** A full block costs some hundred milliseconds of computing: two at a time, and few that wait. */
const room = createRoom({ inFlight: 2, waiting: 32, waitMs: 5_000 })

/** Blocks that were made before, the newest use last; one answer for those who ask at once. */
const blocksOf = memo((_rpc: Chain['rpc']) => ({
  kept: new Map<string, BlockTries>(),
  running: inFlight<BlockTries>(),
}))

/**
 * The tries of a block. A node that does not tell is a 503, as are more than 64 MiB; a block whose parts do not hash to what
 * its header says has a form that is not known: 404 with PROTOCOL_UNSUPPORTED.
 */
export async function readTries(
  chain: Pick<Chain, 'name' | 'rpc'>,
  block: { number: number; hash: string },
): Promise<BlockTries> {
  const { kept, running } = blocksOf(chain.rpc)
  const known = kept.get(block.hash)
  if (known) kept.delete(block.hash)
  const busy = () => unavailable('too many blocks are being read; try again shortly', { retryAfterSeconds: 2 })
  const tries =
    known ??
    (await running(block.hash, () =>
      room.run(async () => toTries(await readWholeBlock(chain, block), block.hash), busy),
    ))
  kept.set(block.hash, tries)
  let bytes = [...kept.values()].reduce((sum, { size }) => sum + size, 0)
  for (const [oldest, { size }] of kept) {
    if (kept.size <= keptMax && bytes <= keptBytesMax) break
    kept.delete(oldest)
    bytes -= size
  }
  return tries
}

/** The tries of what a node told of a block. */
export function toTries({ header: told, transactions, receipts }: WholeBlock, hash: string): BlockTries {
  const encoded = encode({ header: told, transactions, receipts })
  const size = [...encoded.transactions, ...encoded.receipts].reduce((sum, { length }) => sum + length, 0)
  if (size > bytesMax) throw unavailable('this block is too large to be proved')
  const left = buildTrie(encoded.transactions, keccak256)
  const right = buildTrie(encoded.receipts, keccak256)
  const isWhole =
    formatHex(keccak256(encoded.header)) === hash &&
    formatHex(left.root) === lower(told.transactionsRoot) &&
    formatHex(right.root) === lower(told.receiptsRoot)
  if (!isWhole) throw unknownForm()
  let logs = 0
  const firstLogs = receipts.map((receipt) => {
    const first = logs
    logs += Array.isArray(receipt.logs) ? receipt.logs.length : 0
    return first
  })
  return { header: encoded.header, transactions: left, receipts: right, encoded, firstLogs, size }
}

function encode({ header, transactions, receipts }: WholeBlock) {
  try {
    return {
      header: encodeHeader(header),
      transactions: transactions.map(encodeTransaction),
      receipts: receipts.map(encodeReceipt),
    }
  } catch (error) {
    if (error instanceof Unencodable) throw unknownForm()
    throw error
  }
}

const unknownForm = () => notFound('blocks of this form cannot be proved yet', { reason: 'PROTOCOL_UNSUPPORTED' })

const lower = (value: unknown): string | undefined => (typeof value === 'string' ? value.toLowerCase() : undefined)
