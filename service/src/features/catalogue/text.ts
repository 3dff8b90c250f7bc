/**
 * Orders two texts by code points. JavaScript's `<` orders by UTF-16 units, which puts everything beyond U+FFFF before
 * U+E000; the wire promises code points.
 */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let index = 0; index < length; index++) {
    const unitA = a.charCodeAt(index)
    const unitB = b.charCodeAt(index)
    if (unitA !== unitB) return rank(unitA) - rank(unitB)
  }
  return a.length - b.length
}

/** Moves surrogates above every other unit, keeping the order on both sides. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000
}

/** The text order of the wire: lower-cased code points. Texts that differ only in case are equal. */
export function compareText(a: string, b: string): number {
  return compareCodePoints(a.toLowerCase(), b.toLowerCase())
}
