import { isLookedThrough, keepsNothing } from '../vaults/configured/index.js'
import type { HolderEvent } from '../vaults/holders/index.js'
import type { DeriveVault } from './config.js'
import type { Transfer } from './events.js'
import { type FollowedHolders, listHolders, openHolders, potOf, shortReason } from './heldPots.js'
import { smaller } from './lots.js'
import type { HeldState } from './rows.js'
import { findOwn, type Made, type VaultTransaction } from './transfers.js'

type Moving = Extract<HolderEvent, { kind: 'in' | 'out' }>
type Taken = { account: string; amount: bigint }

/**
 * Follows shares into, between and out of declared holders in one transaction of a vault: each Transfer becomes the moves of the
 * accounts that an event of the holder names, and of the holder itself for what no event takes. `isUnbounded`: what each
 * account held before is not known, and is enough. Undefined for a vault without declared holders.
 */
export function followHolders(
  part: VaultTransaction,
  input: { state: HeldState; timestamp: number; made: Made | undefined; isUnbounded?: boolean },
): FollowedHolders | undefined {
  const holders = listHolders(part.vault, input.timestamp)
  if (holders.size === 0) return undefined
  const followed = openHolders(part.vault, input)
  const events = (part.holderEvents ?? []).filter(({ holder }) => holders.has(holder))
  const { taken, unmatched } = takeTransfers(part, events, input.made)
  for (const event of unmatched) followed.ignore(event.holder)
  const steps = [...part.transfers, ...events].sort((a, b) => a.logIndex - b.logIndex)
  for (const step of steps)
    if (!('kind' in step)) followTransfer(step, part.vault, taken, followed)
    else if (step.kind === 'move') followMove(step, part.vault, followed)
    else if (step.kind === 'upgrade') followed.breakAt(step.holder, 'upgraded')
  return followed
}

/** Whether an address can be an account of a holder. */
function isAccount(vault: DeriveVault, address: string): boolean {
  return !keepsNothing(vault, address)
}

type TakenBy = { in: Map<Transfer, Moving>; out: Map<Transfer, Moving> }

/** The one Transfer that each event takes: with a trace one of its own call, else the nearest on the side of its kind. */
function takeTransfers(
  { vault, transfers }: VaultTransaction,
  events: readonly HolderEvent[],
  made: Made | undefined,
): { taken: TakenBy; unmatched: Moving[] } {
  const taken: TakenBy = { in: new Map(), out: new Map() }
  const unmatched: Moving[] = []
  const moving = events.filter((event): event is Moving => event.kind === 'in' || event.kind === 'out')
  const own = made && moving.length > 0 ? findOwn(transfers, moving, made) : undefined
  for (const event of moving) {
    if (event.shares === 0n) continue
    const isFree = (transfer: Transfer) =>
      (event.kind === 'in' ? transfer.to : transfer.from) === event.holder &&
      transfer.from !== transfer.to &&
      transfer.amount > 0n &&
      !taken[event.kind].has(transfer)
    const found = isAccount(vault, event.account)
      ? findNearest(event, own?.(event) ?? transfers, isFree, own)
      : undefined
    if (found) taken[event.kind].set(found, event)
    else unmatched.push(event)
  }
  return { taken, unmatched }
}

/** The nearest Transfer before an event, or after it where its kind emits first; with a trace the other side is tried too. */
function findNearest(
  event: Moving,
  transfers: readonly Transfer[],
  isFree: (transfer: Transfer) => boolean,
  own: unknown,
): Transfer | undefined {
  const before = transfers.findLast((each) => each.logIndex < event.logIndex && isFree(each))
  const after = transfers.find((each) => each.logIndex > event.logIndex && isFree(each))
  const [first, second] = event.isBeforeTransfer ? [after, before] : [before, after]
  return first ?? (own === undefined ? undefined : second)
}

/** The part that an event takes of a Transfer: no more than either, and of what goes out no more than the account holds. */
function takenOf(transfer: Transfer, event: Moving | undefined, most: (account: string) => bigint): Taken | undefined {
  if (!event) return undefined
  const amount = smaller(smaller(event.shares, transfer.amount), most(event.account))
  return amount > 0n ? { account: event.account, amount } : undefined
}

/** One Transfer as the moves of the accounts and of holders themselves, the accounts first on both sides. */
function followTransfer(transfer: Transfer, vault: DeriveVault, taken: TakenBy, followed: FollowedHolders): void {
  const { from, to, amount } = transfer
  const [isOut, isIn] = [isLookedThrough(vault, from), isLookedThrough(vault, to)]
  if (from === to || amount === 0n) return
  if (!isOut && !isIn) {
    followed.legs.push({ from, to, amount, of: transfer })
    return
  }
  const out = takenOf(transfer, taken.out.get(transfer), (account) => followed.pots.amountOf(potOf(account, from)))
  const into = takenOf(transfer, taken.in.get(transfer), () => amount)
  const sources = isOut ? splitSide(amount, out, from) : [{ pot: from, amount }]
  const targets = isIn ? splitSide(amount, into, to) : [{ pot: to, amount }]
  for (const { pot, amount: sent } of sources) {
    if (pot === from && isOut && followed.pots.amountOf(pot) < sent) followed.breakAt(from, shortReason)
    let left = sent
    while (left > 0n) {
      const target = targets.find((each) => each.amount > 0n)
      if (!target) break
      const moved = smaller(left, target.amount)
      target.amount -= moved
      left -= moved
      followed.move({ from: pot, to: target.pot, amount: moved, of: transfer })
    }
  }
}

function splitSide(amount: bigint, taken: Taken | undefined, holder: string): { pot: string; amount: bigint }[] {
  if (!taken) return [{ pot: holder, amount }]
  const rest = { pot: holder, amount: amount - taken.amount }
  return [{ pot: potOf(taken.account, holder), amount: taken.amount }, ...(rest.amount > 0n ? [rest] : [])]
}

/** A move between accounts, at most what the first holds; who can be no account has it as the holder's own. */
function followMove(
  event: Extract<HolderEvent, { kind: 'move' }>,
  vault: DeriveVault,
  followed: FollowedHolders,
): void {
  const { holder, account, to, shares } = event
  if (!isAccount(vault, account)) return
  const from = potOf(account, holder)
  const amount = smaller(shares, followed.pots.amountOf(from))
  if (amount < shares) followed.ignore(holder)
  if (amount === 0n || account === to) return
  followed.move({ from, to: isAccount(vault, to) ? potOf(to, holder) : holder, amount, of: undefined })
}
