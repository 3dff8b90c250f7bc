/** Most code points kept of each kind of text. */
export const textLengths = { symbol: 32, name: 128, label: 128, description: 4_000, reason: 500 }

/**
 * Text from a stranger, made harmless to show: no control, format or bidirectional characters, no private or broken
 * ones, no HTML tags, at most three combining marks in a row, blanks collapsed, cut to `lengthMax` code points.
 */
export function cleanText(text: string, lengthMax: number): string {
  let previous: string
  let rest = text
  // A pass may join characters that another pass has to remove.
  do {
    previous = rest
    rest = cleanOnce(previous, lengthMax)
  } while (rest !== previous)
  return rest
}

function cleanOnce(text: string, lengthMax: number): string {
  const plain = text
    .replace(/[\p{Cf}\p{Co}\p{Cs}]/gu, '')
    .replace(/[\s\p{Zs}]+/gu, ' ')
    .replace(/\p{Cc}/gu, '')
    .normalize('NFC')
    .replace(/(\p{M}{3})\p{M}+/gu, '$1')
  return [...removeTags(plain).replace(/ +/g, ' ').trim()].slice(0, lengthMax).join('').trim()
}

/** Removes whole tags until none is left (one may hide in another), then every `<` that could still open one. */
function removeTags(text: string): string {
  let previous: string
  let rest = text
  do {
    previous = rest
    rest = rest.replace(/<[a-z/!?][^<>]*>/gi, '')
  } while (rest !== previous)
  return rest.replace(/<(?=[a-z/!?])/gi, '')
}

/** The same for a token's name or symbol, where no angle bracket has any business. */
export function cleanTokenText(text: string, lengthMax: number): string {
  return cleanText(text.replace(/<[^<>]*>/g, ''), lengthMax).replace(/[<>]/g, '')
}
