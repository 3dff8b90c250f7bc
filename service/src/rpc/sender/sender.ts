import type { Context } from '../../postgres/context.js'
import { inTransaction } from '../../postgres/pool.js'
import { readHead } from '../blocks.js'
import { type Chain, getTransactionGasCap } from '../chains.js'
import type { Header } from '../raw.js'
import type { Signer } from '../signer.js'
import { createChainView } from './chainView.js'
import { computePriceMax, decideFees, type FeeLevel, type Fees, raiseFees, smaller } from './fees.js'
import { signOutgoing } from './signed.js'
import {
  type Attempt,
  concludeOutgoing,
  explainWaiting,
  failOutgoing,
  type Held,
  listAttempts,
  listOf,
  lockNonce,
  type OutgoingRow,
  raiseReserved,
  recordAttempt,
  requeueOutgoing,
  sumSpending,
  takeNonce,
} from './storeOutgoing.js'

/** What transactions may cost, in the smallest unit of the native token. */
export type SenderCaps = {
  /** The most a unit of gas may cost: above it nothing is sent. */
  gasPrice: bigint
  /** The most that all of 24 hours may cost. */
  spending: bigint
}

export type SenderOptions = {
  chain: Chain
  signer: Signer
  caps: SenderCaps
  /** After so long without being mined a transaction is offered for more. Default 30,000. */
  raiseAfterMs?: number
  /** Transactions that wait to be mined at a time. Default 8. */
  inFlightMax?: number
}

export type Sender = {
  /** Looks at what was sent, offers more where it is stuck, and sends what is queued. Any number of processes may do it. */
  step(): Promise<void>
}

const dayMs = 86_400_000
const cancellationGas = 21_000n
/** A signed transaction is handed to the nodes again after so long: they may have forgotten it. */
const repeatMs = 15_000

/**
 * Sends the transactions of one key on one chain, in order, each once. A transaction is signed and written down in one
 * database transaction with its nonce and only then handed to a node, so a process may end between any two lines.
 */
export function createSender(ctx: Pick<Context, 'db' | 'clock' | 'log'>, options: SenderOptions): Sender {
  const { db, clock } = ctx
  const { chain, signer, caps, raiseAfterMs = 30_000, inFlightMax = 8 } = options
  const { chainId } = chain
  const key = { chainId, address: signer.address }
  const log = ctx.log.child({ chainId, sender: signer.address })
  const view = createChainView(chain, signer.address)
  const gasMax = getTransactionGasCap(chain)
  /** When this process handed which form to a node. */
  const handed = new Map<string, number>()

  const hand = async (id: string, { raw, hash }: Pick<Attempt, 'raw' | 'hash'>): Promise<void> => {
    handed.set(hash, clock.monotonicMs())
    const refusal = await view.broadcast(raw)
    if (refusal !== undefined) await explainWaiting(db, id, `the node says: ${clip(refusal)}`)
  }

  /** Says how a transaction ended whose nonce was used, once that is as deep as the chain's confirmations. */
  const settle = async (row: OutgoingRow, head: Header): Promise<void> => {
    const attempts = await listAttempts(db, row)
    for (const { hash, isCancellation } of attempts) {
      const mined = await view.findMined(hash)
      if (!mined) continue
      if (head.number - mined.blockNumber + 1 < chain.confirmations) return
      const state = isCancellation ? 'cancelled' : mined.success ? 'confirmed' : 'reverted'
      const cost = mined.cost + (state === 'confirmed' ? row.value : 0n)
      await concludeOutgoing(db, row.id, { ...mined, cost, state })
      for (const each of attempts) handed.delete(each.hash)
      log.info({ id: row.id, hash, state }, 'a transaction is over')
      return
    }
    const nonce = row.nonce ?? 0
    const deep = head.number - chain.confirmations + 1
    if (deep < 0 || (await view.count(deep)) <= nonce) return
    // Only what was mined in its place proves that it never will be: a node may have lost a receipt.
    const above = Math.min(...attempts.map(({ headNumber }) => headNumber))
    const taker = await view.findTaker(nonce, above, deep)
    if (taker === undefined)
      await explainWaiting(db, row.id, `nonce ${nonce} was used, and the nodes do not tell by which transaction`)
    else if (!attempts.some(({ hash }) => hash === taker)) {
      await requeueOutgoing(db, row.id, `nonce ${nonce} was used by another transaction, ${taker}`)
      log.warn({ id: row.id, nonce, taker }, 'a nonce was used by another transaction of the key')
    }
  }

  /** Offers a transaction that is not mined again: for more where it is stuck, empty where it is to be cancelled. */
  const offer = async (row: OutgoingRow, level: FeeLevel, head: Header): Promise<void> => {
    const attempts = await listAttempts(db, row)
    const [last] = attempts
    if (!last) return
    const isCancelled = attempts.some(({ isCancellation }) => isCancellation)
    const isStuck = clock.now().getTime() - last.signedAt.getTime() >= raiseAfterMs
    if (isStuck || (row.cancelling && !isCancelled)) {
      const priceMax = findPriceMax(row, row.cancelling || last.isCancellation)
      const fees = raiseFees(last, level, priceMax)
      if (fees) return replace(row, last, fees, head)
      await explainWaiting(db, row.id, `more than ${priceMax} for a unit of gas would have to be offered`)
    }
    const handedMs = handed.get(last.hash)
    if (handedMs === undefined || clock.monotonicMs() - handedMs >= repeatMs) await hand(row.id, last)
  }

  /** The most that may be offered for a unit of gas: by the caps of the key, and by the transaction's own. */
  const findPriceMax = (row: OutgoingRow, isCancellation: boolean): bigint => {
    const gasLimit = isCancellation ? cancellationGas : (row.gasLimit ?? cancellationGas)
    const own = computePriceMax(isCancellation ? { ...row, value: 0n } : row, { gasLimit, posting: 0n })
    return smaller(own, caps.gasPrice)
  }

  const replace = async (row: OutgoingRow, last: Attempt, fees: Fees, head: Header): Promise<void> => {
    const { nonce } = last
    const isCancellation = row.cancelling || last.isCancellation
    const gasLimit = isCancellation ? cancellationGas : (row.gasLimit ?? 0n)
    const empty = { to: signer.address, data: '0x', value: 0n }
    const signed = await signOutgoing(signer, { ...(isCancellation ? empty : row), chainId, nonce, gasLimit, fees })
    const attempt = { attempt: last.attempt + 1, nonce, headNumber: head.number, signedAt: clock.now() }
    const reserved = (isCancellation ? 0n : row.value) + gasLimit * fees.maxFee
    const isOurs = await inTransaction(db, async (tx) => {
      await lockNonce(tx, key, 0)
      const spent = await raiseReserved(tx, key, {
        id: row.id,
        reserved,
        since: new Date(clock.now().getTime() - dayMs),
      })
      if (spent > caps.spending)
        throw new TooDear(`with ${reserved} for this one ${spent} would be spent of ${caps.spending} a day`)
      return recordAttempt(tx, row.id, signed, { ...attempt, isCancellation, ...fees })
    }).catch(async (error: unknown) => {
      if (!(error instanceof TooDear)) throw error
      await explainWaiting(db, row.id, error.message)
      return false
    })
    if (isOurs) await hand(row.id, signed)
  }

  /** Sends a queued transaction. False when it has to wait: those behind it do not. */
  const send = async (row: OutgoingRow, level: FeeLevel, head: Header): Promise<boolean> => {
    const wait = async (held: Held, reason: string): Promise<false> => {
      await explainWaiting(db, row.id, reason, held)
      return false
    }
    const price = level.baseFee + level.tip
    const offered = decideFees(level, caps.gasPrice)
    if (!offered) return wait('tooDear', `a unit of gas costs ${price}, and may cost ${caps.gasPrice}`)
    const estimate = await view.estimate(row, offered)
    if ('lack' in estimate) return wait('noFunds', estimate.lack)
    if ('revert' in estimate) {
      await failOutgoing(db, row.id, `it would revert ${estimate.revert}`)
      log.warn({ id: row.id, purpose: row.purpose, why: estimate.revert }, 'a transaction would revert: not sent')
      return false
    }
    if (estimate.gas > gasMax) {
      await failOutgoing(db, row.id, `it needs ${estimate.gas} gas, and a transaction may have ${gasMax}`)
      return false
    }
    const gasLimit = smaller((estimate.gas * 5n) / 4n, gasMax)
    const priceMax = computePriceMax(row, { gasLimit, posting: 0n })
    const fees = decideFees(level, smaller(priceMax, caps.gasPrice))
    if (!fees) return wait('tooDear', `it may cost ${row.value + gasLimit * price}, and its own cap is ${row.costMax}`)
    const reserved = row.value + gasLimit * fees.maxFee
    const counted = await view.count('latest')
    const at = clock.now()
    const sent = await inTransaction(db, async (tx) => {
      const nonce = await lockNonce(tx, key, counted)
      const spent = await sumSpending(tx, key, new Date(at.getTime() - dayMs))
      if (spent + reserved > caps.spending)
        return `it may cost ${reserved}, and of ${caps.spending} a day ${spent} are spent`
      if (!(await takeNonce(tx, key, { id: row.id, nonce, gasLimit, reserved, at }))) return undefined
      const signed = await signOutgoing(signer, { ...row, nonce, gasLimit, fees })
      const attempt = { attempt: 1, nonce, headNumber: head.number, signedAt: at, isCancellation: false, ...fees }
      await recordAttempt(tx, row.id, signed, attempt)
      return signed
    })
    if (typeof sent === 'string') return wait('dayBudget', sent)
    if (sent) await hand(row.id, sent)
    return true
  }

  return {
    step: async () => {
      const [open, queued] = await Promise.all([listOf(db, key, 'sent'), listOf(db, key, 'queued')])
      if (open.length + queued.length === 0) return
      const [head, counted, level] = await Promise.all([readHead(chain), view.count('latest'), view.readFeeLevel()])
      let waiting = 0
      for (const row of open) {
        if ((row.nonce ?? 0) < counted) await settle(row, head)
        else {
          waiting += 1
          await offer(row, level, head)
        }
      }
      for (const row of queued) {
        if (waiting >= inFlightMax) return
        if (await send(row, level, head)) waiting += 1
      }
    },
  }
}

/** A day's spending would be exceeded. */
class TooDear extends Error {
  override readonly name = 'TooDear'
}

/** What a node says may be long, and of many lines. */
function clip(text: string): string {
  return text.replace(/\s+/g, ' ').slice(0, 200)
}
