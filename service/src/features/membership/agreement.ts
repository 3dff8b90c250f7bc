import { getAddress } from 'viem'
import { formatTs } from '../../kernel/clock.js'
import type { Wallet } from './wallet.js'

/** How long an agreement can be signed. */
export const agreementLifetimeSeconds = 600

/** What a wallet is asked to sign. The message is kept and verified byte for byte. */
export type Agreement = Wallet & {
  nonce: string
  /** Where a contract wallet lives; null outside EVM. */
  chainId: bigint | null
  message: string
  createdAt: Date
  expiresAt: Date
}

/** The application a person is signing in to. */
export type Application = { domain: string; uri: string }

const statement = 'Link this wallet to your account. This costs nothing and sends no transaction.'
const urlLengthMax = 2_048

/**
 * Domain and URI of an application's url, both as RFC 3986 wants them; undefined unless the url is http or https with a
 * host, without user name or password, at most 2,048 characters.
 */
export function parseApplication(text: string): Application | undefined {
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  const uri = escapeUri(url)
  if (!['http:', 'https:'].includes(url.protocol) || url.host === '' || uri.length > urlLengthMax) return undefined
  return url.username === '' && url.password === '' ? { domain: url.host, uri } : undefined
}

/** A browser's url keeps some characters RFC 3986 does not have. */
function escapeUri({ origin, pathname, search, hash }: URL): string {
  const rest = pathname + search + hash
  return origin + rest.replace(/[^\w\-.~:/?#@!$&'()*+,;=%]|%(?![0-9a-fA-F]{2})/g, encodeURIComponent)
}

/**
 * The message of an EVM wallet, line by line as the grammar of EIP-4361 has it: checksummed address, a nonce of letters
 * and digits, instants in RFC 3339, no line feed at the end.
 */
export function formatEvmMessage(application: Application, agreement: Omit<Agreement, 'message'>): string {
  return [
    `${application.domain} wants you to sign in with your Ethereum account:`,
    getAddress(agreement.address),
    '',
    statement,
    '',
    `URI: ${application.uri}`,
    'Version: 1',
    `Chain ID: ${agreement.chainId}`,
    `Nonce: ${agreement.nonce}`,
    `Issued At: ${formatTs(agreement.createdAt)}`,
    `Expiration Time: ${formatTs(agreement.expiresAt)}`,
  ].join('\n')
}
