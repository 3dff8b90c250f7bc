import { giveUpNonce, toAttempt, toForm } from './adopting.js'
import { decideRow, decideTaken, type Mined, type Standing } from './decide.js'
import type { SenderParts } from './senderParts.js'
import {
  type Attempt,
  concludeOutgoing,
  explainWaiting,
  finishOutgoing,
  type OutgoingRow,
  recordAttempt,
  reopenOutgoing,
} from './storeOutgoing.js'

export type Attempts = ReadonlyMap<string, readonly Attempt[]>

/**
 * Says what became of transactions that have a nonce, until their blocks are final. Returns those that wait to be mined, and
 * whether a transaction that is not ours took the nonce of one.
 */
export async function settleRows(
  parts: SenderParts,
  { rows, attempts, standing }: { rows: readonly OutgoingRow[]; attempts: Attempts; standing: Standing },
): Promise<{ waiting: OutgoingRow[]; foreign: string | undefined }> {
  const { db, clock, log, view } = parts
  const asked = rows.flatMap((row) => (attempts.get(row.id) ?? []).map(({ hash }) => hash))
  const mined = await view.listMined(asked)
  const waiting: OutgoingRow[] = []
  let foreign: string | undefined
  for (const row of rows) {
    const own = attempts.get(row.id) ?? []
    const form = own.find(({ hash }) => mined.has(hash))
    const found = form && mined.get(form.hash)
    const decided = decideRow(row, { mined: found, isCancellation: form?.isCancellation === true }, standing)
    parts.witness.note(`mined:${row.id}`, toText(found))
    // A final state is written only after more than one response.
    const isWritten = ['conclude', 'finish', 'reopen'].includes(decided.act)
    if (isWritten && !(await isSureOf(parts, row, found, own))) continue
    if (decided.act === 'conclude') {
      await concludeOutgoing(db, row, decided.end, clock.now())
      if (decided.end.state !== row.state)
        log.info({ id: row.id, hash: decided.end.hash, state: decided.end.state }, 'a transaction is over')
    } else if (decided.act === 'finish') {
      await finishOutgoing(db, row)
      forget(parts, row, own)
    } else if (decided.act === 'reopen') {
      if (await reopenOutgoing(db, row))
        log.warn({ id: row.id, hash: row.transactionHash }, 'a reorganisation dropped a transaction: it is sent again')
      waiting.push({ ...row, state: 'sent' })
    } else if (decided.act === 'offer') waiting.push(row)
    else if (decided.act === 'findTaker') {
      const why = await settleTaken(parts, row, own, standing)
      foreign ??= why
    }
  }
  return { waiting, foreign }
}

/** Whether another node says the same of a transaction, or the same is told long enough. */
async function isSureOf(
  { witness, viewOf }: SenderParts,
  row: OutgoingRow,
  mined: Mined | undefined,
  own: readonly Attempt[],
): Promise<boolean> {
  const about = `mined:${row.id}`
  const told = toText(mined)
  const hashes = own.map(({ hash }) => hash)
  return witness.isSure(about, told, async (second) => {
    const same = await viewOf(second).listMined(mined ? [mined.hash] : hashes)
    return mined ? toText(same.get(mined.hash)) === told : same.size === 0
  })
}

const toText = (mined: Mined | undefined): string =>
  mined ? `${mined.hash} ${mined.blockNumber} ${mined.success} ${mined.cost}` : 'not'

function forget({ witness, handed }: SenderParts, row: OutgoingRow, own: readonly Attempt[]): void {
  witness.forget(`mined:${row.id}`)
  witness.forget(`taker:${row.id}`)
  for (const { hash } of own) handed.delete(hash)
}

/** A nonce is used, and no form of ours has a receipt. Returns why, where somebody else used it. */
async function settleTaken(
  parts: SenderParts,
  row: OutgoingRow,
  own: readonly Attempt[],
  standing: Standing,
): Promise<string | undefined> {
  const { db, log, view, viewOf, witness } = parts
  const nonce = row.nonce ?? 0
  const deep = standing.head - standing.confirmations + 1
  if (deep < 0) return undefined
  // A reorganisation may have put it below the head it was signed at.
  const signedAbove = Math.min(deep, ...own.map(({ headNumber }) => headNumber))
  const above = Math.max(0, signedAbove - standing.finalityDepth)
  const taker = await view.findTaker(nonce, above, deep)
  const isSure =
    taker !== undefined &&
    (await witness.isSure(`taker:${row.id}`, `${taker.hash} ${taker.blockNumber}`, async (second) =>
      (await viewOf(second).listMined([taker.hash])).has(taker.hash),
    ))
  const ownHashes = own.map(({ hash }) => hash)
  const decided = decideTaken(row, { taker, ownHashes, isSure }, standing)
  if (decided.act === 'requeue') {
    await giveUpNonce(parts, row.id, { why: decided.why, taker })
    forget(parts, row, own)
    log.warn({ id: row.id, nonce, taker: taker?.hash }, 'a nonce was used by another transaction of the key')
    return decided.why
  }
  if (decided.act === 'adopt' && taker) {
    await recordAttempt(db, row.id, toForm(taker), toAttempt(parts, taker, own, decided.isCancellation))
    log.warn({ id: row.id, nonce, hash: taker.hash }, 'a form of a transaction that was not kept here was mined')
    return undefined
  }
  if (decided.act === 'wait') {
    await explainWaiting(db, row.id, decided.why)
    return decided.isForeign ? decided.why : undefined
  }
  return undefined
}
