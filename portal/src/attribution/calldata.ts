/** The parts of a calldata: before the suffix, the suffix, and after it. Offsets are bytes of the input. */
export type Parts = { before: string; suffix: string; after: string }

/** Cuts calldata at the suffix; undefined where the bytes there are not those that the service told. */
export function cutCalldata(
  input: string,
  told: { suffix: string | null; start: number | null; end: number | null },
): Parts | undefined {
  const { suffix, start, end } = told
  if (!/^0x([0-9a-f]{2})*$/i.test(input) || suffix === null || start === null || end === null) return undefined
  const [from, to] = [2 + 2 * start, 2 + 2 * end]
  const found = input.slice(from, to)
  if (found.toLowerCase() !== suffix.slice(2).toLowerCase()) return undefined
  return { before: input.slice(0, from), suffix: found, after: input.slice(to) }
}
