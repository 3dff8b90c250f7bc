export type SiweFields = {
  scheme: string | undefined
  domain: string
  address: string
  statement: string | undefined
  uri: string
  version: string
  chainId: string
  nonce: string
  issuedAt: string
  expirationTime: string | undefined
  notBefore: string | undefined
}

const dateTime = '\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(?:\\.\\d+)?(?:Z|[+-]\\d{2}:\\d{2})'
const uriText = "[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9._~:/?#[\\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+"
const grammar = new RegExp(
  [
    "^(?:(?<scheme>[A-Za-z][A-Za-z0-9+.-]*)://)?(?<domain>(?:[A-Za-z0-9._~!$&'()*+,;=:@[\\]-]|%[0-9A-Fa-f]{2})+) wants you to sign in with your Ethereum account:",
    '(?<address>0x[0-9a-fA-F]{40})',
    '',
    "(?:(?<statement>[A-Za-z0-9._~:/?#[\\]@!$&'()*+,;= -]+)\n)?",
    `URI: (?<uri>${uriText})`,
    'Version: (?<version>1)',
    'Chain ID: (?<chainId>\\d+)',
    'Nonce: (?<nonce>[A-Za-z0-9]{8,})',
    `Issued At: (?<issuedAt>${dateTime})` +
      `(?:\nExpiration Time: (?<expirationTime>${dateTime}))?` +
      `(?:\nNot Before: (?<notBefore>${dateTime}))?` +
      "(?:\nRequest ID: [A-Za-z0-9._~:@!$&'()*+,;=-]*)?" +
      `(?:\nResources:(?:\n- ${uriText})*)?$`,
  ].join('\n'),
)

/** Reads a message by the grammar of EIP-4361, for tests only: the service never reads a message a client sends. */
export function readSiwe(message: string): SiweFields | undefined {
  const groups = grammar.exec(message)?.groups
  return groups ? (groups as unknown as SiweFields) : undefined
}
