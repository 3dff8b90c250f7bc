/** Characters of a statement that are told. */
const textMax = 1_000

/** A statement without its values: those it is sent with are apart anyway, and what stands in its text is left out. */
export function describeStatement(text: string) {
  const plain = text
    .replaceAll(/'(?:[^']|'')*'/g, '?')
    .replaceAll(/(?<![$\w])\d+(?:\.\d+)?/g, '?')
    .replaceAll(/\s+/g, ' ')
    .trim()
  const [verb = 'statement'] = /^[a-z]+/i.exec(plain) ?? []
  return {
    name: verb.toLowerCase(),
    attributes: { 'db.system.name': 'postgresql', 'db.query.text': plain.slice(0, textMax) },
  }
}
