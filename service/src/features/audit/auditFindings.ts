import { groupBy } from '../../kernel/groups.js'
import { type FindingCode, findingCodes } from '../metrics/index.js'
import { listOverEnds } from './auditEnds.js'
import { type AuditLimits, weightOf } from './auditLimits.js'
import { listLooped, type Move } from './auditLoops.js'
import { type AuditChange, type AuditVault, listPieces, openWorth } from './auditPieces.js'
import { type Holding, isDust, listPaidFor, listSmall } from './auditSenders.js'
import { listStagedParts } from './auditStaged.js'
import { type Counted, listShort, listStays } from './auditStays.js'

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
    return [{ code, count, usdDays: own, transactions, percent: parts, points, level: levelOf(code, points, limits) }]
  })
  const score = findings.reduce((sum, { points }) => sum + points, 0)
  return { usdDays, wallets, findings, score, level: worstOf(findings) }
}

/** Presents and the wallets of a treasury look as wallets do that a cheat pays for: for this alone no month is refused. */
const ambiguous: ReadonlySet<FindingCode> = new Set(['paidByOneSender'])

function levelOf(code: FindingCode, points: number, { look, refuse }: AuditLimits): FindingLevel {
  if (points >= refuse * 100 && !ambiguous.has(code)) return 'refuse'
  return points >= look * 100 ? 'look' : 'note'
}
const worstOf = (findings: readonly Finding[]): FindingLevel =>
  (['refuse', 'look'] as const).find((level) => findings.some((finding) => finding.level === level)) ?? 'note'

/** Hundredths of a percent. */
const toPercent = (part: bigint | number, all: bigint | number): number =>
  BigInt(all) > 0n ? Number((BigInt(part) * 10_000n) / BigInt(all)) : 0

function touch(facts: AuditFacts, counted: readonly Counted[], limits: AuditLimits): Record<FindingCode, Touched> {
  const entered = counted.filter(({ piece }) => piece.entry?.hash != null)
  const { approvalCodes } = facts
  const stays = listStays(counted, limits).filter(({ entry }) => entry.hash !== null)
  return {
    inAndOut: sum(listShort(stays, limits)),
    loop: touchLoops(counted, limits),
    replayedSignature: sum(entered.filter(({ piece }) => piece.entry?.isReplayed)),
    unsignedShare: sum(entered.filter(({ piece }) => isUnsigned(piece.entry))),
    belowFloor: touchDust(counted, limits),
    paidByOneSender: touchSenders(facts, counted, limits),
    approvalCode: {
      ...{ count: approvalCodes.length, usdDays: 0n, hashes: [...approvalCodes] },
      percent: toPercent(approvalCodes.length, approvalCodes.length + countEntries(entered)),
    },
    foreignCaller: sum(entered.filter(({ piece }) => isForeign(piece.entry, facts.entryPoints))),
    staged: touchStaged(facts, entered, limits),
    bucketEnd: sum([...listOverEnds(stays, limits)]),
  }
}

const countEntries = (entered: readonly Counted[]): number => new Set(entered.map(({ piece }) => piece.entry)).size

const sum = (touched: readonly Counted[]): Touched => ({
  count: countEntries(touched),
  usdDays: touched.reduce((all, { usdDays }) => all + usdDays, 0n),
  hashes: touched.flatMap(({ piece }) => [piece.entry?.hash, piece.exit?.hash]),
})

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
        ...{ vault: piece.of.vault + piece.of.chainId, change },
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
  const most = new Map([...all].map(([wallet, own]) => [wallet, findMost(own)]))
  const small = listSmall([...most.values()], limits)
  const dust = [...all].flatMap(([wallet, own]) =>
    isDust(most.get(wallet) ?? [], { ...limits, floorUsd: small }) ? [own] : [],
  )
  return { ...sum(dust.flat()), count: dust.length, percent: toPercent(dust.length, all.size) }
}

/** The most that a wallet held in each vault. */
function findMost(own: readonly Counted[]): Holding[] {
  return [...groupBy(own, ({ piece }) => piece.of)].flatMap(([of, pieces]) => {
    const holdings = pieces.map(({ piece, worth }): Holding => {
      const shares = piece.entry?.after ?? of.held.get(piece.wallet) ?? piece.shares
      return { shares, worth: worth.at(shares, piece.fromMs), floor: of.lpFloor }
    })
    return holdings.reduce((most, each) =>
      each.worth > most.worth || (most.worth === 0n && each.shares > most.shares) ? each : most,
    )
  })
}

function touchSenders(facts: AuditFacts, counted: readonly Counted[], limits: AuditLimits): Touched {
  const held = new Set(
    facts.vaults.flatMap((vault) => [...vault.held].flatMap(([wallet, shares]) => (shares > 0n ? [wallet] : []))),
  )
  const isForeignOne = (change: AuditChange) => isForeign(change, facts.entryPoints)
  const paidFor = listPaidFor({ moves: listMoves(counted, ['entry', 'exit']), held, isForeign: isForeignOne }, limits)
  const found = new Set(paidFor.map(({ change }) => change))
  const own = counted.filter(({ piece }) => piece.entry && found.has(piece.entry))
  const paid = new Set([...found].map(({ wallet }) => wallet)).size
  const wallets = new Set(counted.map(({ piece }) => piece.wallet)).size
  return { ...sum(own), count: paid, hashes: [...found].map(({ hash }) => hash), percent: toPercent(paid, wallets) }
}

function touchStaged({ vaults }: AuditFacts, entered: readonly Counted[], limits: AuditLimits): Touched {
  const touched: Touched = { count: 0, usdDays: 0n, hashes: [] }
  const byVault = groupBy(entered, ({ piece }) => piece.of)
  for (const vault of vaults)
    for (const { stretch, parts } of listStagedParts(vault, byVault.get(vault) ?? [], limits)) {
      if (parts.length === 0) continue
      touched.count += 1
      touched.hashes.push(...stretch.transactions)
      for (const { each, fromMs, toMs } of parts) {
        touched.hashes.push(each.piece.entry?.hash)
        touched.usdDays += each.worth.usdDays(each.piece.shares, fromMs, toMs)
      }
    }
  return touched
}
