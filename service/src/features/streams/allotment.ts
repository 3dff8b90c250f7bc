/** Snapshots of a stream that are shown, of all streams of an answer, and for how many the answer costs one unit more. */
export const [shownMax, shownInAllMax, shownPerUnit] = [100, 2_000, 500]

export type Allotment = { streamId: string; shown: number; isTruncated: boolean }

/** How many snapshots of each stream are shown: streams in the order given, until all are used up. Pure. */
export function allotSnapshots(counts: readonly { streamId: string; count: number }[]): Allotment[] {
  let left = shownInAllMax
  return counts.map(({ streamId, count }) => {
    const shown = Math.min(count, shownMax, left)
    left -= shown
    return { streamId, shown, isTruncated: shown < count }
  })
}

/** The units that the snapshots of an answer cost. Pure. */
export function computeShownCost(allotments: readonly Allotment[]): number {
  return Math.floor(allotments.reduce((sum, { shown }) => sum + shown, 0) / shownPerUnit)
}
