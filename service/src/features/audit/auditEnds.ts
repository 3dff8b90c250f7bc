import { groupBy } from '../../kernel/groups.js'
import type { AuditLimits } from './auditLimits.js'
import type { Stay } from './auditStays.js'

/** Charts have buckets of a quarter of an hour, an hour or a day. */
const bucketsMs = [900, 3_600, 86_400].map((seconds) => seconds * 1_000)
/** How long before an end a deposit may be made: at most a quarter of the bucket. */
const leadsMs = [15, 60, 225, 900, 3_600].map((seconds) => seconds * 1_000)
const leadPart = 4
const staysMin = 4
const staysMax = 4_000

/**
 * Short stays over the ends of buckets, where there are more of them than chance makes: of a wallet, or among those of the month
 * with the most USD-days, by whichever wallets. Pure.
 */
export function listOverEnds(stays: readonly Stay[], limits: AuditLimits): Set<Stay> {
  const short = stays.filter(({ lasted }) => lasted <= limits.bucketStaySeconds * 1_000)
  const found = new Set<Stay>()
  const add = (own: readonly Stay[]) => {
    for (const stay of findHabit(own, 10 ** -limits.bucketChance)) found.add(stay)
  }
  for (const own of groupBy(short, ({ piece }) => piece.wallet).values()) add(own)
  const sorted = [...short].sort((a, b) => (a.usdDays > b.usdDays ? -1 : a.usdDays < b.usdDays ? 1 : 0))
  for (let count = staysMin * 2; ; count = Math.ceil(count * 1.4)) {
    add(sorted.slice(0, Math.min(count, staysMax)))
    if (count >= Math.min(sorted.length, staysMax)) return found
  }
}

/** The stays over ends of whichever buckets chance explains least, where it does not explain them. */
function findHabit(stays: readonly Stay[], chanceMax: number): Stay[] {
  if (stays.length < staysMin) return []
  let [least, found]: [number, Stay[]] = [chanceMax, []]
  const judge = (over: Stay[], of: number, expected: number) => {
    const chance = boundChance(over.length, of, expected)
    if (chance < least) [least, found] = [chance, over]
  }
  for (const bucketMs of bucketsMs) {
    const leftOf = ({ sinceMs }: Stay) => bucketMs - (sinceMs % bucketMs)
    const isOver = (stay: Stay) => leftOf(stay) <= stay.lasted
    const shorter = stays.filter(({ lasted }) => lasted < bucketMs)
    judge(
      shorter.filter(isOver),
      shorter.length,
      shorter.reduce((sum, { lasted }) => sum + lasted / bucketMs, 0),
    )
    for (const leadMs of leadsMs.filter((each) => each * leadPart <= bucketMs)) {
      const over = stays.filter((stay) => isOver(stay) && leftOf(stay) <= leadMs)
      judge(over, stays.length, (stays.length * leadMs) / bucketMs)
    }
  }
  return found
}

/** The most that the chance of at least `count` of `of` independent things can be, where `expected` are expected (Hoeffding). Pure. */
export function boundChance(count: number, of: number, expected: number): number {
  const [share, mean] = [count / of, expected / of]
  if (of === 0 || share <= mean) return 1
  const term = (part: number, by: number) => (part > 0 ? part * Math.log(part / by) : 0)
  return Math.exp(-of * (term(share, mean) + term(1 - share, 1 - mean)))
}
