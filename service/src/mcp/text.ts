/** No text of a stranger is longer, in characters and in bytes of UTF-8. */
export const textMax = 300

/** Controls, bidirectional and invisible characters, private and unassigned ones, and separators of lines. */
const invisible = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}]+/gu
const tags = /<[^<>]*>/g
/** Characters by which a text becomes a link, code, a heading or a table, and those that JSON would escape. */
const marks = /[<>[\]{}`*#|~\\^"]+/g

/**
 * A text that somebody wrote into the catalogue, the chain or a request, as one line: without control, bidirectional and
 * invisible characters, without markup, at most 300 characters and bytes.
 */
export function cleanText(text: string): string {
  const plain = text.replace(invisible, ' ').replace(tags, ' ').replace(marks, ' ').replace(/\s+/gu, ' ').trim()
  return cut(plain)
}

function cut(text: string): string {
  let bytes = 0
  let kept = ''
  for (const character of text) {
    bytes += Buffer.byteLength(character)
    if (bytes > textMax) return kept
    kept += character
  }
  return kept
}
