import { getRandomValues } from 'node:crypto'
import { bytesToHex, type Hex } from 'viem'
import { formatTs } from '../../kernel/clock.js'
import { conflict, type EarnError, invalidArgument, notFound, permissionDenied } from '../../kernel/errors.js'
import { newId } from '../../kernel/ids.js'
import { type Caller, written } from '../../kernel/operation.js'
import type { Written } from '../../postgres/context.js'
import type { Transaction } from '../../postgres/pool.js'
import type { Signer } from '../../rpc/signer.js'
import { type Depth, findDepth } from '../../sync/storeDepths.js'
import { formatAddress } from '../../wallets/format.js'
import type { StreamContext } from './context.js'
import { signSignable } from './createStream.js'
import {
  type AdminOperation,
  closeOperation,
  findOpenOperation,
  isBlocking,
  type OpenOperation,
  recordOperation,
} from './storeOperations.js'
import { findStream, type StreamRow } from './storeStreams.js'
import { formatTxParams, type Signable } from './typedData.js'

/** A stream that pays tokens and whose creation is confirmed. */
export type PaidStream = StreamRow & {
  [member in 'chainId' | 'rewardToken' | 'factory' | 'contract' | 'admin' | 'totalAmount']: NonNullable<
    StreamRow[member]
  >
}

/** A stream of the caller's organization. Throws 404, or 403 for another organization's. */
export async function getOwnStream(ctx: StreamContext, id: string, caller: Caller): Promise<StreamRow> {
  const stream = await findStream(ctx.db, id.toLowerCase())
  if (!stream) throw notFound('no such stream')
  if (stream.organizationId !== caller.organizationId) throw permissionDenied('the stream is of another organization')
  return stream
}

/** The same where there is a contract to withdraw from or to add to. Throws 400. */
export function assertPaid(stream: StreamRow): asserts stream is PaidStream {
  if (stream.contract === null) throw invalidArgument('a stream of points holds no tokens')
  if (stream.confirmedAt === null) throw invalidArgument('the creation of the stream is not confirmed yet')
}

/** The requested operation. */
export type Asked = Pick<AdminOperation, 'type' | 'amount' | 'feeAmount' | 'receiver'> & { expirationSeconds: number }

/** Signs an operation and keeps it as the one open operation of its stream. Throws 409 while another one blocks. */
export async function openOperation(
  ctx: StreamContext,
  stream: PaidStream,
  { expirationSeconds, ...asked }: Asked,
  signer: Signer | undefined,
): Promise<Written<ReturnType<typeof toAdminOperation>>> {
  const depth = await findDepth(ctx.db, stream.chainId)
  const now = ctx.clock.now()
  const seconds = Math.floor(now.getTime() / 1_000) + expirationSeconds
  const base = {
    ...{ id: newId(), streamId: stream.id, ...asked, salt: bytesToHex(getRandomValues(new Uint8Array(32))) },
    ...{ deadline: new Date(seconds * 1_000), createdAt: now },
  }
  const operation = { ...base, signature: await signSignable(signer, toSignable(stream, base)) }
  const body = toAdminOperation(stream, { ...operation, executedTxHash: null, isConfirmed: false }, depth, now)
  return written(body, async (tx) => openInstead(tx, operation, depth, now))
}

/** The place is free, or the one that has it blocks no more. The index holds the rest: of two at once one is refused. */
async function openInstead(tx: Transaction, operation: AdminOperation, depth: Depth | undefined, now: Date) {
  const held = await findOpenOperation(tx, operation.streamId)
  if (held && isBlocking(held, depth)) throw alreadyActive(held, depth, now)
  if (held) await closeOperation(tx, held.id)
  if (await recordOperation(tx, operation)) return
  const other = await findOpenOperation(tx, operation.streamId)
  throw other ? alreadyActive(other, depth, now) : conflict('the stream is being changed; try again')
}

/** Throws 409 while an operation blocks a stream. */
export async function assertFree(ctx: StreamContext, stream: PaidStream): Promise<void> {
  const held = await findOpenOperation(ctx.db, stream.id)
  if (!held) return
  const depth = await findDepth(ctx.db, stream.chainId)
  if (isBlocking(held, depth)) throw alreadyActive(held, depth, ctx.clock.now())
}

function alreadyActive(held: OpenOperation, depth: Depth | undefined, now: Date): EarnError {
  const blockingUntil = formatTs(estimateEnd(held, depth, now))
  return conflict(`the stream has an active ${held.type}; it blocks others until about ${blockingUntil}`, {
    reason: 'ADMIN_OPERATION_ACTIVE',
    context: { blockingUntil },
  })
}

/** When an operation stops blocking, as far as that can be told: its deadline and the time to confirm it; later if past. */
export function estimateEnd({ deadline }: Pick<AdminOperation, 'deadline'>, depth: Depth | undefined, now: Date): Date {
  const seconds = Math.max(15, Math.ceil((depth?.confirmations ?? 1) * (depth?.blockSeconds ?? 0)))
  const end = new Date(deadline.getTime() + seconds * 1_000)
  return end.getTime() > now.getTime() ? end : new Date(Math.ceil(now.getTime() / 1_000 + seconds) * 1_000)
}

export function toAdminOperation(stream: PaidStream, operation: OpenOperation, depth: Depth | undefined, now: Date) {
  const { id, streamId, type, amount, feeAmount, receiver, executedTxHash, signature } = operation
  return {
    ...{ id, streamId, type, amount: String(amount), feeAmount: String(feeAmount) },
    to: receiver === null ? null : formatAddress(receiver),
    blockingUntil: formatTs(estimateEnd(operation, depth, now)),
    ...{ executed: executedTxHash !== null, executedTxHash },
    txParams: formatTxParams(toSignable(stream, operation), signature as Hex),
  }
}

function toSignable(stream: PaidStream, operation: Omit<AdminOperation, 'signature'>): Signable {
  const { chainId, factory, admin, contract } = stream
  const { amount, feeAmount, receiver } = operation
  const salt = operation.salt as Hex
  const base = { chainId, factory, admin, deadline: operation.deadline.getTime() / 1_000, stream: contract, salt }
  return receiver === null
    ? { ...base, call: 'addFunds', netAmount: amount, feeAmount }
    : { ...base, call: 'withdrawFunds', to: receiver, amount }
}
