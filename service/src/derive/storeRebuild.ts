import { once } from 'node:events'
import type { Writable } from 'node:stream'
import type { Queryable, Transaction } from '../kernel/database.js'
import type { BalanceChange, DeriveState, LotChange } from './rows.js'

/** Drops everything derived for a chain; what was watched in orphaned blocks is a record and stays. */
export async function removeDerived(tx: Transaction, chainId: number, vaultIds: readonly number[]): Promise<void> {
  const vaults = [...vaultIds]
  await tx`delete from interactions where chain_id = ${chainId}`
  await tx`delete from watched where chain_id = ${chainId} and not retracted`
  await tx`delete from balance_changes where vault_id = any(${vaults})`
  await tx`delete from lot_changes where vault_id = any(${vaults})`
  await tx`delete from balances where vault_id = any(${vaults})`
  await tx`delete from lots where vault_id = any(${vaults})`
  await tx`delete from request_changes where vault_id = any(${vaults})`
  await tx`delete from requests where vault_id = any(${vaults})`
}

/** Lines of one table on their way into it, much faster than inserts. Values need no escaping. */
export type CopyStream = { write(lines: string): Promise<void>; end(): Promise<void> }

async function openCopy(stream: Promise<Writable>): Promise<CopyStream> {
  const writable = await stream
  const done = new Promise<void>((resolve, reject) => {
    writable.once('finish', () => resolve())
    writable.once('error', reject)
  })
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

export function copyBalanceChanges(db: Queryable): Promise<CopyStream> {
  return openCopy(
    db`copy balance_changes (vault_id, wallet, block_number, transaction_index, block_timestamp, before, after,
      attributed_before, attributed_after) from stdin`.writable(),
  )
}

export function copyLotChanges(db: Queryable): Promise<CopyStream> {
  return openCopy(
    db`copy lot_changes (vault_id, wallet, distributor_id, block_number, transaction_index, block_timestamp, before, after)
      from stdin`.writable(),
  )
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
export async function copyState(db: Queryable, state: DeriveState): Promise<void> {
  const balances = await openCopy(
    db`copy balances (vault_id, wallet, shares, attributed, first_block) from stdin`.writable(),
  )
  for (const lines of inChunks(state.holders, ([key, holder]) => {
    const { firstBlock, shares, attributed } = holder
    return firstBlock === undefined ? '' : `${key.replace(':', '\t')}\t${shares}\t${attributed}\t${firstBlock}\n`
  }))
    await balances.write(lines)
  await balances.end()
  const lots = await openCopy(
    db`copy lots (vault_id, wallet, distributor_id, shares, first_block) from stdin`.writable(),
  )
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
