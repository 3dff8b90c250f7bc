import type { Derivation } from '../derive/derive.js'
import { removeLedgerAbove } from '../features/ledger/index.js'
import { rewindPositions } from '../features/positions/index.js'
import type { Transaction } from '../postgres/pool.js'
import type { Cursor } from '../sync/storeCursors.js'
import { findStoredBlockAt, readRawBlocks } from '../sync/storeRaw.js'
import { applyBlocks } from './apply.js'

const logsMax = 10_000

/** Derives a chain again from an instant on, from the raw store alone, inside the caller's transaction. */
export async function rederive(
  tx: Transaction,
  input: { chainId: number; derivation: Derivation; from: number; to: number },
): Promise<void> {
  const first = await findStoredBlockAt(tx, input.chainId, input.from)
  if (first === undefined || first > input.to) return
  await rederiveFromBlock(tx, { ...input, from: first })
}

/** The same from a block on. */
export async function rederiveFromBlock(
  tx: Transaction,
  input: { chainId: number; derivation: Derivation; from: number; to: number },
): Promise<void> {
  const { chainId, derivation, from, to } = input
  const vaultIds = derivation.config.vaults.map(({ id }) => id)
  const above = { chainId, number: from - 1, tip: to }
  await rewindPositions(tx, vaultIds, above)
  await removeLedgerAbove(tx, above)
  await deriveRaw(tx, { chainId, derivation, from, to })
}

/**
 * Brings vaults whose past is now in the raw store into the derived rows. When they count only from now on, their own
 * past is derived alone; when they count earlier, a transaction may involve other vaults too and all are derived again.
 */
export async function joinVaults(
  tx: Transaction,
  input: { chainId: number; added: Derivation; all: Derivation; cursor: Cursor },
): Promise<void> {
  const { chainId, added, all, cursor } = input
  const { vaults } = added.config
  const from = Math.min(...vaults.map(({ startBlock }) => startBlock))
  const range = { chainId, from, to: cursor.blockNumber }
  const now = cursor.blockTimestamp === null ? 0 : cursor.blockTimestamp.getTime() / 1000
  if (vaults.some(({ activeFrom }) => activeFrom <= now)) await rederiveFromBlock(tx, { ...range, derivation: all })
  else {
    // One that is read again from an earlier block on has positions already.
    await rewindPositions(
      tx,
      vaults.map(({ id }) => id),
      { chainId, number: from - 1, tip: range.to },
    )
    await deriveRaw(tx, { ...range, derivation: added })
  }
}

async function deriveRaw(
  tx: Transaction,
  input: { chainId: number; derivation: Derivation; from: number; to: number },
): Promise<void> {
  const { chainId, derivation, to } = input
  const addresses = derivation.config.vaults.flatMap(({ address, receiptToken }) => [address, receiptToken])
  for (let from: number | undefined = input.from; from !== undefined; ) {
    const { blocks, next } = await readRawBlocks(tx, { chainId, from, to, logsMax, addresses })
    await applyBlocks(tx, derivation, blocks)
    from = next
  }
}
