import { smaller } from '../../derive/lots.js'
import { groupBy } from '../../kernel/groups.js'
import type { AuditLimits } from './auditLimits.js'
import { atOnceMs, isAlike } from './auditLoops.js'
import type { AuditChange, Piece, Worth } from './auditPieces.js'

/** A piece with what it is worth. */
export type Counted = { piece: Piece; worth: Worth; usdDays: bigint }

/** A piece that came and went in the month: since when its money was in any vault, and what the wallet had left after it. */
export type Stay = Counted & { entry: AuditChange; exit: AuditChange; sinceMs: number; lasted: number; left: bigint }

/** Money that left a vault, and may come into another one of the same wallet. */
type Transit = {
  of: Piece['of']
  exit: AuditChange
  atMs: number
  sinceMs: number
  lastMs: number
  left: bigint
  all: bigint
}

/** Money moves on where it is out for less than such a part of the time it was in before: to another vault, or to the same. */
const [outPart, outAgainPart, outSamePart] = [5, 10, 2]

/**
 * Stays of money with a distributor. What a wallet takes out of a vault and puts into another at once does not leave: a bot that
 * follows the best rate. Pieces whose money moved on are not told; the one that it moved into is, since it first came. Pure.
 */
export function listStays(counted: readonly Counted[], limits: AuditLimits): Stay[] {
  return [...groupBy(counted, ({ piece }) => piece.wallet).values()].flatMap((own) => listOwnStays(own, limits))
}

function listOwnStays(own: readonly Counted[], { moveSeconds, moveBps }: AuditLimits): Stay[] {
  if (!own.some(({ piece }) => piece.exit)) return []
  const since = new Map<AuditChange, number>()
  const exits = [
    ...groupBy(
      own.filter(({ piece }) => piece.exit),
      ({ piece }) => piece.exit,
    ).entries(),
  ]
  const entries = [
    ...groupBy(
      own.filter(({ piece }) => piece.entry),
      ({ piece }) => piece.entry,
    ).entries(),
  ]
  const events = [
    ...exits.map(([change, pieces]) => ({ change, pieces, isOut: true })),
    ...entries.map(([change, pieces]) => ({ change, pieces, isOut: false })),
  ]
    .flatMap(({ change, ...rest }) => (change ? [{ change, ...rest }] : []))
    .sort((a, b) => a.change.atMs - b.change.atMs || Number(b.isOut) - Number(a.isOut))
  const transits: Transit[] = []
  const moved = new Set<AuditChange>()
  const kept = new Map<AuditChange, bigint>()
  const holdings = new Map<Piece['of'], { worth: Worth; shares: bigint }>()
  let first = 0
  for (const { change, pieces, isOut } of events) {
    const { atMs } = change
    const worthOf = pieces.reduce((sum, { piece, worth }) => sum + worth.at(piece.shares, atMs), 0n)
    const of = pieces[0]?.piece.of
    if (!of || !pieces[0]) continue
    holdings.set(of, { worth: pieces[0].worth, shares: change.after })
    if (isOut) {
      kept.set(
        change,
        [...holdings.values()].reduce((sum, { worth, shares }) => sum + worth.at(shares, atMs), 0n),
      )
      const starts = pieces.map(({ piece }) => (piece.entry ? (since.get(piece.entry) ?? piece.fromMs) : piece.fromMs))
      transits.push({
        of,
        exit: change,
        atMs,
        sinceMs: Math.min(...starts),
        lastMs: Math.min(...pieces.map(({ piece }) => piece.fromMs)),
        left: worthOf,
        all: worthOf,
      })
      continue
    }
    while ((transits[first]?.atMs ?? atMs) < atMs - moveSeconds * 1_000) first += 1
    let wanted = worthOf
    let sinceMs = atMs
    for (let place = transits.length - 1; place >= first && wanted > 0n; place--) {
      const transit = transits[place]
      if (!transit || transit.left === 0n) continue
      const isSame = transit.of !== of && isAlike(transit.all, worthOf, moveBps)
      const isOutLong =
        (atMs - transit.atMs) * (transit.of === of ? outAgainPart : outPart) > transit.atMs - transit.sinceMs
      if (isOutLong && !(isSame && (atMs - transit.atMs) * outSamePart <= transit.atMs - transit.lastMs)) continue
      if (transit.of !== of && atMs - transit.atMs <= atOnceMs) {
        // Whatever it is worth: a bot that levels what it has.
        moved.add(transit.exit)
        wanted = 0n
        sinceMs = Math.min(sinceMs, transit.sinceMs)
        break
      }
      const taken = smaller(transit.left, wanted)
      transit.left -= taken
      wanted -= taken
      sinceMs = Math.min(sinceMs, transit.sinceMs)
      if (transit.left * 2n <= transit.all) moved.add(transit.exit)
    }
    if (wanted * 2n <= worthOf) since.set(change, sinceMs)
  }
  return own.flatMap((each) => {
    const { entry, exit, toMs, fromMs } = each.piece
    if (!entry || !exit || moved.has(exit)) return []
    const sinceMs = since.get(entry) ?? fromMs
    return [{ ...each, entry, exit, sinceMs, lasted: toMs - sinceMs, left: kept.get(exit) ?? 0n }]
  })
}

/** Those who leave on the day that they came are people: stays of less than an hour make less than this part of what they make. */
const [dayMs, hastyPart] = [86_400_000, 2n]

/**
 * Money that is in for minutes, or again and again for less than an hour, or by whichever wallets, where that makes more than
 * stays of less than a day make. Pure.
 */
export function listShort(stays: readonly Stay[], limits: AuditLimits): Stay[] {
  const { inAndOutSeconds, passSeconds, passTimes } = limits
  // Who keeps as much in as he takes out does not leave.
  const isPass = ({ lasted, left, worth, piece }: Stay) =>
    lasted <= passSeconds * 1_000 && left < worth.at(piece.shares, piece.toMs)
  const sumOf = (some: readonly Stay[]) => some.reduce((sum, { usdDays }) => sum + usdDays, 0n)
  const passes = stays.filter(isPass)
  const slower = stays.filter(({ lasted }) => lasted > passSeconds * 1_000 && lasted <= dayMs)
  if (sumOf(passes) * hastyPart > sumOf(slower)) return passes
  return [...groupBy(passes, ({ piece }) => piece.wallet).values()].flatMap((own) => {
    const isRepeated = new Set(own.map(({ exit }) => exit)).size >= passTimes
    return isRepeated ? own : own.filter(({ lasted }) => lasted <= inAndOutSeconds * 1_000)
  })
}
