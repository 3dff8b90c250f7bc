import type { Queryable, Transaction } from '../../postgres/pool.js'
import type { Signed } from './signed.js'

/** Whose queue. */
export type SenderKey = { chainId: number; address: string }

/** A transaction to be sent. Addresses and data are lower-case. */
export type Outgoing = {
  /** Chosen by whoever wants it sent: the same id is sent once. */
  id: string
  chainId: number
  sender: string
  to: string
  data: string
  value: bigint
  /** The most it may cost, in wei: gas limit × price, value, and what posting it to another chain costs. */
  costMax: bigint
  /** What it is for, in a few words. */
  purpose: string
}

export type OutgoingState = 'queued' | 'sent' | 'confirmed' | 'reverted' | 'cancelled' | 'failed'

/**
 * Why a queued transaction is not sent now: it would cost more than its own cap or than a unit of gas may, its key lacks
 * the funds, or too little is left of the day. Others are sent meanwhile.
 */
export type Held = 'tooDear' | 'noFunds' | 'dayBudget'

export type OutgoingRow = Outgoing & {
  state: OutgoingState
  held: Held | null
  /** Why it waits, or why it failed. */
  reason: string | null
  nonce: number | null
  gasLimit: bigint | null
  cancelling: boolean
  /** Of the form that was mined. */
  transactionHash: string | null
  blockNumber: number | null
  createdAt: Date
}

export type Attempt = {
  attempt: number
  nonce: number
  headNumber: number
  signedAt: Date
  isCancellation: boolean
  hash: string
  raw: string
  maxFee: bigint
  tip: bigint
}

/** The id was used for another transaction. */
export class OutgoingDiffers extends Error {
  override readonly name = 'OutgoingDiffers'
}

/** Puts a transaction into the queue of its sender; one that is there already stays as it is. */
export async function recordOutgoing(db: Queryable, outgoing: Outgoing, at: Date): Promise<void> {
  const { id, chainId, sender, to, data, value, costMax, purpose } = outgoing
  const inserted = await db`
    insert into outgoing_transactions (id, chain_id, sender, target, data, value, cost_max, purpose, created_at)
    values (${id}, ${chainId}, hex_bytes(${sender}), hex_bytes(${to}), hex_bytes(${data}), ${value.toString()},
      ${costMax.toString()}, ${purpose}, ${at})
    on conflict (id) do nothing returning id`
  if (inserted.length > 0) return
  const same = await db`
    select from outgoing_transactions where id = ${id} and chain_id = ${chainId} and sender = hex_bytes(${sender})
      and target = hex_bytes(${to}) and data = hex_bytes(${data}) and value = ${value.toString()}`
  if (same.length === 0) throw new OutgoingDiffers(`transaction ${id} is in the queue already, and is another one`)
}

const columns = (db: Queryable) => db`
  id, chain_id as "chainId", hex_text(sender) as sender, hex_text(target) as "to", hex_text(data) as data, value,
  cost_max as "costMax", purpose, state, held, reason, nonce, gas_limit as "gasLimit", cancelling, hex_text(transaction_hash) as "transactionHash",
  block_number as "blockNumber", created_at as "createdAt"`

type Loaded = Omit<OutgoingRow, 'value' | 'costMax' | 'gasLimit'> & {
  value: string
  costMax: string
  gasLimit: string | null
}

function parseRow({ value, costMax, gasLimit, ...row }: Loaded): OutgoingRow {
  const amounts = { value: BigInt(value), costMax: BigInt(costMax) }
  return { ...row, ...amounts, gasLimit: gasLimit === null ? null : BigInt(gasLimit) }
}

export async function findOutgoing(db: Queryable, id: string): Promise<OutgoingRow | undefined> {
  const [row] = await db<Loaded[]>`select ${columns(db)} from outgoing_transactions where id = ${id}`
  return row && parseRow(row)
}

/** The newest transactions first, or only those that are not over. */
export async function listOutgoing(
  db: Queryable,
  { chainId, isOpen, limit }: { chainId?: number; isOpen: boolean; limit: number },
): Promise<OutgoingRow[]> {
  const rows = await db<Loaded[]>`
    select ${columns(db)} from outgoing_transactions
    where (${chainId ?? null}::bigint is null or chain_id = ${chainId ?? null})
      and (not ${isOpen}::boolean or state in ('queued', 'sent'))
    order by created_at desc, id limit ${limit}`
  return rows.map(parseRow)
}

/** Those of a sender that are in this state, in the order they go out. */
export async function listOf(
  db: Queryable,
  { chainId, address }: SenderKey,
  state: 'queued' | 'sent',
): Promise<OutgoingRow[]> {
  const rows = await db<Loaded[]>`
    select ${columns(db)} from outgoing_transactions
    where chain_id = ${chainId} and sender = hex_bytes(${address}) and state = ${state}
    order by nonce, created_at, id`
  return rows.map(parseRow)
}

/** All signed forms of a transaction that can still be mined, the newest first. */
export async function listAttempts(
  db: Queryable,
  { id, nonce }: Pick<OutgoingRow, 'id' | 'nonce'>,
): Promise<Attempt[]> {
  const rows = await db<(Omit<Attempt, 'maxFee' | 'tip'> & { maxFee: string; tip: string })[]>`
    select attempt, nonce, head_number as "headNumber", signed_at as "signedAt", is_cancellation as "isCancellation",
      hex_text(hash) as hash, hex_text(raw) as raw, max_fee as "maxFee", tip
    from outgoing_attempts where transaction_id = ${id} and nonce = ${nonce} order by attempt desc`
  return rows.map((row) => ({ ...row, maxFee: BigInt(row.maxFee), tip: BigInt(row.tip) }))
}

/** Takes the sender's row until the transaction ends, and answers its next nonce: never below what the chain counts. */
export async function lockNonce(tx: Transaction, { chainId, address }: SenderKey, counted: number): Promise<number> {
  const [row] = await tx<{ nextNonce: number }[]>`
    insert into senders (chain_id, address, next_nonce) values (${chainId}, hex_bytes(${address}), ${counted})
    on conflict (chain_id, address) do update set next_nonce = greatest(senders.next_nonce, excluded.next_nonce)
    returning next_nonce as "nextNonce"`
  return row?.nextNonce ?? counted
}

/** What a sender's transactions since an instant cost, or may cost. */
export async function sumSpending(db: Queryable, { chainId, address }: SenderKey, since: Date): Promise<bigint> {
  const [row] = await db<{ sum: string }[]>`
    select coalesce(sum(coalesce(cost, reserved)), 0) as sum from outgoing_transactions
    where chain_id = ${chainId} and sender = hex_bytes(${address}) and reserved_at > ${since}`
  return BigInt(row?.sum ?? 0)
}

/** Gives a queued transaction its nonce. False when it is not queued any more. */
export async function takeNonce(
  tx: Transaction,
  { chainId, address }: SenderKey,
  outgoing: { id: string; nonce: number; gasLimit: bigint; reserved: bigint; at: Date },
): Promise<boolean> {
  const { id, nonce, gasLimit, reserved, at } = outgoing
  const taken = await tx`
    update outgoing_transactions set state = 'sent', nonce = ${nonce}, gas_limit = ${gasLimit.toString()}, reason = null,
      held = null, reserved = ${reserved.toString()}, reserved_at = ${at}
    where id = ${id} and state = 'queued' returning id`
  if (taken.length === 0) return false
  await tx`
    update senders set next_nonce = ${nonce + 1} where chain_id = ${chainId} and address = hex_bytes(${address})`
  return true
}

/** Adds a signed form. False when another process has added that one. */
export async function recordAttempt(
  db: Queryable,
  id: string,
  { raw, hash }: Signed,
  attempt: Omit<Attempt, 'raw' | 'hash'>,
): Promise<boolean> {
  const added = await db`
    insert into outgoing_attempts (transaction_id, attempt, nonce, head_number, signed_at, is_cancellation, hash, raw, max_fee, tip)
    values (${id}, ${attempt.attempt}, ${attempt.nonce}, ${attempt.headNumber}, ${attempt.signedAt}, ${attempt.isCancellation},
      hex_bytes(${hash}), hex_bytes(${raw}), ${attempt.maxFee.toString()}, ${attempt.tip.toString()})
    on conflict do nothing returning attempt`
  return added.length > 0
}

/** A dearer form may cost more. Answers what all of its sender's since an instant may cost then. */
export async function raiseReserved(
  tx: Transaction,
  key: SenderKey,
  { id, reserved, since }: { id: string; reserved: bigint; since: Date },
): Promise<bigint> {
  await tx`
    update outgoing_transactions set reserved = greatest(reserved, ${reserved.toString()}::numeric) where id = ${id}`
  return sumSpending(tx, key, since)
}

/** Says how a transaction ended, in the block it was mined in. */
export async function concludeOutgoing(
  db: Queryable,
  id: string,
  end: { state: 'confirmed' | 'reverted' | 'cancelled'; hash: string; blockNumber: number; cost: bigint },
): Promise<void> {
  await db`
    update outgoing_transactions set state = ${end.state}, transaction_hash = hex_bytes(${end.hash}), reason = null,
      block_number = ${end.blockNumber}, cost = ${end.cost.toString()}
    where id = ${id} and state = 'sent'`
}

/** Says why a transaction waits. */
export async function explainWaiting(
  db: Queryable,
  id: string,
  reason: string,
  held: Held | null = null,
): Promise<void> {
  await db`
    update outgoing_transactions set reason = ${reason}, held = case state when 'queued' then ${held}::text end
    where id = ${id} and (reason is distinct from ${reason} or held is distinct from ${held})`
}

/** A queued transaction that would revert is not sent. */
export async function failOutgoing(db: Queryable, id: string, reason: string): Promise<void> {
  await db`update outgoing_transactions set state = 'failed', held = null, reason = ${reason} where id = ${id} and state = 'queued'`
}

/** Back into the queue: another transaction was mined with this nonce. */
export async function requeueOutgoing(db: Queryable, id: string, reason: string): Promise<void> {
  await db`
    update outgoing_transactions set state = case when cancelling then 'cancelled' else 'queued' end, nonce = null,
      gas_limit = null, reserved = null, reserved_at = null, reason = ${reason}
    where id = ${id} and state = 'sent'`
}

/**
 * Cancels what is queued at once; of what is sent it is asked for. Undefined when there is no such transaction, or it is
 * over.
 */
export async function cancelOutgoing(db: Queryable, id: string): Promise<'cancelled' | 'cancelling' | undefined> {
  const [row] = await db<{ state: OutgoingState }[]>`
    update outgoing_transactions set cancelling = true, held = null,
      state = case state when 'queued' then 'cancelled' else state end
    where id = ${id} and state in ('queued', 'sent') returning state`
  return row && (row.state === 'cancelled' ? 'cancelled' : 'cancelling')
}

/** What became of transactions, by id. */
export async function listOutgoingStates(
  db: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Pick<OutgoingRow, 'state' | 'held' | 'reason'>>> {
  if (ids.length === 0) return new Map()
  const rows = await db<Pick<OutgoingRow, 'id' | 'state' | 'held' | 'reason'>[]>`
    select id, state, held, reason from outgoing_transactions where id = any(${[...ids]}::uuid[])`
  return new Map(rows.map(({ id, ...state }) => [id, state]))
}
