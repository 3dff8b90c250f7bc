import { type DeriveState, type RequestLot, requestKey } from './rows.js'

/** Adds an open request to a state, the newest of its controller. */
export function keepRequest({ requests, closing }: DeriveState, lot: RequestLot): void {
  const key = requestKey(lot.vaultId, lot.kind, lot.controller)
  const lots = requests.get(key)
  if (lots) lots.push(lot)
  else requests.set(key, [lot])
  if (lot.openUntil === null) return
  // Mostly the last: a teller gives all the same time until an operator changes it.
  let at = closing.length
  while (at > 0 && endOf(closing[at - 1]) > lot.openUntil) at -= 1
  closing.splice(at, 0, lot)
}

/**
 * Forgets the requests that the time of a block has closed, and controllers of whom none is left. Nothing is written: until when
 * a request is open stands in it, so a block in another's place, which may be earlier, finds it open again.
 */
export function forgetEnded({ requests, closing }: DeriveState, timestamp: number): void {
  let count = 0
  while (count < closing.length && endOf(closing[count]) < BigInt(timestamp)) count += 1
  for (const { vaultId, kind, controller } of closing.splice(0, count)) {
    const key = requestKey(vaultId, kind, controller)
    const open = (requests.get(key) ?? []).filter((lot) => !isEnded(lot, timestamp))
    if (open.length > 0) requests.set(key, open)
    else requests.delete(key)
  }
}

function isEnded({ openUntil }: RequestLot, timestamp: number): boolean {
  return openUntil !== null && openUntil < BigInt(timestamp)
}

function endOf(lot: RequestLot | undefined): bigint {
  return lot?.openUntil ?? 0n
}
