import { once } from 'node:events'
import type { Writable } from 'node:stream'
import type { BalanceChange, DeriveState, LotChange } from '../../derive/rows.js'
import type { Queryable, Transaction } from '../../postgres/pool.js'

/** Drops the requests and the used signatures of vaults. */
export async function removeRequests(tx: Transaction, vaultIds: readonly number[]): Promise<void> {
  const vaults = [...vaultIds]
  await tx`delete from request_changes where vault_id = any(${vaults})`
  await tx`delete from requests where vault_id = any(${vaults})`
  await tx`delete from used_signatures where vault_id = any(${vaults})`
}

/** Tables of positions and their columns; none may be null. */
const positionTables = {
  balance_changes:
    `vault_id, wallet, block_number, transaction_index, block_timestamp, before, after, attributed_before,
    attributed_after`.split(/,\s*/),
  lot_changes:
    'vault_id, wallet, distributor_id, block_number, transaction_index, block_timestamp, before, after'.split(', '),
  balances: 'vault_id, wallet, shares, attributed, first_block'.split(', '),
  lots: 'vault_id, wallet, distributor_id, shares, first_block'.split(', '),
}
type PositionTable = keyof typeof positionTables
const listPositionTables = () => Object.keys(positionTables) as PositionTable[]

/** Where positions derived again are written: at once, where vaults have none yet, or beside the old ones. */
export type RebuiltPlace = 'own' | 'beside'

/** Makes room for positions derived again, which only this transaction sees. */
export async function openRebuilt(tx: Transaction, vaultIds: readonly number[]): Promise<RebuiltPlace> {
  const [found] = await tx<{ any: boolean }[]>`
    select exists (select from balance_changes where vault_id = any(${[...vaultIds]})) or
      exists (select from balances where vault_id = any(${[...vaultIds]})) as any`
  if (!found?.any) return 'own'
  for (const table of listPositionTables())
    await tx`create temporary table ${tx(`rebuilt_${table}`)} (like ${tx(table)}) on commit drop`
  return 'beside'
}

/**
 * Makes the positions of vaults those written beside them. Rows that are the same in every column stay where they are,
 * and mostly all are: taking them out and putting them back costs thrice as much, and leaves as much to vacuum as there
 * is history.
 */
export async function replacePositions(tx: Transaction, vaultIds: readonly number[]): Promise<void> {
  // One comparison of the whole history is worth more memory than a query has.
  await tx`set local work_mem = '64MB'`
  const vaults = [...vaultIds]
  for (const table of listPositionTables()) {
    const [old, rebuilt] = [tx(table), tx(`rebuilt_${table}`)]
    const same = positionTables[table].map((column) => tx`and n.${tx(column)} = o.${tx(column)}`)
    await tx`
      delete from ${old} o where vault_id = any(${vaults}) and not exists (select from ${rebuilt} n where true ${same})`
    const [left] = await tx<{ missing: number }[]>`
      select (select count(*) from ${rebuilt}) - (select count(*) from ${old} where vault_id = any(${vaults})) as missing`
    if (left?.missing !== 0) await tx`insert into ${old} select * from ${rebuilt} on conflict do nothing`
  }
}

/** Lines of one table on their way into it, much faster than inserts. Values need no escaping. */
export type CopyStream = { write(lines: string): Promise<void>; end(): Promise<void> }

async function openCopy(stream: Promise<Writable>): Promise<CopyStream> {
  const writable = await stream
  const done = new Promise<void>((resolve, reject) => {
    writable.once('finish', () => resolve())
    writable.once('error', reject)
  })
  // Whoever writes or ends sees the failure; until then it must not end the process.
  done.catch(() => undefined)
  return {
    write: async (lines) => {
      if (lines !== '' && !writable.write(lines)) await once(writable, 'drain')
    },
    end: async () => {
      writable.end()
      await done
    },
  }
}

function openTable(db: Queryable, table: PositionTable, place: RebuiltPlace): Promise<CopyStream> {
  const name = place === 'own' ? table : `rebuilt_${table}`
  return openCopy(db`copy ${db(name)} (${db(positionTables[table])}) from stdin`.writable())
}

export function copyBalanceChanges(db: Queryable, place: RebuiltPlace): Promise<CopyStream> {
  return openTable(db, 'balance_changes', place)
}

export function copyLotChanges(db: Queryable, place: RebuiltPlace): Promise<CopyStream> {
  return openTable(db, 'lot_changes', place)
}

/** Rows of one block share their instant, so the text of the last one is kept. */
function createInstant(): (seconds: number) => string {
  let last = { seconds: Number.NaN, text: '' }
  return (seconds) => {
    if (seconds !== last.seconds) last = { seconds, text: new Date(seconds * 1000).toISOString() }
    return last.text
  }
}

export function formatBalanceChanges(rows: readonly BalanceChange[]): string {
  const instant = createInstant()
  let text = ''
  for (const r of rows)
    text += `${r.vaultId}\t${r.wallet}\t${r.blockNumber}\t${r.transactionIndex}\t${instant(r.timestamp)}\t${r.before}\t${r.after}\t${r.attributedBefore}\t${r.attributedAfter}\n`
  return text
}

export function formatLotChanges(rows: readonly LotChange[]): string {
  const instant = createInstant()
  let text = ''
  for (const r of rows)
    text += `${r.vaultId}\t${r.wallet}\t${r.distributorId}\t${r.blockNumber}\t${r.transactionIndex}\t${instant(r.timestamp)}\t${r.before}\t${r.after}\n`
  return text
}

/** Writes the whole present state at once. */
export async function copyState(db: Queryable, state: DeriveState, place: RebuiltPlace): Promise<void> {
  const balances = await openTable(db, 'balances', place)
  for (const lines of inChunks(state.holders, ([key, holder]) => {
    const { firstBlock, shares, attributed } = holder
    return firstBlock === undefined ? '' : `${key.replace(':', '\t')}\t${shares}\t${attributed}\t${firstBlock}\n`
  }))
    await balances.write(lines)
  await balances.end()
  const lots = await openTable(db, 'lots', place)
  for (const lines of inChunks(state.holders, ([key, holder]) => {
    let text = ''
    for (const [id, shares] of holder.lots) {
      const block = holder.lotBlocks?.get(id)
      if (block !== undefined) text += `${key.replace(':', '\t')}\t${id}\t${shares}\t${block}\n`
    }
    return text
  }))
    await lots.write(lines)
  await lots.end()
}

function* inChunks<T>(items: Iterable<T>, format: (item: T) => string): Generator<string> {
  let text = ''
  for (const item of items) {
    text += format(item)
    if (text.length > 1 << 18) {
      yield text
      text = ''
    }
  }
  if (text !== '') yield text
}
