import type { InteractionRow, TransactionAttribution } from '../../derive/rows.js'
import { defineProjection } from '../../sync/defineProjection.js'
import { positionsRows } from '../positions/index.js'
import { countInteractions } from './storeCounts.js'
import {
  copyInteractions,
  countsTable,
  interactionsTable,
  listLedgerVaults,
  recordInteractions,
  recordTransactionAttributions,
  removeLedgerAbove,
  retractLedger,
  transactionAttributionsTable,
} from './storeLedger.js'
import { interactionLines } from './storeLines.js'
import { priceRebuilt, removePriceChoicesAbove } from './storePrices.js'

export type LedgerRows = { interactions: readonly InteractionRow[]; attributions: readonly TransactionAttribution[] }

/** The entries of what was credited, and what the transactions said. It takes both from the positions of the same block. */
export const ledger = defineProjection({
  name: 'ledger',
  tables: [
    { table: interactionsTable, state: interactionLines },
    { table: countsTable, state: { leftOut: 'counts of the entries' } },
    // Attributions of orphaned transactions are kept.
    {
      table: transactionAttributionsTable,
      isRecord: (db) => db`retracted`,
      state: { leftOut: 'told by the transactions themselves; what it decides is in the entries' },
    },
  ],
  needs: { positions: positionsRows },
  at: 'head',
  configuration: listLedgerVaults,
  lines: (vaults) => [
    { line: 'rules 1', from: 0 },
    // Amounts in whole units follow from the decimals, and prices from the asset.
    ...[...vaults].map(([id, { asset, assetDecimals }]) => ({
      line: `vault ${id} ${asset} ${assetDecimals}`,
      from: 0,
      of: `vault ${id}`,
    })),
  ],
  derive: (_block, { needs }): LedgerRows => {
    const { interactions, attributions } = needs.positions
    return { interactions, attributions }
  },
  write: async (db, rows, { chainId, config: vaults, place, isLive }) => {
    const interactions = rows.flatMap((each) => each.interactions)
    if (isLive) await recordInteractions(db, chainId, interactions, vaults)
    else await copyInteractions(db, chainId, interactions, vaults, place)
    const attributions = rows.flatMap((each) => each.attributions)
    await recordTransactionAttributions(db, chainId, attributions, place)
  },
  settle: async (tx, { chainId, place }) => {
    await priceRebuilt(tx, chainId, place(interactionsTable).name)
    await countInteractions(tx, place(interactionsTable).name, place(countsTable).name)
  },
  rewind: async (tx, above, { reorgId, byOperator, only }) => {
    // Sources are taken back alone only while nothing of theirs counts.
    if (only) return 0
    if (reorgId === undefined) {
      await removeLedgerAbove(tx, above)
      return 0
    }
    const count = await retractLedger(tx, above, reorgId)
    // An operator's rewind reads the same blocks again: their price choices stay.
    if (!byOperator) await removePriceChoicesAbove(tx, above)
    return count
  },
})
