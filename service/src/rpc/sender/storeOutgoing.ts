import type { Queryable, Transaction } from '../../postgres/pool.js'
import type { Signed } from './signed.js'

/** Whose queue. */
export type SenderKey = { chainId: number; address: string }

/** A transaction to be sent. Addresses and data are lower-case. */
export type Outgoing = {
  /** Chosen by the caller: the same id is sent once. */
  id: string
  chainId: number
  sender: string
  to: string
  data: string
  value: bigint
  /** The most it may cost, in wei: gas limit × price, value, and what posting it to another chain costs. */
  costMax: bigint
  /** Its purpose, in a few words. */
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
  /** The most it may cost in the forms that are signed. */
  reserved: bigint | null
  /** The block it was mined in is final. */
  isFinal: boolean
  /** The amount its sender paid, value included. */
  cost: bigint | null
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
  /** `0x` where its bytes are not known here. */
  raw: string
  /** Whether a node took it when it was last handed to one; null: not known. */
  taken: boolean | null
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
  cost_max as "costMax", purpose, state, held, reason, nonce, gas_limit as "gasLimit", cancelling,
  reserved, is_final as "isFinal", cost, hex_text(transaction_hash) as "transactionHash",
  block_number as "blockNumber", created_at as "createdAt"`

type Amounts = 'value' | 'costMax' | 'gasLimit' | 'reserved' | 'cost'
type Loaded = Omit<OutgoingRow, Amounts> & {
  value: string
  costMax: string
  gasLimit: string | null
  reserved: string | null
  cost: string | null
}

function parseRow({ value, costMax, gasLimit, reserved, cost, ...row }: Loaded): OutgoingRow {
  const find = (amount: string | null) => (amount === null ? null : BigInt(amount))
  const amounts = { gasLimit: find(gasLimit), reserved: find(reserved), cost: find(cost) }
  return { ...row, value: BigInt(value), costMax: BigInt(costMax), ...amounts }
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

/** Those of a sender that wait for a nonce, in the order they go out. */
export async function listQueued(db: Queryable, { chainId, address }: SenderKey): Promise<OutgoingRow[]> {
  const rows = await db<Loaded[]>`
    select ${columns(db)} from outgoing_transactions
    where chain_id = ${chainId} and sender = hex_bytes(${address}) and state = 'queued' order by created_at, id`
  return rows.map(parseRow)
}

/** Those of a sender that have a nonce and are not final, and final ones from a nonce on, by nonce. */
export async function listWatched(
  db: Queryable,
  { chainId, address }: SenderKey,
  from: number,
): Promise<OutgoingRow[]> {
  const rows = await db<Loaded[]>`
    select ${columns(db)} from outgoing_transactions
    where chain_id = ${chainId} and sender = hex_bytes(${address}) and nonce is not null and (not is_final or nonce >= ${from})
    order by nonce`
  return rows.map(parseRow)
}

/** Whether a sender has anything that is not over for good. */
export async function hasUnfinished(db: Queryable, { chainId, address }: SenderKey): Promise<boolean> {
  const [row] = await db<{ has: boolean }[]>`
    select exists (select from outgoing_transactions where chain_id = ${chainId} and sender = hex_bytes(${address})
        and nonce is not null and not is_final)
      or exists (select from outgoing_transactions where chain_id = ${chainId} and sender = hex_bytes(${address})
        and state in ('queued', 'sent')) as has`
  return row?.has === true
}

/** All signed forms of transactions that can still be mined, by the transaction, the newest first. */
export async function listAttempts(
  db: Queryable,
  rows: readonly Pick<OutgoingRow, 'id' | 'nonce'>[],
): Promise<ReadonlyMap<string, Attempt[]>> {
  const found = await db<(Omit<Attempt, 'maxFee' | 'tip'> & { id: string; maxFee: string; tip: string })[]>`
    select a.transaction_id as id, attempt, a.nonce, head_number as "headNumber", signed_at as "signedAt",
      is_cancellation as "isCancellation", hex_text(hash) as hash, hex_text(raw) as raw, taken, max_fee as "maxFee", tip
    from outgoing_attempts a join outgoing_transactions t on t.id = a.transaction_id and t.nonce = a.nonce
    where a.transaction_id = any(${rows.map(({ id }) => id)}::uuid[]) order by attempt desc`
  const byId = new Map<string, Attempt[]>(rows.map(({ id }) => [id, []]))
  for (const { id, maxFee, tip, ...attempt } of found)
    byId.get(id)?.push({ ...attempt, maxFee: BigInt(maxFee), tip: BigInt(tip) })
  return byId
}

/** Adds a signed form. False when another process has added that one. */
export async function recordAttempt(
  db: Queryable,
  id: string,
  { raw, hash }: Signed,
  attempt: Omit<Attempt, 'raw' | 'hash' | 'taken'>,
): Promise<boolean> {
  const added = await db`
    insert into outgoing_attempts (transaction_id, attempt, nonce, head_number, signed_at, is_cancellation, hash, raw, max_fee, tip)
    values (${id}, ${attempt.attempt}, ${attempt.nonce}, ${attempt.headNumber}, ${attempt.signedAt}, ${attempt.isCancellation},
      hex_bytes(${hash}), hex_bytes(${raw}), ${attempt.maxFee.toString()}, ${attempt.tip.toString()})
    on conflict do nothing returning attempt`
  return added.length > 0
}

/** Records the end of a transaction, or its new block. Its cost counts against the day's budget from its first end on. */
export async function concludeOutgoing(
  db: Queryable,
  { id, nonce }: Pick<OutgoingRow, 'id' | 'nonce'>,
  end: { state: 'confirmed' | 'reverted' | 'cancelled'; hash: string; blockNumber: number; cost: bigint },
  at: Date,
): Promise<void> {
  await db`
    update outgoing_transactions set state = ${end.state}, transaction_hash = hex_bytes(${end.hash}), reason = null, held = null,
      block_number = ${end.blockNumber}, cost = ${end.cost.toString()},
      reserved_at = case state when 'sent' then ${at} else reserved_at end
    where id = ${id} and nonce = ${nonce}`
}

/** Its block is final: it is not looked at any more. */
export async function finishOutgoing(db: Queryable, { id, transactionHash }: OutgoingRow): Promise<void> {
  await db`
    update outgoing_transactions set is_final = true where id = ${id} and transaction_hash = hex_bytes(${transactionHash})`
}

/** A reorganisation dropped it: it waits to be mined again. False when another process has seen to it. */
export async function reopenOutgoing(db: Queryable, { id, transactionHash }: OutgoingRow): Promise<boolean> {
  const reopened = await db`
    update outgoing_transactions set state = 'sent', transaction_hash = null, block_number = null, cost = null,
      is_final = false, reason = 'a reorganisation dropped it'
    where id = ${id} and transaction_hash = hex_bytes(${transactionHash}) returning id`
  return reopened.length > 0
}

/** Remembers whether a node took a form. */
export async function recordTaken(db: Queryable, hash: string, taken: boolean): Promise<void> {
  await db`
    update outgoing_attempts set taken = ${taken} where hash = hex_bytes(${hash}) and taken is distinct from ${taken}`
}

/** Puts a transaction that only fills a nonce among those that are sent. */
export async function recordFilling(
  tx: Transaction,
  outgoing: Outgoing,
  { nonce, gasLimit, reserved, at }: { nonce: number; gasLimit: bigint; reserved: bigint; at: Date },
): Promise<void> {
  await recordOutgoing(tx, outgoing, at)
  await tx`
    update outgoing_transactions set state = 'sent', nonce = ${nonce}, gas_limit = ${gasLimit.toString()},
      reserved = ${reserved.toString()}, reserved_at = ${at}
    where id = ${outgoing.id}`
}

/** Says why a transaction waits. */
export async function explainWaiting(
  db: Queryable,
  id: string,
  reason: string,
  held: Held | null = null,
): Promise<void> {
  await db`
    update outgoing_transactions set reason = ${reason}, held = ${held}
    where id = ${id} and (reason is distinct from ${reason} or held is distinct from ${held})`
}

/** A queued transaction that would revert is not sent. */
export async function failOutgoing(db: Queryable, id: string, reason: string): Promise<void> {
  await db`update outgoing_transactions set state = 'failed', held = null, reason = ${reason} where id = ${id} and state = 'queued'`
}

/** Back into the queue: another transaction was mined with this nonce. One that only fills a nonce is not needed any more. */
export async function requeueOutgoing(db: Queryable, id: string, reason: string): Promise<void> {
  await db`
    update outgoing_transactions set nonce = null, gas_limit = null, reserved = null, reserved_at = null, held = null,
      state = case when cancelling or (target = sender and data = '' and value = 0) then 'cancelled' else 'queued' end,
      reason = ${reason}
    where id = ${id} and state = 'sent'`
}

/** The id of the sender's transaction with this content and without a nonce: a queued one, else the newest that is over. */
export async function findUnsent(
  db: Queryable,
  { chainId, address }: SenderKey,
  { to, data, value }: { to: string | null; data: string; value: bigint },
): Promise<string | undefined> {
  const [row] = await db<{ id: string }[]>`
    select id from outgoing_transactions
    where chain_id = ${chainId} and sender = hex_bytes(${address}) and nonce is null
      and target = hex_bytes(${to}) and data = hex_bytes(${data}) and value = ${value.toString()}
    order by state = 'queued' desc, created_at desc limit 1`
  return row?.id
}

/** Gives a transaction without a nonce the nonce it was mined with. Returns false if it has one. */
export async function adoptOutgoing(
  tx: Transaction,
  { id, nonce, gasLimit, reserved, at }: { id: string; nonce: number; gasLimit: bigint; reserved: bigint; at: Date },
): Promise<boolean> {
  const adopted = await tx`
    update outgoing_transactions set state = 'sent', cancelling = false, nonce = ${nonce}, gas_limit = ${gasLimit.toString()},
      reason = null, held = null, reserved = ${reserved.toString()}, reserved_at = ${at}
    where id = ${id} and nonce is null returning id`
  return adopted.length > 0
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

/** States of transactions, by id. */
export async function listOutgoingStates(
  db: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Pick<OutgoingRow, 'state' | 'held' | 'reason'>>> {
  if (ids.length === 0) return new Map()
  const rows = await db<Pick<OutgoingRow, 'id' | 'state' | 'held' | 'reason'>[]>`
    select id, state, held, reason from outgoing_transactions where id = any(${[...ids]}::uuid[])`
  return new Map(rows.map(({ id, ...state }) => [id, state]))
}
