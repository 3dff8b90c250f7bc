/** Limits that keep a stranger from spending the solver's daily budget and from delaying others. Pure. */

/** Which orders are settled by their tokens: listed ones of which one has a price, listed ones, or any. */
export const tokenRules = ['priced', 'listed', 'any'] as const

export type TokenRule = (typeof tokenRules)[number]

export type SolverLimits = {
  /** A fill must be worth this many times its gas, if prices are known. */
  worthFactor: number
  tokens: TokenRule
  /** Fills of one order in an hour. */
  fillsPerHour: number
  /** Percent of `budget` that risky settlements may cost in a day. */
  riskPercent: number
  /** Percent of `budget` that other settlements may cost in a day which revert; then only owners with a fill are settled. */
  lossPercent: number
  /** The daily budget, in the smallest unit of the native token. */
  budget: bigint
}

export const usualLimits: SolverLimits = {
  ...{ worthFactor: 1, tokens: 'listed', fillsPerHour: 12, riskPercent: 10, lossPercent: 25 },
  budget: 10n ** 18n,
}

export type SubjectKind = 'order' | 'owner' | 'organization' | 'pool'

/** Whom a settlement is counted against. */
export type Subject = { kind: SubjectKind; key: string }

export const nameSubject = ({ kind, key }: Subject): string => `${kind} ${key}`

/** The last day of a subject. Times are the chain's, in unix seconds. */
export type Standing = {
  /** Tries in vain since its last fill. */
  failures: number
  lastFailedAt: number
  /** Settlements that were mined and reverted. */
  reverts: number
  lastRevertedAt: number
  /** The cost, or possible cost, of risky settlements. */
  risked: bigint
}

export const noStanding: Standing = { failures: 0, lastFailedAt: 0, reverts: 0, lastRevertedAt: 0, risked: 0n }

export const daySeconds = 86_400
const hourSeconds = 3_600

/** Tries in vain that are forgiven; each beyond doubles the wait from 15 seconds, to half an hour at most. */
const forgiven: Readonly<Partial<Record<SubjectKind, number>>> = { order: 1, owner: 4, pool: 8 }
const failureWait = { first: 15, longest: 1_800 }

/** Waits in seconds after each settlement that reverted on the chain; the last one after all further ones. */
const revertWaits: Readonly<Record<SubjectKind, readonly number[]>> = {
  order: [60, 3 * hourSeconds, daySeconds],
  owner: [60, 3 * hourSeconds, daySeconds],
  pool: [0, 60, 600, hourSeconds, 6 * hourSeconds],
  // Others use it, too; its share of what may be risked bounds it.
  organization: [],
}

/** Parts of what may be risked in a day, in hundredths. */
const shares: Readonly<Record<SubjectKind, bigint>> = { order: 5n, owner: 10n, pool: 20n, organization: 40n }

/** Settlements of an order that may revert on the chain before it is settled no more. */
export const revertsMax = 3

/**
 * When a subject may be tried again, by the chain's time. Nothing makes an organization wait, and only reverts a pool of listed
 * tokens, for suspect offers: failed tries only move them behind others.
 */
export function computeRetryAt(
  kind: SubjectKind,
  { failures, lastFailedAt, reverts, lastRevertedAt }: Standing,
  given: Pick<Case, 'isRisky' | 'hasReverted' | 'areListed'>,
): number {
  const isHeld = isSuspect(given)
  const failuresBind = kind === 'order' || (kind === 'owner' && isHeld) || (kind === 'pool' && !given.areListed)
  const beyond = failuresBind ? failures - (forgiven[kind] ?? failures) : 0
  const wait = beyond > 0 ? Math.min(failureWait.first * 2 ** Math.min(beyond - 1, 20), failureWait.longest) : 0
  const revertsBind = kind === 'order' || kind === 'owner' || isHeld
  const waits = revertsBind ? revertWaits[kind] : []
  const revertWait = reverts > 0 ? (waits[Math.min(reverts, waits.length) - 1] ?? 0) : 0
  return Math.max(wait > 0 ? lastFailedAt + wait : 0, revertWait > 0 ? lastRevertedAt + revertWait : 0)
}

/** The facts about an offer before a node is called for it. */
export type Case = {
  /** Somebody vouches neither for its tokens nor for its owner's code: a stranger decides how it ends, and what it costs. */
  isRisky: boolean
  /** A settlement of its owner reverted in the last day. */
  hasReverted: boolean
  /** Its owner is a contract wallet. */
  isContract: boolean
  areListed: boolean
  /** Its own standings: of its order, its owner, its organization and its pools. */
  standings: readonly (Subject & { standing: Standing })[]
  /** When it was filled in the last hour, by the chain's time. */
  fills: readonly number[]
  /** The cost, or possible cost, of the risky settlements of all orders in a day. */
  riskedByAll: bigint
  /** The cost of the settlements of all orders that reverted in a day and were not risky. */
  lostByAll: bigint
  /** An order of its owner was filled here in the last 30 days. */
  hasFilled: boolean
}

export type Verdict = { may: true } | { may: false; outcome?: 'tooDear' | 'noRoute'; why: string }

/** Whether an offer is held to more than others, because of its code or tokens, or of its owner's past. */
export const isSuspect = ({ isRisky, hasReverted }: Pick<Case, 'isRisky' | 'hasReverted'>): boolean =>
  isRisky || hasReverted

/** The most that suspect settlements may cost in a day. */
const computeRiskMax = ({ budget, riskPercent }: SolverLimits): bigint => (budget * BigInt(riskPercent)) / 100n

/** Whether reverted settlements that were not risky cost as much in a day as they may. */
export const isLossUsedUp = (lostByAll: bigint, { budget, lossPercent }: SolverLimits): boolean =>
  lostByAll >= (budget * BigInt(lossPercent)) / 100n

/** Whether an offer is tried at a block of this time. */
export function decideTry(given: Case, limits: SolverLimits, now: number): Verdict {
  const { isRisky, hasReverted, areListed, standings, fills, riskedByAll, lostByAll, hasFilled } = given
  if (!areListed && limits.tokens !== 'any')
    return {
      may: false,
      outcome: 'noRoute',
      why: 'one of its tokens is not listed here; such orders are not settled',
    }
  const waits = standings.find(({ kind, standing }) => computeRetryAt(kind, standing, given) > now)
  if (waits) return { may: false, why: `its ${waits.kind} failed of late, and waits` }
  if (fills.length >= limits.fillsPerHour)
    return { may: false, outcome: 'tooDear', why: `it was filled ${fills.length} times within an hour` }
  const whole = computeRiskMax(limits)
  if (!isRisky) {
    if (!hasFilled && isLossUsedUp(lostByAll, limits))
      return { may: false, outcome: 'tooDear', why: 'the daily limit of reverted settlements is used up' }
    if (hasReverted && lostByAll >= whole)
      return { may: false, outcome: 'tooDear', why: 'a settlement of its owner reverted, and too many did today' }
    return { may: true }
  }
  if (riskedByAll >= whole) return { may: false, outcome: 'tooDear', why: 'what may be risked in a day is used up' }
  const used = standings.find(({ kind, standing }) => standing.risked >= (whole * shares[kind]) / 100n)
  if (used)
    return {
      may: false,
      outcome: 'tooDear',
      why: `the share of its ${used.kind} in what may be risked in a day is used up`,
    }
  return { may: true }
}

/** The estimated cost of an offer. */
export type Cost = {
  /** Gas × price, in the smallest unit of the native token. */
  cost: bigint
  /** The same for the gas limit that is signed: a settlement with a lower cap would be queued and never sent. */
  signedCost: bigint
  /** The most a settlement may cost. */
  costMax: bigint
  /** The worth of the fill in the same unit; undefined without a price. */
  worth: bigint | undefined
}

export type CostVerdict = { may: true; costMax: bigint } | { may: false; why: string }

/**
 * Whether a settlement is paid for, and the most it may cost when it is sent. Of a suspect one, or one of a contract wallet, that
 * is twice what it costs now, and of a suspect one never more than is left for such.
 */
export function decideCost(
  { cost, signedCost, costMax, worth }: Cost,
  given: Pick<Case, 'isRisky' | 'hasReverted' | 'isContract' | 'riskedByAll' | 'lostByAll'>,
  limits: SolverLimits,
): CostVerdict {
  if (signedCost > costMax)
    return { may: false, why: `with its gas limit it would cost ${signedCost}, and may cost ${costMax}` }
  if (worth === undefined && limits.tokens === 'priced') return { may: false, why: 'no price tells what it is worth' }
  if (worth !== undefined && worth < cost * BigInt(limits.worthFactor))
    return { may: false, why: `it is worth ${worth}, and would cost ${cost}` }
  const twice = 2n * cost < costMax ? 2n * cost : costMax
  if (!isSuspect(given)) return { may: true, costMax: given.isContract ? twice : costMax }
  const left = computeRiskMax(limits) - (given.isRisky ? given.riskedByAll : given.lostByAll)
  const most = left < twice ? left : twice
  return most < signedCost
    ? { may: false, why: 'what may be risked in a day is used up' }
    : { may: true, costMax: most }
}

/**
 * A settlement of the last day that is risky or reverted, or that is suspect and was just queued. `spent`: its cost, or the most
 * it may cost yet.
 */
export type Risked = {
  subjects: readonly Subject[]
  spent: bigint
  isRisky: boolean
  isListed: boolean
  isReverted: boolean
  closedAt: number | undefined
}

/**
 * Whether a reverted settlement counts against a subject. It always does against its order and owner. A pool of listed tokens is
 * nobody's own, and an organization does not choose the funds of a wallet: only a risky settlement counts against it.
 */
const countsAgainst = ({ kind }: Subject, { isRisky, isListed }: Pick<Risked, 'isRisky' | 'isListed'>): boolean =>
  kind === 'pool' ? !isListed : kind === 'organization' ? isRisky : true

/** Sums settlements and failed tries by subject. The cost of a revert that was not risky counts only in `lostByAll`. */
export function sumStandings(
  risked: readonly Risked[],
  failures: ReadonlyMap<string, { failures: number; lastFailedAt: number }>,
): { standingOf: (subject: Subject) => Standing; riskedByAll: bigint; lostByAll: bigint } {
  const sums = new Map<string, Standing>()
  let riskedByAll = 0n
  let lostByAll = 0n
  for (const settlement of risked) {
    const { subjects, spent, isRisky, isReverted, closedAt } = settlement
    if (isRisky) riskedByAll += spent
    else lostByAll += spent
    for (const [name, subject] of new Map(subjects.map((each) => [nameSubject(each), each]))) {
      const before = sums.get(name) ?? noStanding
      const isCounted = isReverted && countsAgainst(subject, settlement)
      sums.set(name, {
        ...before,
        risked: before.risked + (isRisky ? spent : 0n),
        reverts: before.reverts + (isCounted ? 1 : 0),
        lastRevertedAt: isCounted ? Math.max(before.lastRevertedAt, closedAt ?? 0) : before.lastRevertedAt,
      })
    }
  }
  return {
    standingOf: (subject) => ({
      ...(sums.get(nameSubject(subject)) ?? noStanding),
      ...failures.get(nameSubject(subject)),
    }),
    riskedByAll,
    lostByAll,
  }
}
