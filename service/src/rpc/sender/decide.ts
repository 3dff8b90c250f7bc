import { computePriceMax, decideFees, type FeeLevel, type Fees, raiseFees, smaller } from './fees.js'
import type { Attempt, Held, Outgoing, OutgoingRow } from './storeOutgoing.js'

/** How a transaction was mined; `cost` is all that its sender paid beyond the value, in wei. */
export type Mined = { hash: string; blockNumber: number; success: boolean; cost: bigint }

/** A transaction of the key as the chain has it. */
export type Taker = {
  hash: string
  nonce: number
  to: string | null
  data: string
  value: bigint
  gasLimit: bigint
  fees: Fees
  blockNumber: number
}

/** Where the chain stands: its head, and how many transactions of the key are mined. */
export type Standing = { head: number; counted: number; confirmations: number; finalityDepth: number }

export type End = { state: 'confirmed' | 'reverted' | 'cancelled'; hash: string; blockNumber: number; cost: bigint }

export type RowAct =
  | { act: 'wait' }
  /** Its end, or where its end stands now. */
  | { act: 'conclude'; end: End }
  | { act: 'finish' }
  /** It is not on the chain any more: its kept bytes go out again. */
  | { act: 'reopen' }
  | { act: 'offer' }
  /** The nonce is used, and no form that is known was mined. */
  | { act: 'findTaker' }

/** Decides on a transaction that has a nonce, by the state of its forms at a node. Pure. */
export function decideRow(
  row: Pick<OutgoingRow, 'state' | 'nonce' | 'value' | 'transactionHash' | 'blockNumber' | 'cost'>,
  { mined, isCancellation }: { mined: Mined | undefined; isCancellation: boolean },
  { head, counted, confirmations, finalityDepth }: Standing,
): RowAct {
  const isOver = row.state !== 'sent'
  const isCounted = (row.nonce ?? 0) < counted
  if (!mined) {
    if (isOver) return { act: 'reopen' }
    return { act: isCounted ? 'findTaker' : 'offer' }
  }
  const depth = head - mined.blockNumber + 1
  if (depth < confirmations && !isOver) return { act: 'wait' }
  const state = isCancellation ? 'cancelled' : mined.success ? 'confirmed' : 'reverted'
  const cost = mined.cost + (state === 'confirmed' ? row.value : 0n)
  const end: End = { state, hash: mined.hash, blockNumber: mined.blockNumber, cost }
  const isSame =
    row.state === state &&
    row.transactionHash === end.hash &&
    row.blockNumber === end.blockNumber &&
    row.cost === end.cost
  if (!isSame) return { act: 'conclude', end }
  // A node that counts the nonce as unused says that the block is gone, whatever its receipt says.
  return { act: depth > finalityDepth && isCounted ? 'finish' : 'wait' }
}

export type TakenAct =
  /** A form of this transaction that is not kept: a database from before it was signed. */
  | { act: 'adopt'; isCancellation: boolean }
  /** Another one took the nonce for good: this one is sent with another. */
  | { act: 'requeue'; why: string }
  | { act: 'wait'; why: string; isForeign: boolean }

/** Decides on a transaction whose nonce is used, by the transaction that used it. Pure. */
export function decideTaken(
  row: Pick<OutgoingRow, 'nonce' | 'sender' | 'to' | 'data' | 'value' | 'cancelling'>,
  { taker, ownHashes, isSure }: { taker: Taker | undefined; ownHashes: readonly string[]; isSure: boolean },
  { head, finalityDepth }: Pick<Standing, 'head' | 'finalityDepth'>,
): TakenAct {
  const used = `nonce ${row.nonce} was used`
  if (!taker) return { act: 'wait', isForeign: false, why: `${used}, and the nodes do not tell by which transaction` }
  if (ownHashes.includes(taker.hash))
    return { act: 'wait', isForeign: false, why: `${used} by ${taker.hash}, and its receipt is awaited` }
  if (!isSure) return { act: 'wait', isForeign: true, why: `${used} by another transaction, as one node says` }
  if (hasContent(taker, row)) return { act: 'adopt', isCancellation: false }
  if (row.cancelling && isEmpty({ ...taker, sender: row.sender })) return { act: 'adopt', isCancellation: true }
  const why = `${used} by another transaction, ${taker.hash}`
  return head - taker.blockNumber + 1 > finalityDepth
    ? { act: 'requeue', why }
    : { act: 'wait', isForeign: true, why: `${why}; it is sent again once that is final` }
}

/** Whether a transaction does the same as one of the queue. */
export function hasContent(taker: Pick<Taker, 'to' | 'data' | 'value'>, row: Pick<Outgoing, 'to' | 'data' | 'value'>) {
  return taker.to === row.to && taker.data === row.data && taker.value === row.value
}

/** Whether a transaction does nothing but use its nonce. */
export function isEmpty({
  to,
  data,
  value,
  sender,
}: {
  to: string | null
  data: string
  value: bigint
  sender: string
}) {
  return to === sender && data === '0x' && value === 0n
}

/** The state of a key: the number of its transactions at the nodes, and the next nonce by our own records. */
export type KeyState = {
  /** Undefined where the key was never used here. */
  next: number | undefined
  latest: number
  /** With those that wait to be mined. */
  pending: number
  isSure: boolean
  /** Since when an operator lets the key go on, in milliseconds; undefined where none does. */
  releasedMs: number | undefined
}

export type KeyAct =
  | { act: 'go' }
  /** The transactions up to this count are accepted, once those of them that are in the queue are known. */
  | { act: 'accept'; count: number }
  /** Nothing is signed now. */
  | { act: 'doubt'; why: string }
  /** Transactions of the key are not ours: nothing is signed until they are gone, or an operator lets it go on. */
  | { act: 'stop'; why: string }

/** The wait of a released key for transactions that are on their way: once mined, they can be compared with the queue. */
const onTheirWayMs = 600_000

/** Whether transactions may be signed with a key. Pure. */
export function decideKey({ next, latest, pending, isSure, releasedMs }: KeyState): KeyAct {
  const most = Math.max(latest, pending)
  const own = next ?? latest
  if (most <= own && next !== undefined) return { act: 'go' }
  if (!isSure) return { act: 'doubt', why: `a node counts ${most} transactions of the key: another word is awaited` }
  if (most <= own) return { act: 'accept', count: latest }
  if (releasedMs !== undefined && (pending <= latest || releasedMs >= onTheirWayMs))
    return { act: 'accept', count: most }
  const which = most - own === 1 ? `the transaction of nonce ${own}` : `transactions of nonces ${own} to ${most - 1}`
  return { act: 'stop', why: `${which} of this key ${most > latest ? 'are on their way' : 'are mined'} and not ours` }
}

/**
 * The nonce of the next transaction: the first one that is free where a gap is known to be one, else the one after all.
 * Pure.
 */
export function pickNonce(
  { counted, next, isGapSure }: { counted: number; next: number; isGapSure: boolean },
  used: readonly number[],
): number {
  if (!isGapSure) return Math.max(next, counted)
  const taken = new Set(used)
  let nonce = counted
  while (taken.has(nonce)) nonce += 1
  return nonce
}

/** Spending limits in wei: the price of a unit of gas, the key's available funds, the rest of the day's budget. */
export type Bounds = { gasPrice: bigint; available: bigint; dayLeft: bigint }

export type OfferAct =
  /** The same bytes again. */
  | { act: 'hand' }
  | { act: 'sign'; fees: Fees; isCancellation: boolean; reserved: bigint }
  | { act: 'hold'; held: Held; why: string }

/**
 * Decides on a transaction that waits to be mined: nothing, a form with a higher fee if it is stuck, an empty form if it is to
 * be cancelled, or a form with a lower fee if no node accepted the last one and the price fell. Pure.
 */
export function decideOffer(
  row: Pick<OutgoingRow, 'value' | 'costMax' | 'cancelling'>,
  last: Pick<Attempt, 'isCancellation' | 'maxFee' | 'tip' | 'taken' | 'raw'>,
  given: {
    level: FeeLevel
    bounds: Bounds
    /** Since the last form was signed. */
    isStuck: boolean
    /** Gas of the transaction, and of an empty one. */
    gasLimit: bigint
    emptyGas: bigint
    posting: bigint
  },
): OfferAct {
  const { level, bounds, isStuck, posting } = given
  const isCancellation = row.cancelling || last.isCancellation
  const [gasLimit, value] = isCancellation ? [given.emptyGas, 0n] : [given.gasLimit, row.value]
  const budget = smaller(row.costMax, smaller(bounds.available, bounds.dayLeft))
  const priceMax = smaller(bounds.gasPrice, computePriceMax({ costMax: budget, value }, { gasLimit, posting }))
  const sign = (fees: Fees): OfferAct => ({
    ...{ act: 'sign', fees, isCancellation },
    reserved: value + gasLimit * fees.maxFee + posting,
  })
  const present = decideFees(level, priceMax)
  if (last.taken === false && last.isCancellation === isCancellation && present) {
    if (present.maxFee * 8n <= last.maxFee * 7n) return sign(present)
  }
  const isNew = isCancellation && !last.isCancellation
  if (!isStuck && !isNew && last.raw !== '0x') return { act: 'hand' }
  const raised = raiseFees(last, level, priceMax)
  if (raised) return sign(raised)
  const least = raiseFees(last, level, 2n ** 256n)?.maxFee ?? 0n
  const needed = value + gasLimit * least + posting
  if (least <= bounds.gasPrice && needed <= row.costMax) {
    if (needed > bounds.available)
      return { act: 'hold', held: 'noFunds', why: `it may cost ${needed}, and the key has ${bounds.available} for it` }
    if (needed > bounds.dayLeft)
      return { act: 'hold', held: 'dayBudget', why: `it may cost ${needed}, and ${bounds.dayLeft} of the day are left` }
  }
  return { act: 'hold', held: 'tooDear', why: `more than ${priceMax} for a unit of gas would have to be offered` }
}

export type SendAct = { act: 'sign'; fees: Fees; reserved: bigint } | { act: 'hold'; held: Held; why: string }

/** The gas limit of what is estimated to need so much: a quarter more. Undefined where it needs more than it may have. Pure. */
export function toGasLimit(gas: bigint, gasMax: bigint): bigint | undefined {
  return gas > gasMax ? undefined : smaller((gas * 5n) / 4n, gasMax)
}

/**
 * Whether a queued transaction is signed now, and at what fees: as much as its cap, the key's funds and the day's budget
 * allow, at least the present price. The check uses the signed gas limit. Pure.
 */
export function decideSend(
  row: Pick<Outgoing, 'value' | 'costMax'>,
  { gasLimit, level, posting, bounds }: { gasLimit: bigint; level: FeeLevel; posting: bigint; bounds: Bounds },
): SendAct {
  const hold = (held: Held, why: string): SendAct => ({ act: 'hold', held, why })
  const price = level.baseFee + level.tip
  if (price > bounds.gasPrice) return hold('tooDear', `a unit of gas costs ${price}, and may cost ${bounds.gasPrice}`)
  const least = row.value + gasLimit * price + posting
  if (least > row.costMax) return hold('tooDear', `it may cost ${least}, and its own cap is ${row.costMax}`)
  if (least > bounds.available)
    return hold('noFunds', `it may cost ${least}, and the sender holds ${bounds.available} that is free for it`)
  if (least > bounds.dayLeft)
    return hold('dayBudget', `it may cost ${least}, and of what is allowed a day ${bounds.dayLeft} are left`)
  const budget = smaller(row.costMax, smaller(bounds.available, bounds.dayLeft))
  const own = computePriceMax({ costMax: budget, value: row.value }, { gasLimit, posting })
  const fees = decideFees(level, smaller(own, bounds.gasPrice))
  if (!fees) return hold('tooDear', `a unit of gas costs ${price}, and may cost ${own}`)
  return { act: 'sign', fees, reserved: row.value + gasLimit * fees.maxFee + posting }
}
