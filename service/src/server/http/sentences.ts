/** What a caller should write where a text does not have the pattern its schema asks for, by the pattern. */
const sentences: Readonly<Record<string, string>> = {
  '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$': 'must be a uuid',
  '^0[xX][0-9a-fA-F]{64}$': 'must be a transaction hash: 0x and 64 hex digits',
  '^0[xX][0-9a-fA-F]{40}$': 'must be an EVM address: 0x and 40 hex digits',
  '^(0[xX][0-9a-fA-F]{40}|native)$': 'must be a token address (0x and 40 hex digits) or native',
  '^0[xX][0-9a-fA-F]{40}-(0|[1-9][0-9]{0,14})$': 'must be a token address and a chain id: 0x…-1',
  '^(0|[1-9][0-9]{0,14})$': 'must be a chain id in decimal digits',
  '^[0-9]{1,78}$': 'must be a text of decimal digits, an integer below 2^256',
  '^0*[1-9][0-9]*$': "must be a text of decimal digits, an integer above 0 in the token's smallest unit",
  '^[A-Za-z0-9_-]{0,64}$': 'must be at most 64 letters, digits, _ or -',
}

/** The sentence of a pattern; undefined for one that no operation's input has. */
export function findSentence(pattern: string): string | undefined {
  return Object.hasOwn(sentences, pattern) ? sentences[pattern] : undefined
}

/** What is wrong with a value, in words that say what to write instead. */
export function describeViolation({ keyword, params, message }: { keyword: string; params: object; message: string }) {
  if (keyword === 'format') return 'must be an integer below 2^256'
  if (keyword === 'pattern' && 'pattern' in params) return findSentence(String(params.pattern)) ?? message
  if ('allowedValues' in params && Array.isArray(params.allowedValues))
    return `must be one of ${params.allowedValues.join(', ')}`
  return message
}
