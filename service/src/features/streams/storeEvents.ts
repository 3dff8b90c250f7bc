import { bool, hex, int4, int8, nullable, numeric, oneOf, seconds, uuid } from '../../postgres/columns.js'
import type { Queryable } from '../../postgres/pool.js'
import { copyRows, describeTable, insertRows, type RowOf } from '../../postgres/table.js'
import type { DatedLine } from '../../sync/configuration.js'
import { type Above, inPlace, type Place } from '../../sync/projection.js'
import { depths } from '../../sync/storeDepths.js'

export type StreamEventKind = 'created' | 'funds-added' | 'funds-withdrawn' | 'root' | 'claimed' | 'claims-paused'

export const streamEventsTable = describeTable('stream_events', {
  chainId: [int8],
  blockNumber: [int8],
  timestamp: [seconds, 'block_timestamp'],
  logIndex: [int4],
  streamId: [uuid],
  kind: [oneOf<StreamEventKind>()],
  transactionHash: [hex],
  wallet: [nullable(hex)],
  receiver: [nullable(hex)],
  salt: [nullable(hex)],
  root: [nullable(hex)],
  rootAt: [nullable(seconds)],
  amount: [nullable(numeric)],
  fee: [nullable(numeric)],
  total: [nullable(numeric)],
  paused: [nullable(bool)],
})

export type StreamEventRow = RowOf<typeof streamEventsTable>
export type StreamEvent = Omit<StreamEventRow, 'chainId'>

/** A followed stream: its factory and its own contract emit its events. */
export type FollowedStream = { id: string; factory: string; contract: string; fromBlock: number }

/** The streams that are paid on a chain, by id. */
export async function listFollowed(db: Queryable, chainId: number): Promise<ReadonlyMap<string, FollowedStream>> {
  const rows = await db<FollowedStream[]>`
    select id, factory, contract_address as contract, from_block as "fromBlock"
    from streams where chain_id = ${chainId} order by id`
  return new Map(rows.map((row) => [row.id, row]))
}

export function listFollowedLines(streams: ReadonlyMap<string, FollowedStream>): DatedLine[] {
  const own = [...streams.values()].map(({ id, factory, contract, fromBlock }) => ({
    ...{ line: `stream ${id} ${factory} ${contract} ${fromBlock}`, from: 0, of: `stream ${id}` },
  }))
  return [{ line: 'rules 1', from: 0 }, ...own]
}

export async function recordStreamEvents(
  db: Queryable,
  events: readonly StreamEvent[],
  { chainId, place, isLive }: { chainId: number; place: Place; isLive: boolean },
): Promise<void> {
  if (events.length === 0) return
  const table = place(streamEventsTable)
  if (isLive || place === inPlace) await insertRows(db, table, events, { shared: { chainId } })
  else {
    const copy = await copyRows(db, table, { shared: { chainId } })
    await copy.write(events)
    await copy.end()
  }
}

export async function removeStreamEvents(db: Queryable, above: Above, streamIds?: readonly string[]): Promise<void> {
  const own = streamIds === undefined ? db`` : db`and stream_id = any(${[...streamIds]}::uuid[])`
  await db`delete from stream_events where chain_id = ${above.chainId} and block_number > ${above.number} ${own}`
}

/** A root of a stream that a chain holds. */
export type HeldRoot = {
  streamId: string
  root: string
  rootAt: Date
  total: bigint
  transactionHash: string
  blockNumber: number
  isConfirmed: boolean
  /** Whether it is that of a snapshot of ours which counts. */
  isOurs: boolean
}

/** The roots of streams as they were committed, the newest first. */
export async function listRoots(db: Queryable, streamIds: readonly string[]): Promise<HeldRoot[]> {
  const rows = await db<(Omit<HeldRoot, 'total'> & { total: string })[]>`
    select e.stream_id as "streamId", hex_text(e.root) as root, e.root_at as "rootAt", e.total,
      hex_text(e.transaction_hash) as "transactionHash", e.block_number as "blockNumber",
      e.block_number <= d.confirmed as "isConfirmed",
      exists (select from stream_snapshots n where n.stream_id = e.stream_id and n.snapshot_at = e.root_at
        and n.root = e.root and n.vetoed_at is null) as "isOurs"
    from stream_events e join ${depths(db)} d on d.chain_id = e.chain_id
    where e.stream_id = any(${[...streamIds]}::uuid[]) and e.kind = 'root'
    order by e.block_number desc, e.log_index desc`
  return rows.map((row) => ({ ...row, total: BigInt(row.total) }))
}

/** Confirmed increases of a budget, in order. */
export async function listBudgetChanges(
  db: Queryable,
  streamId: string,
): Promise<{ at: Date; amount: bigint; fee: bigint }[]> {
  const rows = await db<{ at: Date; amount: string; fee: string }[]>`
    select e.block_timestamp as at, e.amount, e.fee
    from stream_events e join ${depths(db)} d on d.chain_id = e.chain_id
    where e.stream_id = ${streamId} and e.kind = 'funds-added' and e.block_number <= d.confirmed
    order by e.block_number, e.log_index`
  return rows.map(({ at, amount, fee }) => ({ at, amount: BigInt(amount), fee: BigInt(fee) }))
}
