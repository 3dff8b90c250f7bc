import { type GrowthSource, type GrowthSpan, toGrowthSpans } from '../vaults/configured/index.js'

/** Decides the growth source of a range: the last one in force, `none`, or `ambiguous` if two are in force at an instant. Pure. */
export function decideGrowth(
  sources: readonly GrowthSource[] | null,
  range: { startMs: number; endMs: number },
): GrowthSpan | 'none' | 'ambiguous' {
  const within = toGrowthSpans(sources).filter(({ fromMs, toMs: end }) => fromMs <= range.endMs && end > range.startMs)
  const inOrder = within.sort((a, b) => a.fromMs - b.fromMs)
  const [first, ...others] = inOrder
  if (!first) return 'none'
  let last = first
  for (const next of others) {
    if (next.fromMs < last.toMs) return 'ambiguous'
    last = next
  }
  return last
}
