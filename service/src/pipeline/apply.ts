import { type Derivation, deriveInto, listStateKeys, type StateKeys } from '../derive/derive.js'
import { type DerivedRows, type DeriveState, emptyRows } from '../derive/rows.js'
import { recordInteractions, recordTransactionAttributions } from '../features/ledger/index.js'
import { findUsedSignatures, loadState, recordPositions, recordUsedSignatures } from '../features/positions/index.js'
import type { Queryable } from '../postgres/pool.js'
import type { RawBlock } from '../rpc/raw.js'

/** Derives blocks in order on the state the database holds, and writes the rows. */
export async function applyBlocks(
  db: Queryable,
  derivation: Derivation,
  blocks: readonly RawBlock[],
): Promise<DerivedRows> {
  const holders: StateKeys['holders'] = new Map()
  const requests: StateKeys['requests'] = new Map()
  const signatures: StateKeys['signatures'] = new Map()
  for (const block of blocks) {
    const keys = listStateKeys(block, derivation)
    for (const [key, value] of keys.holders) holders.set(key, value)
    for (const [key, value] of keys.requests) requests.set(key, value)
    for (const [key, value] of keys.signatures) signatures.set(key, value)
  }
  const state = await loadState(db, { holders: holders.values(), requests: requests.values() })
  state.signatures = await findUsedSignatures(db, signatures.values())
  const rows = deriveBlocks(blocks, derivation, state)
  await recordRows(db, derivation, rows)
  return rows
}

/** Derives blocks in order; `state` is advanced in place. */
export function deriveBlocks(blocks: readonly RawBlock[], derivation: Derivation, state: DeriveState): DerivedRows {
  const rows = emptyRows()
  for (const block of blocks) deriveInto(rows, block, derivation, state)
  return rows
}

/** Writes derived rows. */
export async function recordRows(db: Queryable, derivation: Derivation, rows: DerivedRows): Promise<void> {
  const { config } = derivation
  await recordPositions(db, config.chainId, rows)
  const vaults = new Map(config.vaults.map((vault) => [vault.id, vault]))
  await recordInteractions(db, config.chainId, rows.interactions, vaults, { choosePrices: true })
  await recordTransactionAttributions(db, config.chainId, rows.attributions)
  await recordUsedSignatures(db, config.chainId, rows.usedSignatures)
}
