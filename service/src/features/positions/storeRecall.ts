import { type Derivation, rederiveEventParts, type StoredRequests } from '../../derive/derive.js'
import { type DerivedRows, emptyRows } from '../../derive/rows.js'
import type { Queryable } from '../../postgres/pool.js'
import { parseRows, selectList } from '../../postgres/table.js'
import type { RawBlock } from '../../rpc/raw.js'
import { readHeldBefore } from './storeHeld.js'
import { balanceChangesTable, lotChangesTable } from './storePositions.js'

type Range = { chainId: number; from: number; to: number; config: Derivation; blocks: readonly RawBlock[] }

/**
 * Changes of balances and lots by blocks in [from, to], by block, each wallet's changes in the order they happened, and the
 * wallets of events and pending redemptions. This is all that a later projection needs of positions: requests, entries and
 * signatures are left out.
 */
export async function recallChanges(db: Queryable, range: Range): Promise<ReadonlyMap<number, DerivedRows>> {
  const { chainId, from, to } = range
  const byBlock = new Map<number, DerivedRows>()
  const rowsOf = (number: number): DerivedRows => {
    const known = byBlock.get(number) ?? emptyRows()
    byBlock.set(number, known)
    return known
  }
  const balances = await db<object[]>`
    select ${selectList(db, balanceChangesTable)} from balance_changes
    where chain_id = ${chainId} and block_number between ${from} and ${to} order by block_number, transaction_index`
  for (const { chainId: _, ...row } of parseRows(balanceChangesTable, balances))
    rowsOf(row.blockNumber).balanceChanges.push(row)
  const lots = await db<object[]>`
    select ${selectList(db, lotChangesTable)} from lot_changes
    where chain_id = ${chainId} and block_number between ${from} and ${to} order by block_number, transaction_index`
  for (const { chainId: _, ...row } of parseRows(lotChangesTable, lots)) rowsOf(row.blockNumber).lotChanges.push(row)
  const requestsOf = await readRequests(db, range)
  const heldOf = await readHeldBefore(db, range)
  for (const block of range.blocks) {
    const said = rederiveEventParts(block, range.config, requestsOf(block), (vaultId, index) =>
      heldOf(block.number, vaultId, index),
    )
    if (said.eventParts.length + said.pendingChanges.length + said.shareMints.length > 0)
      Object.assign(rowsOf(block.number), said)
  }
  return byBlock
}

type Placed = { vaultId: number; blockNumber: number; logIndex: number; owner: string }
type Opened = Placed & { amount: string }
type Changed = Placed & { promised: string | null; before: string; after: string }

/** Changes of redemption requests, block by block and transaction by transaction. */
async function readRequests(db: Queryable, { chainId, from, to }: Range): Promise<(block: RawBlock) => StoredRequests> {
  const opened = await db<Opened[]>`
    select vault_id as "vaultId", block_number as "blockNumber", log_index as "logIndex", hex_text(owner) as owner, amount
    from requests
    where chain_id = ${chainId} and kind = 'redeem' and block_number between ${from} and ${to}`
  const changed = await db<Changed[]>`
    select c.vault_id as "vaultId", c.block_number as "blockNumber", c.log_index as "logIndex",
      hex_text(r.owner) as owner, r.promised, c.remaining_before as before, c.remaining_after as after
    from request_changes c join requests r on r.id = c.request_id
    where c.chain_id = ${chainId} and r.kind = 'redeem' and c.block_number between ${from} and ${to}`
  const [openedIn, changedIn] = [groupByBlock(opened), groupByBlock(changed)]
  return ({ number, logs }) => {
    const [own, moved] = [openedIn.get(number) ?? [], changedIn.get(number) ?? []]
    if (own.length + moved.length === 0) return () => ({ opened: [], changed: [] })
    const transactions = new Map(logs.map(({ logIndex, transactionIndex }) => [logIndex, transactionIndex]))
    return (vaultId, transactionIndex) => {
      const isOf = (row: Placed) => row.vaultId === vaultId && transactions.get(row.logIndex) === transactionIndex
      return {
        opened: own.filter(isOf).map(({ owner, amount }) => ({ kind: 'redeem', owner, amount: BigInt(amount) })),
        changed: moved.filter(isOf).map(({ owner, promised, logIndex, before, after }) => ({
          ...{ kind: 'redeem', owner, promised: promised === null ? null : BigInt(promised), logIndex },
          ...{ before: { remaining: BigInt(before) }, after: { remaining: BigInt(after) } },
        })),
      }
    }
  }
}

function groupByBlock<T extends Placed>(rows: readonly T[]): ReadonlyMap<number, T[]> {
  const grouped = new Map<number, T[]>()
  for (const row of rows) {
    const known = grouped.get(row.blockNumber)
    if (known) known.push(row)
    else grouped.set(row.blockNumber, [row])
  }
  return grouped
}
