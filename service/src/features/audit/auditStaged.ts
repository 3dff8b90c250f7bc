import type { PaidStep } from '../../derive/paidPrice.js'
import type { StagedStretch } from './auditPieces.js'

/** A step of the paid price, with the transaction of the deposit that made it; null: a snapshot or a reading. */
export type StagedStep = PaidStep & { transactionHash: string | null }

/**
 * The stretches after snapshots whose price stood above the one before, and fell again before the next, each by more than a
 * number of hundredths of a percent. A vault that lost falls too, but its price did not rise for it. Pure.
 */
export function listStagedStretches(steps: readonly StagedStep[], stagedBps: number): StagedStretch[] {
  const found: StagedStretch[] = []
  const bps = BigInt(Math.round(stagedBps))
  const isAbove = (one: Price, other: Price) => {
    const [high, low] = [scale(one, other.exponent), scale(other, one.exponent)]
    return (high - low) * 10_000n > high * bps
  }
  const stretches = splitAtSnapshots(steps)
  stretches.forEach(({ first, lowest, transactions }, index) => {
    const before = stretches[index - 1]
    if (!lowest || !before || !isAbove(first, lowest) || !isAbove(first, before.first)) return
    const toMs = stretches[index + 1]?.first.atMs ?? Number.POSITIVE_INFINITY
    found.push({ fromMs: first.atMs, toMs, transactions })
  })
  return found
}

type Price = Pick<PaidStep, 'numerator' | 'exponent'>
const scale = ({ numerator }: Price, other: number): bigint => numerator * 10n ** BigInt(other)

type Stretch = { first: StagedStep; lowest: StagedStep | undefined; transactions: string[] }

function splitAtSnapshots(steps: readonly StagedStep[]): Stretch[] {
  const stretches: Stretch[] = []
  for (const step of steps) {
    const last = stretches.at(-1)
    if ('snapshot' in step.by) stretches.push({ first: step, lowest: undefined, transactions: [] })
    else if (last && step.numerator < (last.lowest ?? last.first).numerator) {
      last.lowest = step
      if (step.transactionHash !== null) last.transactions.push(step.transactionHash)
    }
  }
  return stretches
}
