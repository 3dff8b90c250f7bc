import { groupBy } from '../../kernel/groups.js'
import { type FindingCode, findingCodes } from '../metrics/index.js'
import { type AuditLimits, weightOf } from './auditLimits.js'
import { listLooped, type Move } from './auditLoops.js'
import { type AuditChange, type AuditVault, listPieces, openWorth, type Piece, type Worth } from './auditPieces.js'
import { isDust, listPaidAlike } from './auditSenders.js'

/** The facts of a month of a distributor. */
export type AuditFacts = {
  fromMs: number
  toMs: number
  vaults: readonly AuditVault[]
  /** Transactions with deposits that name the distributor on an approval, and were not credited to it. */
  approvalCodes: readonly string[]
  /** Contracts by which smart accounts are called: who sends to them only carries operations. */
  entryPoints: ReadonlySet<string>
}

export type FindingLevel = 'note' | 'look' | 'refuse'

/** A finding. Its points are its percent × the weight of its code; those of all findings add up to the score. */
export type Finding = {
  code: FindingCode
  count: number
  /** In units of 10^-18. */
  usdDays: bigint
  transactions: string[]
  /** In hundredths: of the USD-days of the month, of its wallets, or of its deposits, whichever the code is measured by. */
  percent: number
  points: number
  level: FindingLevel
}

export type MonthAudit = { usdDays: bigint; wallets: number; findings: Finding[]; score: number; level: FindingLevel }

/** A piece with what it is worth. */
type Counted = { piece: Piece; worth: Worth; usdDays: bigint }
/** The extent of a finding: parts of pieces, and transactions. `percent` where it is not measured by USD-days alone. */
type Touched = { count: number; usdDays: bigint; hashes: (string | null | undefined)[]; percent?: number }

/** Finds in a month of a distributor what honest months do not show. Pure. */
export function auditMonth(facts: AuditFacts, limits: AuditLimits): MonthAudit {
  const counted = facts.vaults.flatMap((vault) => {
    const worth = openWorth(vault)
    return listPieces(vault, facts).map((piece): Counted => {
      return { piece, worth, usdDays: worth.usdDays(piece.shares, piece.fromMs, piece.toMs) }
    })
  })
  const usdDays = counted.reduce((sum, each) => sum + each.usdDays, 0n)
  const wallets = new Set(counted.map(({ piece }) => piece.wallet)).size
  const touched = touch(facts, counted, limits)
  const findings = findingCodes.flatMap((code) => {
    const { count, usdDays: own, hashes, percent = 0 } = touched[code]
    if (count === 0) return []
    const parts = Math.min(10_000, Math.max(percent, toPercent(own, usdDays)))
    const points = Math.min(10_000, Math.round(parts * weightOf(limits, code)))
    const transactions = [...new Set(hashes.flatMap((hash) => hash ?? []))]
    return [{ code, count, usdDays: own, transactions, percent: parts, points, level: levelOf(points, limits) }]
  })
  const score = findings.reduce((sum, { points }) => sum + points, 0)
  return { usdDays, wallets, findings, score, level: worstOf(findings) }
}

const levelOf = (points: number, { look, refuse }: AuditLimits): FindingLevel =>
  points >= refuse * 100 ? 'refuse' : points >= look * 100 ? 'look' : 'note'
const worstOf = (findings: readonly Finding[]): FindingLevel =>
  (['refuse', 'look'] as const).find((level) => findings.some((finding) => finding.level === level)) ?? 'note'

/** Hundredths of a percent. */
const toPercent = (part: bigint | number, all: bigint | number): number =>
  BigInt(all) > 0n ? Number((BigInt(part) * 10_000n) / BigInt(all)) : 0

function touch(facts: AuditFacts, counted: readonly Counted[], limits: AuditLimits): Record<FindingCode, Touched> {
  const entered = counted.filter(({ piece }) => piece.entry?.hash != null)
  const { approvalCodes } = facts
  return {
    inAndOut: sum(entered.filter(({ piece }) => isShort(piece, limits))),
    loop: touchLoops(counted, limits),
    replayedSignature: sum(entered.filter(({ piece }) => piece.entry?.isReplayed)),
    unsignedShare: sum(entered.filter(({ piece }) => isUnsigned(piece.entry))),
    belowFloor: touchDust(counted, limits),
    paidByOneSender: touchSenders(counted, limits),
    approvalCode: {
      ...{ count: approvalCodes.length, usdDays: 0n, hashes: [...approvalCodes] },
      percent: toPercent(approvalCodes.length, approvalCodes.length + countEntries(entered)),
    },
    foreignCaller: sum(entered.filter(({ piece }) => isForeign(piece.entry, facts.entryPoints))),
    staged: touchStaged(facts, entered),
    bucketEnd: sum(listAtEnds(entered, limits)),
  }
}

const countEntries = (entered: readonly Counted[]): number => new Set(entered.map(({ piece }) => piece.entry)).size

const sum = (touched: readonly Counted[]): Touched => ({
  count: countEntries(touched),
  usdDays: touched.reduce((all, { usdDays }) => all + usdDays, 0n),
  hashes: touched.flatMap(({ piece }) => [piece.entry?.hash, piece.exit?.hash]),
})

const isShort = ({ entry, exit }: Piece, { inAndOutBlocks }: AuditLimits): boolean =>
  entry !== undefined && exit !== undefined && exit.blockNumber - entry.blockNumber <= inAndOutBlocks

const isUnsigned = (entry: AuditChange | undefined): boolean =>
  entry !== undefined && entry.attribution !== null && entry.attribution !== 'signed'

const isForeign = (entry: AuditChange | undefined, entryPoints: ReadonlySet<string>): boolean => {
  if (!entry || entry.sender === null || entry.sender === entry.wallet || entry.target === entry.wallet) return false
  return !entryPoints.has(entry.target ?? '')
}

/** Each change once, with what the shares that it moved were worth. */
function listMoves(counted: readonly Counted[], which: ('entry' | 'exit')[]): Move[] {
  const moves = new Map<AuditChange, Move>()
  for (const { piece, worth } of counted)
    for (const side of which) {
      const change = piece[side]
      if (!change || moves.has(change)) continue
      const { after, before, atMs } = change
      moves.set(change, {
        ...{ chainId: piece.of.chainId, change },
        worth: worth.at(after > before ? after - before : before - after, atMs),
      })
    }
  return [...moves.values()]
}

function touchLoops(counted: readonly Counted[], limits: AuditLimits): Touched {
  const looped = new Set(listLooped(listMoves(counted, ['entry', 'exit']), limits))
  const isLooped = (change: AuditChange | undefined) => change !== undefined && looped.has(change)
  const touched = sum(counted.filter(({ piece }) => isLooped(piece.entry) || isLooped(piece.exit)))
  return { ...touched, hashes: [...looped].map(({ hash }) => hash) }
}

function touchDust(counted: readonly Counted[], limits: AuditLimits): Touched {
  const all = groupBy(counted, ({ piece }) => piece.wallet)
  const dust = [...all.values()].filter((own) =>
    [...groupBy(own, ({ piece }) => piece.of)].every(([of, pieces]) =>
      pieces.every(({ piece, worth }) => {
        const shares = piece.entry?.after ?? of.held.get(piece.wallet) ?? piece.shares
        return isDust({ shares, worth: worth.at(shares, piece.fromMs), floor: of.lpFloor }, limits)
      }),
    ),
  )
  return { ...sum(dust.flat()), count: dust.length, percent: toPercent(dust.length, all.size) }
}

function touchSenders(counted: readonly Counted[], limits: AuditLimits): Touched {
  const alike = new Set(listPaidAlike(listMoves(counted, ['entry']), limits).map(({ change }) => change))
  const own = counted.filter(({ piece }) => piece.entry && alike.has(piece.entry))
  const paid = new Set([...alike].map(({ wallet }) => wallet)).size
  const wallets = new Set(counted.map(({ piece }) => piece.wallet)).size
  return { ...sum(own), count: paid, hashes: [...alike].map(({ hash }) => hash), percent: toPercent(paid, wallets) }
}

/** Shares that came after a staged snapshot count as far as the price of its stretch did. */
function touchStaged({ vaults }: AuditFacts, entered: readonly Counted[]): Touched {
  const touched: Touched = { count: 0, usdDays: 0n, hashes: [] }
  for (const vault of vaults)
    for (const { fromMs, toMs, transactions } of vault.staged) {
      const own = entered.filter(({ piece }) => {
        return piece.of === vault && piece.fromMs >= fromMs && piece.fromMs < toMs
      })
      if (own.length === 0) continue
      touched.count += 1
      touched.hashes.push(...transactions, ...own.map(({ piece }) => piece.entry?.hash))
      for (const { piece, worth } of own)
        touched.usdDays += worth.usdDays(piece.shares, piece.fromMs, Math.min(piece.toMs, toMs))
    }
  return touched
}

/** Shares that came just before a bucket's end and left soon after it, or whose wallet deposits at ends again and again. */
function listAtEnds(entered: readonly Counted[], limits: AuditLimits): Counted[] {
  const bucketMs = limits.bucketSeconds * 1_000
  const leftOf = (ms: number) => bucketMs - (ms % bucketMs)
  const isAtEnd = ({ piece }: Counted) => leftOf(piece.fromMs) <= limits.bucketEndSeconds * 1_000
  const isOverEnd = (each: Counted) => {
    const stayed = each.piece.toMs - each.piece.fromMs - leftOf(each.piece.fromMs)
    return each.piece.exit !== undefined && stayed >= 0 && stayed <= limits.bucketStaySeconds * 1_000
  }
  return [...groupBy(entered, ({ piece }) => piece.wallet).values()].flatMap((own) => {
    const atEnds = own.filter(isAtEnd)
    const [times, all] = [countEntries(atEnds), countEntries(own)]
    const isHabit = times >= limits.bucketDeposits && times * 100 >= all * limits.bucketPercent
    return isHabit ? atEnds : atEnds.filter(isOverEnd)
  })
}
