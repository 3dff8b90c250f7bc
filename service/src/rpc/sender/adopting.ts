import { inTransaction, type Transaction } from '../../postgres/pool.js'
import { RpcError } from '../rpc.js'
import { isEmpty, type Standing, type Taker } from './decide.js'
import type { SenderParts } from './senderParts.js'
import { type Attempt, adoptOutgoing, findUnsent, recordAttempt, requeueOutgoing } from './storeOutgoing.js'
import { acceptCount, lockSender } from './storeSenders.js'

/**
 * A database can be older than the chain: it was restored, or it is new to a key that has sent before. Transactions of its
 * queue may be mined already, and must not be sent again.
 */

/** Blocks that are searched, the most first: a node may not remember old states. */
const reaches = [1_024, 256, 96]
/** Transactions that are looked at: in one step of a stopped key, and, the newest, before a count is accepted. */
const [fewMax, manyMax] = [16, 512]

type Found = { id: string; taker: Taker }

/**
 * Gives transactions of the queue the nonces with which they are mined, as far as all from `next` on are ours. Returns how
 * many nonces are known then.
 */
export async function adoptNext(
  parts: SenderParts,
  { next, latest, standing }: { next: number; latest: number; standing: Standing },
): Promise<number> {
  const deep = deepest(standing)
  const above = deep < 0 ? undefined : await findReach(parts, deep)
  if (above === undefined) return 0
  let known = 0
  for (let nonce = next; nonce < Math.min(latest, next + fewMax); nonce++) {
    const taker = await parts.view.findTaker(nonce, above.block, deep)
    const id = taker && (await findOwn(parts, taker))
    if (!taker || id === undefined || !(await isSureOf(parts, id, taker))) return known
    await inTransaction(parts.db, async (tx) => {
      await lockSender(tx, parts.key)
      await adopt(tx, parts, { id, taker })
    })
    known += 1
  }
  return known
}

/**
 * Accepts the transactions that the chain has, after each mined transaction of the queue was given its nonce. Those between may
 * be foreign. Returns false while a mined one lacks its confirmations, or only one node tells of it: ask again later.
 */
export async function acceptPast(
  parts: SenderParts,
  given: { next: number | undefined; latest: number; count: number; standing: Standing },
): Promise<boolean> {
  const { next, latest, count, standing } = given
  const found = latest > (next ?? 0) ? await findPast(parts, given, standing) : []
  if (found === undefined) return false
  // The count before the first of our own is kept only with one of our own: see `signNext`.
  if (next === undefined && found.length === 0) return true
  await inTransaction(parts.db, async (tx) => {
    await lockSender(tx, parts.key)
    for (const each of found) await adopt(tx, parts, each)
    await acceptCount(tx, parts.key, count)
  })
  return true
}

/**
 * Takes the nonce of a transaction that another one used for good: it is sent again. If that other has the content of one of the
 * queue, it was signed for that one by a database that is lost, and that one gets the nonce.
 */
export async function giveUpNonce(
  parts: SenderParts,
  id: string,
  { why, taker }: { why: string; taker: Taker | undefined },
): Promise<void> {
  const owner = taker && (await findOwn(parts, taker))
  await inTransaction(parts.db, async (tx) => {
    await lockSender(tx, parts.key)
    await requeueOutgoing(tx, id, why)
    if (taker && owner !== undefined) await adopt(tx, parts, { id: owner, taker })
  })
}

/** The mined transactions of the queue. Undefined while they cannot be told yet. */
async function findPast(
  parts: SenderParts,
  { next, latest }: { next: number | undefined; latest: number },
  standing: Standing,
): Promise<Found[] | undefined> {
  const deep = deepest(standing)
  if (deep < 0 || (await parts.view.count(deep)) < latest) return undefined
  const above = await findReach(parts, deep)
  // No node remembers: the runbook tells the operator which ones to cancel first.
  if (!above) return []
  const found: Found[] = []
  let isSure = true
  for (let nonce = Math.max(next ?? 0, above.count, latest - manyMax); nonce < latest; nonce++) {
    const taker = await parts.view.findTaker(nonce, above.block, deep)
    const id = taker && (await findOwn(parts, taker))
    if (!taker || id === undefined || found.some((each) => each.id === id)) continue
    if (!(await isSureOf(parts, id, taker))) isSure = false
    found.push({ id, taker })
  }
  return isSure ? found : undefined
}

/** The highest block whose transactions have their confirmations. */
const deepest = ({ head, confirmations }: Standing): number => head - confirmations + 1

/** The farthest block back whose count a node remembers. */
async function findReach({ view }: SenderParts, deep: number): Promise<{ block: number; count: number } | undefined> {
  for (const reach of reaches) {
    const block = Math.max(0, deep - reach)
    try {
      return { block, count: await view.count(block) }
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
    }
  }
  return undefined
}

/** The transaction without a nonce that has the content of a mined one. An empty one belongs to no transaction. */
async function findOwn({ db, key }: SenderParts, taker: Taker): Promise<string | undefined> {
  return isEmpty({ ...taker, sender: key.address }) ? undefined : findUnsent(db, key, taker)
}

const isSureOf = ({ witness, viewOf }: SenderParts, id: string, { hash, blockNumber }: Taker): Promise<boolean> =>
  witness.isSure(`taker:${id}`, `${hash} ${blockNumber}`, async (second) =>
    (await viewOf(second).listMined([hash])).has(hash),
  )

async function adopt(tx: Transaction, parts: SenderParts, { id, taker }: Found): Promise<void> {
  const { hash, nonce, gasLimit, fees, value } = taker
  const reserved = value + gasLimit * fees.maxFee
  if (!(await adoptOutgoing(tx, { id, nonce, gasLimit, reserved, at: parts.clock.now() }))) return
  await recordAttempt(tx, id, toForm(taker), toAttempt(parts, taker, [], false))
  parts.log.warn({ id, nonce, hash }, 'a transaction of the queue was sent before: it is not sent again')
}

export const toForm = ({ hash }: Taker) => ({ raw: '0x' as const, hash: hash as `0x${string}` })

export const toAttempt = (
  { clock }: SenderParts,
  { nonce, blockNumber, fees }: Taker,
  own: readonly Attempt[],
  isCancellation: boolean,
) => ({
  ...{ attempt: (own[0]?.attempt ?? 0) + 1, nonce, headNumber: Math.max(0, blockNumber - 1) },
  ...{ signedAt: clock.now(), isCancellation, ...fees },
})
