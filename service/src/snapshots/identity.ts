/** Which tokens a vault is of, and their decimals. Addresses lower-case. */
export type Identity = {
  asset: string
  receiptToken: string
  /** Null where the token does not say. */
  assetDecimals: number | null
  receiptDecimals: number | null
}

/** A reading with the blocks of the readings before and after it, or null. */
export type PlacedIdentity = Identity & { blockNumber: number; before: number | null; after: number | null }

/** Blocks whose units are of a token nobody knows, both ends included. */
export type Withheld = { from: number; to: number }

/**
 * The difference between a vault as read and as configured, as the end of a sentence; undefined if they agree. Decimals that a
 * token does not return agree with any. Pure.
 */
export function findDisagreement(configured: Identity, read: Identity): string | undefined {
  const members: readonly [keyof Identity, string][] = [
    ['asset', 'asset'],
    ['receiptToken', 'share token'],
    ['assetDecimals', 'number of decimals of the asset'],
    ['receiptDecimals', 'number of decimals of the share token'],
  ]
  const differing = members.filter(([member]) => read[member] !== null && read[member] !== configured[member])
  if (differing.length === 0) return undefined
  return differing
    .map(([member, name]) => `its ${name} is ${read[member]}, and ${configured[member]} is configured`)
    .join('; ')
}

/**
 * The blocks in which a vault is not known to be what is configured: from after the last reading that agreed up to the next
 * one that does. Before the first reading it is known unless that disagrees. Pure.
 */
export function findWithheld(configured: Identity, readings: readonly PlacedIdentity[]): Withheld[] {
  const spans: Withheld[] = []
  const wrong = readings.filter((reading) => findDisagreement(configured, reading) !== undefined)
  for (const { before, after } of wrong.toSorted((a, b) => a.blockNumber - b.blockNumber)) {
    const span = { from: before === null ? 0 : before + 1, to: after === null ? Number.MAX_SAFE_INTEGER : after - 1 }
    const last = spans.at(-1)
    if (last && span.from <= last.to + 1) last.to = span.to
    else spans.push(span)
  }
  return spans
}

/** Whether a block is within the spans. Pure. */
export function isWithheld(spans: readonly Withheld[] | undefined, blockNumber: number): boolean {
  return spans?.some(({ from, to }) => from <= blockNumber && blockNumber <= to) ?? false
}
