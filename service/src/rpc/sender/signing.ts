import { derivedId } from '../../kernel/ids.js'
import { OutboundError } from '../../kernel/outbound.js'
import { inTransaction } from '../../postgres/pool.js'
import { SignerFailed } from '../signer.js'
import { type Bounds, decideOffer, decideSend, pickNonce, toGasLimit } from './decide.js'
import { decideFees, type Fees } from './fees.js'
import { clip, dayMs, type SenderParts, type Situation } from './senderParts.js'
import { encodeUnsigned, type Signed, signOutgoing } from './signed.js'
import {
  type Attempt,
  explainWaiting,
  failOutgoing,
  type Held,
  type OutgoingRow,
  recordAttempt,
  recordFilling,
  recordTaken,
} from './storeOutgoing.js'
import {
  acceptCount,
  listNonces,
  lockSender,
  raiseReserved,
  readSender,
  sumSpending,
  takeNonce,
} from './storeSenders.js'

const emptyGasLeast = 21_000n
/** After this time a signed transaction is sent to the nodes again: they may have dropped it. */
const repeatMs = 15_000

/** Hands a signed form to a node, and remembers whether that took it. A node that cannot be asked is asked again later. */
async function hand(parts: SenderParts, id: string, form: Pick<Attempt, 'raw' | 'hash' | 'taken'>): Promise<void> {
  const { db, clock, log, view, handed } = parts
  if (form.raw === '0x') return
  handed.set(form.hash, clock.monotonicMs())
  try {
    const refusal = await view.broadcast(form.raw)
    if (form.taken !== (refusal === undefined)) await recordTaken(db, form.hash, refusal === undefined)
    if (refusal !== undefined) await explainWaiting(db, id, `the node says: ${clip(refusal)}`)
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    log.warn({ err: error, id }, 'a signed transaction could not be handed to a node; it is tried again')
  }
}

/** Offers a transaction that is not mined again: the same bytes, or another form of it. */
export async function offer(
  parts: SenderParts,
  row: OutgoingRow,
  own: readonly Attempt[],
  situation: Situation,
  maySign: boolean,
): Promise<void> {
  const { db, clock, key, caps, raiseAfterMs, handed } = parts
  const [last] = own
  if (!last) return
  const handedMs = handed.get(last.hash)
  const isHandedLongAgo = handedMs === undefined || clock.monotonicMs() - handedMs >= repeatMs
  const isStuck = clock.now().getTime() - last.signedAt.getTime() >= raiseAfterMs
  const isToCancel = row.cancelling && !last.isCancellation
  if (maySign && (isStuck || isToCancel || last.taken === false || last.raw === '0x')) {
    const isCancellation = row.cancelling || last.isCancellation
    const emptyGas = isCancellation ? await readEmptyGas(parts) : emptyGasLeast
    const gasLimit = row.gasLimit ?? 0n
    const shape = { nonce: last.nonce, gasLimit: isCancellation ? emptyGas : gasLimit, fees: last }
    const posting = await readPosting(parts, isCancellation ? toEmpty(parts, row) : row, shape)
    const spent = await sumSpending(db, key, new Date(clock.now().getTime() - dayMs))
    const ownReserved = row.reserved ?? 0n
    const bounds: Bounds = {
      gasPrice: caps.gasPrice,
      available: situation.balance - situation.reserved + ownReserved,
      dayLeft: caps.spending - spent + ownReserved,
    }
    const decided = decideOffer(row, last, { level: situation.level, bounds, isStuck, gasLimit, emptyGas, posting })
    if (decided.act === 'sign') {
      const signed = await replace(parts, row, last, { ...decided, gasLimit: shape.gasLimit }, situation)
      if (signed) return hand(parts, row.id, { ...signed, taken: null })
    }
    if (decided.act === 'hold') await explainWaiting(db, row.id, decided.why, decided.held)
  }
  if (isHandedLongAgo) await hand(parts, row.id, last)
}

/** An empty transaction of the key in the place of another. */
const toEmpty = ({ key }: SenderParts, row: Pick<OutgoingRow, 'chainId'>) => ({
  ...{ chainId: row.chainId, to: key.address, data: '0x', value: 0n },
})

/** The gas of an empty transaction: more than 21,000 if posting is paid as gas. */
async function readEmptyGas({ chain, view, gasMax }: SenderParts): Promise<bigint> {
  const gas = chain.l1GasInLimit ? await view.estimateEmpty() : undefined
  return toGasLimit(gas ?? 0n, gasMax) || emptyGasLeast
}

async function readPosting(
  { chain, view }: SenderParts,
  { chainId, to, data, value }: Pick<OutgoingRow, 'chainId' | 'to' | 'data' | 'value'>,
  shape: { nonce: number; gasLimit: bigint; fees: Pick<Fees, 'maxFee' | 'tip'> },
): Promise<bigint> {
  return chain.l1GasInLimit ? 0n : view.readPosting(encodeUnsigned({ chainId, to, data, value, ...shape }))
}

/** Signs another form. Undefined where the day has no room for it, or another process signed one. */
async function replace(
  parts: SenderParts,
  row: OutgoingRow,
  last: Attempt,
  {
    fees,
    gasLimit,
    isCancellation,
    reserved,
  }: { fees: Fees; gasLimit: bigint; isCancellation: boolean; reserved: bigint },
  { head }: Situation,
): Promise<Signed | undefined> {
  const { db, clock, key, caps } = parts
  const { nonce } = last
  const at = clock.now()
  const content = isCancellation ? toEmpty(parts, row) : row
  const signed = await sign(parts, { ...content, nonce, gasLimit, fees })
  try {
    return await inTransaction(db, async (tx) => {
      await lockSender(tx, key)
      const spent = await raiseReserved(tx, key, { id: row.id, reserved, since: new Date(at.getTime() - dayMs) })
      if (spent > caps.spending) throw new DayIsSpent()
      const attempt = { attempt: last.attempt + 1, nonce, headNumber: head, signedAt: at, isCancellation, ...fees }
      return (await recordAttempt(tx, row.id, signed, attempt)) ? signed : undefined
    })
  } catch (error) {
    if (error instanceof DayIsSpent) return undefined
    throw error
  }
}

/** Other transactions took what was left of the day meanwhile. */
class DayIsSpent extends Error {
  override readonly name = 'DayIsSpent'
}

/** A signature within the time that is waited for one: the row of the key is held meanwhile. */
async function sign(parts: SenderParts, transaction: Parameters<typeof signOutgoing>[1]): Promise<Signed> {
  const { signer, signMs } = parts
  const late = AbortSignal.timeout(signMs)
  const isLate = new Promise<never>((_, reject) => {
    late.addEventListener('abort', () => reject(new SignerFailed('the signer of the key did not sign in time')), {
      once: true,
    })
  })
  return Promise.race([signOutgoing(signer, transaction), isLate])
}

export type Sent = 'sent' | 'held' | 'over' | 'unread'

/** Sends a queued transaction, if it may be now. */
export async function send(
  parts: SenderParts,
  row: OutgoingRow,
  situation: Situation,
  gap: { isGapSure: boolean },
): Promise<{ outcome: Sent; reserved: bigint }> {
  const { db, clock, log, key, caps, view, gasMax } = parts
  const { level } = situation
  const hold = async (held: Held, why: string) => {
    await explainWaiting(db, row.id, why, held)
    return { outcome: 'held' as const, reserved: 0n }
  }
  const offered = decideFees(level, caps.gasPrice)
  if (!offered)
    return hold('tooDear', `a unit of gas costs ${level.baseFee + level.tip}, and may cost ${caps.gasPrice}`)
  const since = new Date(clock.now().getTime() - dayMs)
  const [estimate, spent] = await Promise.all([view.estimate(row, offered), sumSpending(db, key, since)])
  if ('lack' in estimate) return hold(estimate.of === 'funds' ? 'noFunds' : 'tooDear', estimate.lack)
  if ('revert' in estimate) {
    await failOutgoing(db, row.id, `it would revert ${estimate.revert}`)
    log.warn({ id: row.id, purpose: row.purpose, why: estimate.revert }, 'a transaction would revert: not sent')
    return { outcome: 'over', reserved: 0n }
  }
  const gasLimit = toGasLimit(estimate.gas, gasMax)
  if (gasLimit === undefined) {
    await failOutgoing(db, row.id, `it needs ${estimate.gas} gas, and a transaction may have ${gasMax}`)
    return { outcome: 'over', reserved: 0n }
  }
  const posting = await readPosting(parts, row, { nonce: 0xffff, gasLimit, fees: offered })
  const bounds: Bounds = {
    gasPrice: caps.gasPrice,
    available: situation.balance - situation.reserved,
    dayLeft: caps.spending - spent,
  }
  const decided = decideSend(row, { gasLimit, level, posting, bounds })
  if (decided.act === 'hold') return hold(decided.held, decided.why)
  const { fees, reserved } = decided
  const signed = await signNext(parts, row, { fees, gasLimit, reserved }, { ...situation, ...gap, since })
  if (signed === 'spent') return hold('dayBudget', `it may cost ${reserved}, and less is left of the day`)
  if (!signed) return { outcome: 'over', reserved: 0n }
  await hand(parts, row.id, { ...signed, taken: null })
  return { outcome: 'sent', reserved }
}

/** Gives a transaction its nonce, signs it and writes it down: all of it, or nothing. Undefined: it is not queued any more. */
async function signNext(
  parts: SenderParts,
  row: OutgoingRow,
  { fees, gasLimit, reserved }: { fees: Fees; gasLimit: bigint; reserved: bigint },
  { head, counted, isGapSure, since }: Situation & { isGapSure: boolean; since: Date },
): Promise<Signed | 'spent' | undefined> {
  const { db, clock, key, caps } = parts
  const at = clock.now()
  return inTransaction(db, async (tx) => {
    await lockSender(tx, key)
    if ((await sumSpending(tx, key, since)) + reserved > caps.spending) return 'spent'
    const nonce = await readNonce(tx, parts, { counted, isGapSure })
    if (!(await takeNonce(tx, { id: row.id, nonce, gasLimit, reserved, at }))) return undefined
    const signed = await sign(parts, { ...row, nonce, gasLimit, fees })
    const attempt = { attempt: 1, nonce, headNumber: head, signedAt: at, isCancellation: false, ...fees }
    await recordAttempt(tx, row.id, signed, attempt)
    return signed
  })
}

async function readNonce(
  tx: Parameters<typeof lockSender>[0],
  { key }: SenderParts,
  { counted, isGapSure }: { counted: number; isGapSure: boolean },
): Promise<number> {
  const { next } = await readSender(tx, key)
  // The count before the first of our own is kept with that one alone.
  if (next === undefined) await acceptCount(tx, key, counted)
  return pickNonce({ counted, next: next ?? counted, isGapSure }, isGapSure ? await listNonces(tx, key, counted) : [])
}

/** Fills a gap below a transaction that waits, by an empty one: nothing behind a gap is mined. */
export async function fillGap(parts: SenderParts, nonce: number, situation: Situation): Promise<void> {
  const { db, clock, key, caps, log } = parts
  const { chainId, address } = key
  const outgoing = {
    ...{ id: derivedId(`fills:${chainId}:${address}:${nonce}:${situation.head}`), chainId, sender: address },
    ...{ ...toEmpty(parts, key), costMax: caps.spending, purpose: `fills nonce ${nonce}` },
  }
  const gasLimit = await readEmptyGas(parts)
  const shape = { nonce, gasLimit, fees: { maxFee: situation.level.baseFee, tip: situation.level.tip } }
  const posting = await readPosting(parts, outgoing, shape)
  const at = clock.now()
  const since = new Date(at.getTime() - dayMs)
  const signed = await inTransaction(db, async (tx) => {
    await lockSender(tx, key)
    const dayLeft = caps.spending - (await sumSpending(tx, key, since))
    const bounds: Bounds = { gasPrice: caps.gasPrice, available: situation.balance - situation.reserved, dayLeft }
    const decided = decideSend(outgoing, { gasLimit, level: situation.level, posting, bounds })
    if (decided.act !== 'sign' || (await listNonces(tx, key, nonce)).includes(nonce)) return undefined
    const { fees, reserved } = decided
    await recordFilling(tx, outgoing, { nonce, gasLimit, reserved, at })
    const form = await sign(parts, { ...outgoing, nonce, gasLimit, fees })
    const attempt = { attempt: 1, nonce, headNumber: situation.head, signedAt: at, isCancellation: false, ...fees }
    await recordAttempt(tx, outgoing.id, form, attempt)
    return form
  })
  if (!signed) return
  log.warn({ nonce }, 'a gap of nonces is filled by an empty transaction')
  await hand(parts, outgoing.id, { ...signed, taken: null })
}
