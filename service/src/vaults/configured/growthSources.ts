import T, { type Static } from 'typebox'
import { parseTs } from '../../kernel/clock.js'
import { Instant } from '../../postgres/fileMembers.js'

export const growthSourceNames = ['share-price', 'nav'] as const
export type GrowthSourceName = (typeof growthSourceNames)[number]

/** A growth source of a vault, with its dates: `nav` is the US dollars of a share. */
export const GrowthSourceSchema = T.Object(
  {
    source: T.Enum([...growthSourceNames]),
    /** Absent: from the start. */
    activeFrom: T.Optional(Instant),
    /** Absent: without end. */
    activeTo: T.Optional(Instant),
  },
  { additionalProperties: false },
)
export type GrowthSource = Static<typeof GrowthSourceSchema>

/** A source with the span in which it is in force, in Unix milliseconds, the end not included. */
export type GrowthSpan = { source: GrowthSourceName; fromMs: number; toMs: number }

/** The sources as spans. Without any setting it is the share price from the start. Pure. */
export function toGrowthSpans(sources: readonly GrowthSource[] | null): GrowthSpan[] {
  return (sources ?? [{ source: 'share-price' }]).map(({ source, activeFrom, activeTo }) => ({
    source,
    fromMs: activeFrom === undefined ? Number.NEGATIVE_INFINITY : toMs(activeFrom),
    toMs: activeTo === undefined ? Number.POSITIVE_INFINITY : toMs(activeTo),
  }))
}

function toMs(text: string): number {
  return parseTs(text)?.getTime() ?? Number.NaN
}

/** The sources after a change: the source in force at an instant ends there, and `source` begins, if given. Pure. */
export function changeGrowth(
  sources: readonly GrowthSource[] | null,
  source: GrowthSourceName | undefined,
  at: Date,
): GrowthSource[] {
  const activeFrom = at.toISOString()
  const before = (sources ?? [{ source: 'share-price' as const }]).flatMap((one) => {
    const [span] = toGrowthSpans([one])
    if (!span || span.fromMs >= at.getTime()) return []
    return [span.toMs > at.getTime() ? { ...one, activeTo: activeFrom } : one]
  })
  return source === undefined ? before : [...before, { source, activeFrom }]
}
