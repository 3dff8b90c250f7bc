/**
 * One line of configuration and the instant of chain time, in unix seconds, from which it decides rows. `of` names the
 * described object: if only one of two configurations has that object, the line makes no difference.
 */
export type DatedLine = { line: string; from: number; of?: string }

/** The earliest instant at which two configurations may give different rows; undefined when they agree. */
export function findDivergence(a: readonly DatedLine[], b: readonly DatedLine[]): number | undefined {
  const differing = [...findMissing(a, b), ...findMissing(b, a)]
  return differing.length === 0 ? undefined : Math.min(...differing.map(({ from }) => from))
}

/** Lines about objects that a configuration does not have. */
export function findAdded(held: readonly DatedLine[], lines: readonly DatedLine[]): DatedLine[] {
  const known = new Set(held.map(({ of }) => of))
  return lines.filter(({ of }) => of !== undefined && !known.has(of))
}

function findMissing(lines: readonly DatedLine[], other: readonly DatedLine[]): DatedLine[] {
  const known = new Set(other.map(({ line }) => line))
  const things = new Set(other.map(({ of }) => of))
  return lines.filter(({ line, of }) => !known.has(line) && (of === undefined || things.has(of)))
}
