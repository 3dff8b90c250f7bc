import {
  computeEntries,
  readReceipt,
  readTransaction,
  recoverSender,
  type Trusted,
  type VerifiedEntry,
} from '@openearn/attribution/codec'
import type { Hex } from 'viem'
import { notFound, unavailable } from '../../kernel/errors.js'
import { keccak256 } from '../../kernel/keccak.js'
import { type Activity, listInteractionsByTx } from '../ledger/index.js'
import { type BlockTries, readTries } from './blockTries.js'
import type { AttributionProof } from './schema.js'
import { type AttributionContext, findStoredTransaction, getSupportedChain, listWhatCounts } from './transaction.js'

/**
 * A proof of the verified entries of a transaction, against the hash of its block. Entries that the block's own bytes do not
 * decide are left out: of earlier requests, of a tracker, of shares that were split.
 */
export async function getAttributionProof(
  ctx: AttributionContext,
  input: { txHash: string; chainId: number },
): Promise<AttributionProof> {
  const { chainId } = getSupportedChain(ctx, input.chainId)
  const txHash = input.txHash.toLowerCase()
  const entries = await listInteractionsByTx(ctx.db, txHash, chainId)
  const mined = entries.length === 0 ? undefined : (await findStoredTransaction(ctx, txHash, chainId))?.mined
  if (!mined) throw notFound('the ledger has no entry of this transaction')
  const chain = ctx.chains.get(chainId)
  if (!chain) throw unavailable('this installation has no access to this chain')
  const { blockNumber, blockHash, transactionIndex: index } = mined
  const tries = await readTries(chain, { number: blockNumber, hash: blockHash })
  const computed = await computeProven(ctx, { chainId, blockHash, index, tries, entries })
  const proven = computed.filter((entry) =>
    entries.some((each) => isSame(each, entry, tries.firstLogs[index] ?? Number.NaN)),
  )
  if (proven.length === 0)
    throw notFound('the block alone does not prove the entries of this transaction: they rest on earlier blocks')
  const pathOf = (trie: BlockTries['receipts']) => ({ index, path: trie.path(index).map(toHex) })
  return {
    ...{ version: 1, chainId, txHash, blockHash, header: toHex(tries.header) },
    transaction: pathOf(tries.transactions),
    receipt: pathOf(tries.receipts),
    entries: proven.map(({ kind: _, vault: __, proved: ___, ...entry }) => entry),
  }
}

const toHex = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`

/** The entries that follow from the bytes and the catalogue. */
async function computeProven(
  ctx: AttributionContext,
  of: { chainId: number; blockHash: string; index: number; tries: BlockTries; entries: readonly Activity[] },
): Promise<VerifiedEntry[]> {
  const { chainId, blockHash, index, tries } = of
  const bytes = tries.encoded.transactions[index]
  const transaction = bytes && readTransaction(bytes)
  const receipt = tries.encoded.receipts[index]
  const logs = receipt && readReceipt(receipt)
  if (!transaction || !logs)
    throw notFound('blocks of this form cannot be proved yet', { reason: 'PROTOCOL_UNSUPPORTED' })
  const from = await recoverSender(transaction)
  if (toHex(keccak256(bytes)) !== transaction.hash || !from) throw unavailable('the chain cannot be read')
  const named = { chainId: transaction.chainId ?? BigInt(chainId), blockHash: blockHash as Hex }
  return computeEntries({ ...named, transaction: { ...transaction, from }, logs }, await listTrusted(ctx, of))
}

async function listTrusted(
  ctx: AttributionContext,
  { chainId, entries }: { chainId: number; entries: readonly Activity[] },
): Promise<Trusted> {
  const { signers, entryPoints } = await listWhatCounts(ctx, chainId)
  const vaults = [...ctx.catalogue.current().opportunities.values()]
    .filter((opportunity) => opportunity.chainId === chainId)
    .map(({ vault }) => [lower(vault.address), { kind: vault.kind, share: lower(vault.receiptToken) }] as const)
  return {
    vaults: new Map(vaults),
    signers: signers.map(lower),
    entryPoints: entryPoints.map(lower),
    distributors: [...new Set(entries.map(({ distributorId }) => distributorId))],
  }
}

const lower = (address: string) => address.toLowerCase() as Hex

/** Whether an entry of the ledger is one that the bytes decide. `first` is the place in the block of the receipt's first log. */
function isSame(entry: Activity, proven: VerifiedEntry, first: number): boolean {
  return (
    entry.logIndex === first + proven.logIndex &&
    entry.interaction === proven.kind &&
    entry.distributorId === proven.distributorId &&
    entry.walletAddress === proven.walletAddress &&
    entry.amountRaw === proven.amountRaw &&
    entry.attribution === proven.rule
  )
}
