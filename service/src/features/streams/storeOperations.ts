import type { Queryable, Transaction } from '../../postgres/pool.js'
import { type Depth, depths } from '../../sync/storeDepths.js'

/** A withdrawal or an increase of a budget that was signed. */
export type AdminOperation = {
  id: string
  streamId: string
  type: 'withdrawal' | 'budget-increase'
  amount: bigint
  feeAmount: bigint
  /** Lower-case; null of an increase. */
  receiver: string | null
  salt: string
  deadline: Date
  signature: string
  createdAt: Date
}

/** The same with what the chain says of it. */
export type OpenOperation = AdminOperation & { executedTxHash: string | null; isConfirmed: boolean }

type Loaded = Omit<OpenOperation, 'amount' | 'feeAmount'> & { amount: string; feeAmount: string }

/** The last open operation of a stream, and whether its salt is on the chain; undefined without one. */
export async function findOpenOperation(db: Queryable, streamId: string): Promise<OpenOperation | undefined> {
  const [row] = await db<Loaded[]>`
    select o.id, o.stream_id as "streamId", o.type, o.amount, o.fee_amount as "feeAmount", o.receiver,
      hex_text(o.salt) as salt, o.deadline, hex_text(o.signature) as signature, o.created_at as "createdAt",
      hex_text(e.transaction_hash) as "executedTxHash", coalesce(e.block_number <= d.confirmed, false) as "isConfirmed"
    from stream_operations o
    left join stream_events e on e.salt = o.salt and e.stream_id = o.stream_id
    left join ${depths(db)} d on d.chain_id = e.chain_id
    where o.stream_id = ${streamId} and o.is_open`
  return row && { ...row, amount: BigInt(row.amount), feeAmount: BigInt(row.feeAmount) }
}

/** An operation blocks until it is confirmed, or can be executed no more: a confirmed block is past its deadline. */
export function isBlocking({ isConfirmed, deadline }: OpenOperation, depth: Depth | undefined): boolean {
  if (isConfirmed) return false
  return !depth?.confirmedAt || depth.confirmedAt.getTime() <= deadline.getTime()
}

/** Closes an operation that blocks no more. */
export async function closeOperation(tx: Transaction, id: string): Promise<void> {
  await tx`update stream_operations set is_open = false where id = ${id} and is_open`
}

/** Opens an operation; false where another one of the stream is open. */
export async function recordOperation(tx: Transaction, operation: AdminOperation): Promise<boolean> {
  const { id, streamId, type, amount, feeAmount, receiver, salt, deadline, signature, createdAt } = operation
  const inserted = await tx`
    insert into stream_operations
      (id, stream_id, type, amount, fee_amount, receiver, salt, deadline, signature, created_at)
    values (${id}, ${streamId}, ${type}, ${amount.toString()}, ${feeAmount.toString()}, ${receiver}, hex_bytes(${salt}),
      ${deadline}, hex_bytes(${signature}), ${createdAt})
    on conflict (stream_id) where is_open do nothing returning id`
  return inserted.length > 0
}
