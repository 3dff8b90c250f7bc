import type { PaidStep } from '../../derive/paidPrice.js'
import type { AuditLimits } from './auditLimits.js'
import type { AuditVault, Piece, StagedStretch } from './auditPieces.js'

/** A step of the paid price, with the transaction of the deposit that made it; null: a snapshot or a reading. */
export type StagedStep = PaidStep & { transactionHash: string | null }

/** How long a price may be staged: what stands longer is a price. */
const longestMs = 3 * 86_400_000

/**
 * The stretches from snapshots whose price stood above that of some time before, and fell again some time after, each by more than a
 * number of hundredths of a percent, and both by about as much. A vault that lost falls too, but its price did not rise for it; a
 * harvest raises a price that does not fall. Pure.
 */
export function listStagedStretches(steps: readonly StagedStep[], stagedBps: number): StagedStretch[] {
  const levels = steps.map(({ atMs, numerator, exponent }) => ({ atMs, price: Number(numerator) / 10 ** exponent }))
  const [before, after] = [listLowest(levels), listLowest(levels.map(reverse).reverse()).reverse()]
  const least = 1 / (1 - stagedBps / 10_000)
  const isStaged = steps.map(({ by }, place) => {
    const [price = 0, low = 0, next = 0] = [levels[place]?.price, before[place], after[place]]
    if (!('snapshot' in by) || !(low > 0) || !(next > 0)) return false
    // The one is at most the square of the other.
    return price > low * least && price > next * least && low * low <= price * next && next * next <= price * low
  })
  const found: { fromMs: number; toMs: number; transactions: string[] }[] = []
  let open: (typeof found)[number] | undefined
  steps.forEach(({ atMs, by, transactionHash }, place) => {
    if ('snapshot' in by) {
      if (open && !isStaged[place]) open.toMs = atMs
      if (!isStaged[place]) open = undefined
      else if (!open) {
        open = { fromMs: atMs, toMs: Number.POSITIVE_INFINITY, transactions: [] }
        found.push(open)
      }
    } else if (open && transactionHash !== null) open.transactions.push(transactionHash)
  })
  return found
}

type Level = { atMs: number; price: number }
const reverse = ({ atMs, price }: Level): Level => ({ atMs: -atMs, price })

/** The lowest price of the time before each level, that at its beginning included; undefined for the first one. */
function listLowest(levels: readonly Level[]): (number | undefined)[] {
  const rising: Level[] = []
  let first = 0
  return levels.map((level) => {
    // The newest of those before the time still held when it began.
    while ((rising[first + 1]?.atMs ?? Number.POSITIVE_INFINITY) <= level.atMs - longestMs) first += 1
    const lowest = rising[first]?.price
    while (rising.length > first && (rising.at(-1)?.price ?? 0) >= level.price) rising.pop()
    rising.push(level)
    return lowest
  })
}

/** USD-days of pieces around staged prices. */
export type StagedPart<Each> = { each: Each; fromMs: number; toMs: number }

/**
 * The parts of pieces that a staged price counts for. Money that came during a run of them or some hours before it and left some
 * hours after it at the latest was there for it; of what stayed, the time of the run counts. Pure.
 */
export function listStagedParts<Each extends { piece: Piece }>(
  { staged }: AuditVault,
  entered: readonly Each[],
  { stagedSeconds, stagedStaySeconds }: AuditLimits,
): { stretch: StagedStretch; parts: StagedPart<Each>[] }[] {
  const sorted = [...entered].sort((a, b) => a.piece.fromMs - b.piece.fromMs)
  const [around, staying] = [stagedSeconds * 1_000, stagedStaySeconds * 1_000]
  const whole = new Set<Each>()
  let first = 0
  return staged.map((stretch) => {
    const parts: StagedPart<Each>[] = []
    while ((sorted[first]?.piece.fromMs ?? Number.POSITIVE_INFINITY) < stretch.fromMs - around) first += 1
    for (let place = first; place < sorted.length; place++) {
      const each = sorted[place]
      if (!each || each.piece.fromMs >= stretch.toMs) break
      const { fromMs, toMs, exit } = each.piece
      if (whole.has(each) || toMs <= stretch.fromMs) continue
      if (exit && toMs <= stretch.toMs + (fromMs < stretch.fromMs ? around : staying)) {
        whole.add(each)
        parts.push({ each, fromMs, toMs })
      } else parts.push({ each, fromMs: Math.max(fromMs, stretch.fromMs), toMs: Math.min(toMs, stretch.toMs) })
    }
    return { stretch, parts }
  })
}
