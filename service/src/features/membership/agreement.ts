import { getAddress } from 'viem'
import { formatTs } from '../../kernel/clock.js'
import { formatTonAddress } from '../../wallets/tonAddress.js'
import type { Wallet } from './wallet.js'

/** How long an agreement can be signed. */
export const agreementLifetimeSeconds = 600

/** The terms a wallet is asked to sign, before they are put in words. */
export type Terms = Wallet & {
  nonce: string
  /** The host that shows the message. */
  domain: string
  /** Where a contract wallet lives; null outside EVM. */
  chainId: bigint | null
  createdAt: Date
  expiresAt: Date
}

/** Terms and their message, which is kept and verified byte for byte. */
export type Agreement = Terms & { message: string }

/** The application a person is signing in to. */
export type Application = { domain: string; uri: string }

const statement = 'Link this wallet to your account. This costs nothing and sends no transaction.'
const urlLengthMax = 2_048

/**
 * Domain and URI of an application's url, both as RFC 3986 wants them; undefined unless the url is http or https with a
 * host, without user name or password, at most 2,048 characters.
 */
export function parseApplication(text: string): Application | undefined {
  // The parser of browsers takes any number of slashes, and the path for the host.
  if (!/^https?:\/\/[^/\\?#\s]/i.test(text) || !URL.canParse(text)) return undefined
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
 * The message of a wallet, line by line: for EVM as the grammar of EIP-4361 has it (checksummed address, a nonce of
 * letters and digits, instants in RFC 3339, no line feed at the end), for Solana as Sign In With Solana has it, for TON
 * in the same form with the address as wallets show it.
 */
export function formatMessage(terms: Terms, uri: string): string {
  const { account, address } = signers[terms.ecosystem](terms.address)
  return [
    `${terms.domain} wants you to sign in with your ${account} account:`,
    address,
    '',
    statement,
    '',
    `URI: ${uri}`,
    'Version: 1',
    ...(terms.chainId === null ? [] : [`Chain ID: ${terms.chainId}`]),
    `Nonce: ${terms.nonce}`,
    `Issued At: ${formatTs(terms.createdAt)}`,
    `Expiration Time: ${formatTs(terms.expiresAt)}`,
  ].join('\n')
}

const signers = {
  evm: (address: string) => ({ account: 'Ethereum', address: getAddress(address) }),
  solana: (address: string) => ({ account: 'Solana', address }),
  ton: (address: string) => ({ account: 'TON', address: formatTonAddress(address) }),
}
