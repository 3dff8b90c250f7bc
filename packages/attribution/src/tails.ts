import { decodeSuffix, type Span, type Suffix, stackMax, suffixCodes } from './erc8021.js'
import { decodeLegacy, type LegacyTracker } from './legacy.js'

/** One thing at the end of calldata that names codes: an ERC-8021 suffix or a legacy tracker. */
export type Tail = { kind: 'erc8021'; suffix: Suffix } | { kind: 'legacy'; suffix: LegacyTracker }

/** A legacy tracker follows at least a selector. */
const selectorLength = 4

/**
 * Everything at the end of a call's data, outermost first, at most eight: ERC-8021 suffixes, then one legacy tracker,
 * then suffixes below it. The call's data is `span` of the bytes, and nothing before `floor` is taken for a tail.
 * `bodyEnd` is where the call's own data ends: before every tail that could be read. Never throws.
 */
export function readTails(
  data: Uint8Array,
  span: Span = { start: 0, end: data.length },
  floor = span.start,
): { tails: Tail[]; bodyEnd: number } {
  const tails: Tail[] = []
  const legacyFloor = Math.max(floor, span.start + selectorLength)
  let bodyEnd = span.end
  let legacySeen = false
  while (tails.length < stackMax) {
    const tail = readTail(data, bodyEnd, floor, legacySeen ? undefined : legacyFloor)
    if (!tail) break
    tails.push(tail)
    if (tail.suffix.status === 'malformed') break
    legacySeen ||= tail.kind === 'legacy'
    bodyEnd = tail.suffix.start
  }
  return { tails, bodyEnd }
}

/** The codes a tail names, in its order. */
export function tailCodes(tail: Tail): string[] {
  if (tail.kind === 'erc8021') return suffixCodes(tail.suffix)
  return tail.suffix.status === 'malformed' || tail.suffix.distributorId === undefined
    ? []
    : [tail.suffix.distributorId]
}

/** The part of the input a tail covers. */
export function tailSpan(tail: Tail): Span {
  return { start: tail.suffix.start, end: tail.suffix.end }
}

function readTail(data: Uint8Array, end: number, floor: number, legacyFloor: number | undefined): Tail | undefined {
  const suffix = decodeSuffix(data, end, floor)
  if (suffix) return { kind: 'erc8021', suffix }
  const legacy = legacyFloor === undefined ? undefined : decodeLegacy(data, end, legacyFloor)
  return legacy && { kind: 'legacy', suffix: legacy }
}
