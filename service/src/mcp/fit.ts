import { textMax } from './text.js'

/** No answer of a tool is longer, in bytes. */
export const bytesMax = 20_000

/**
 * An answer of at most 20,000 bytes: where it would be longer, its longest list is cut from the end, and `omitted` counts what
 * is missing of each. Texts of strangers count with the most that they may take, so that they do not decide what is cut.
 * @throws RangeError if nothing is left to cut.
 */
export function fit(value: Record<string, unknown>): string {
  const copy = structuredClone(value)
  const omitted: Record<string, number> = {}
  for (;;) {
    const answer = Object.keys(omitted).length > 0 ? { ...copy, omitted } : copy
    if (measure(answer) <= bytesMax) return JSON.stringify(answer)
    const longest = findLongest(copy)
    if (!longest) throw new RangeError('the answer is too long: ask for less')
    const keep = Math.floor(longest.list.length / 2)
    omitted[longest.path] = (omitted[longest.path] ?? 0) + longest.list.length - keep
    longest.list.splice(keep)
  }
}

/** The most bytes that an answer may take, whatever strangers write. */
function measure(value: unknown, isUntrusted = false): number {
  if (typeof value === 'string') return isUntrusted ? textMax + 2 : Buffer.byteLength(JSON.stringify(value))
  if (Array.isArray(value)) return value.reduce<number>((sum, each) => sum + measure(each, isUntrusted) + 1, 2)
  if (typeof value !== 'object' || value === null) return String(value).length
  return Object.entries(value).reduce(
    (sum, [name, each]) => sum + name.length + 4 + measure(each, isUntrusted || name.startsWith('untrusted')),
    2,
  )
}

type Found = { path: string; list: unknown[]; bytes: number }

/** The list with the most bytes; of one inside another the outer one. */
function findLongest(value: unknown, path = ''): Found | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const own: Found | undefined =
    Array.isArray(value) && value.length > 0 ? { path, list: value, bytes: measure(value) } : undefined
  const inside = Object.entries(value).flatMap(
    ([name, each]) => findLongest(each, Array.isArray(value) ? path : path === '' ? name : `${path}.${name}`) ?? [],
  )
  return [...(own ? [own] : []), ...inside].reduce<Found | undefined>(
    (most, each) => (!most || each.bytes > most.bytes ? each : most),
    undefined,
  )
}
