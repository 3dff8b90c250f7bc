const daySeconds = 86_400
const gridSeconds = 900

/** The ranges that a button shows, in days. */
export const presets = { '1d': 1, '7d': 7, '30d': 30, '90d': 90, '1y': 365 } as const
export type Preset = keyof typeof presets

/** A range of time: the last days, or two instants that the reader marked. */
export type Range = { preset: Preset } | { from: number; to: number }

const isPreset = (text: string | null): text is Preset => text !== null && Object.hasOwn(presets, text)

/** The range of a URL; thirty days unless it names one. */
export function toRange(query: URLSearchParams): Range {
  const [from, to] = [Date.parse(query.get('from') ?? ''), Date.parse(query.get('to') ?? '')]
  if (from < to) return { from, to }
  const given = query.get('range')
  return { preset: isPreset(given) ? given : '30d' }
}

/** Most points of a series that is read: more than a screen shows columns, and few enough for their inputs. */
const pointsMax = 720

/** Seconds of a bucket, a multiple of the grid on which vaults are read. */
export function toStep(range: Range): number {
  const seconds = 'preset' in range ? presets[range.preset] * daySeconds : (range.to - range.from) / 1_000
  return Math.max(1, Math.ceil(seconds / pointsMax / gridSeconds)) * gridSeconds
}

/** A minute less than the days: the service takes at most 365 days, and a call takes its time. */
const slackMs = 60_000

/** The parameters of the service for a range at an instant. */
export function toDates(range: Range, now: number): { startDate: Date; endDate: Date; step: number } {
  const step = toStep(range)
  if (!('preset' in range)) return { startDate: new Date(range.from), endDate: new Date(range.to), step }
  const from = now - presets[range.preset] * daySeconds * 1_000 + slackMs
  return { startDate: new Date(from), endDate: new Date(now), step }
}
