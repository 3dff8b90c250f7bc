import type { Inspection, SuffixInspection } from '@openearn/attribution'

/**
 * A response is at most 256 KiB, for every transaction. The parts share it: the inspection 112 KiB, the ledger's entries 96,
 * the codes 16, the records of the watcher 26; the rest is for the members around them.
 */
const inspectionBytesMax = 112 * 1024
/** The suffix in front, and each of those behind it. */
const mainBytesMax = 64 * 1024
const stackedBytesMax = 8 * 1024

const cutText =
  'it is too long to be shown whole: metadata, bytes and further codes are left out; start and end say where it stands'

/** Bytes of a value as JSON. */
function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}

/** The first of some items that fit together, and how many do not. Pure. */
export function takeWithin<T>(items: readonly T[], bytesMax: number): { kept: T[]; omitted: number } {
  let left = bytesMax
  let count = 0
  for (const item of items) {
    // A comma follows each.
    left -= sizeOf(item) + 1
    if (left < 0) break
    count += 1
  }
  return { kept: items.slice(0, count), omitted: items.length - count }
}

/** An inspection of bounded size: stacked findings beyond it are counted, not listed. Pure. */
export function boundInspection(inspection: Inspection): { inspection: Inspection; stackedOmitted: number } {
  const { stacked, ...front } = inspection
  const main = fit(front, mainBytesMax)
  const { kept, omitted } = takeWithin(
    stacked.map((each) => fit(each, stackedBytesMax)),
    inspectionBytesMax - sizeOf(main),
  )
  const problems = omitted > 0 ? [...main.problems, `${omitted} further suffixes are not listed`] : main.problems
  return { inspection: { ...main, problems, stacked: kept }, stackedOmitted: omitted }
}

function fit(item: SuffixInspection, bytesMax: number): SuffixInspection {
  if (sizeOf(item) <= bytesMax) return item
  return {
    ...item,
    metadata: null,
    suffix: null,
    services: takeWithin(item.services, bytesMax / 4).kept,
    codes: takeWithin(item.codes, bytesMax / 4).kept,
    problems: [...item.problems, cutText],
  }
}
