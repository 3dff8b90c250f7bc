import { getAddress, isAddress } from 'viem'
import { type Complain, getMember, quote } from './shape.js'
import type { PlanVerdict } from './types.js'

/** The agreement that was asked for, and facts that its signer knows without the service. */
export type AgreementRequest = {
  address: string
  walletEcosystem: 'evm' | 'solana' | 'ton'
  /** The address of the page that asks, as it was sent. */
  url: string
  /** The chain of the wallet; for evm alone, 1 unless given. */
  chainId?: string | number | undefined
  /** Unix milliseconds. */
  now: number
}

const statement = 'Link this wallet to your account. This costs nothing and sends no transaction.'
/** No agreement is good for longer. */
const lifetimeMsMax = 3_600_000
/** Clocks differ by this at most: a text of a later time would be good when nobody expects it. */
const aheadMsMax = 3_600_000
const messageLengthMax = 4_096

const accounts = { evm: 'Ethereum', solana: 'Solana', ton: 'TON' } as const

/**
 * Decides, without any network, whether a response of CreateMembershipAgreement is a message that links this wallet to an
 * account at this page, and nothing else: its host and address, this wallet and chain, the known statement, the nonce of the
 * response, not expired. Its form is that of EIP-4361, for Solana and TON its equivalent. Returns a verdict for every input;
 * with a yes, a sentence, which a wallet shows.
 */
export function verifyAgreement(request: AgreementRequest, answer: unknown): PlanVerdict {
  const problems: string[] = []
  const complain: Complain = (problem) => {
    if (!problems.includes(problem)) problems.push(problem)
  }
  try {
    const sentence = tellAgreement(request, answer, complain)
    return problems.length === 0 && sentence ? { ok: true, problems, sentences: [sentence] } : no(problems)
  } catch {
    return no([...problems, 'something of what was given cannot be read'])
  }
}

const no = (problems: string[]): PlanVerdict => ({ ok: false, problems, sentences: [] })

function tellAgreement(request: AgreementRequest, answer: unknown, complain: Complain): string | undefined {
  const [message, nonce] = [getMember(answer, 'message'), getMember(answer, 'nonce')]
  const expected = writeLines(request, complain)
  if (typeof message !== 'string' || message.length > messageLengthMax) {
    complain('there is no message to sign')
    return undefined
  }
  // Letters and digits only, as EIP-4361 has it.
  if (typeof nonce !== 'string' || !/^[0-9a-zA-Z]{8,64}$/.test(nonce)) complain('the nonce is no nonce')
  if (!expected) return undefined
  const lines = message.split('\n')
  const [expires, issued] = [lines.pop(), lines.pop()]
  const wanted = [...expected.lines, `Nonce: ${String(nonce)}`]
  // The text is compared whole: a line more, in whatever form, is a text that nobody asked for.
  wanted.forEach((line, at) => {
    if (lines[at] !== line) complain(`line ${at + 1} of the message is ${quote(lines[at])}, not ${quote(line)}`)
  })
  if (lines.length !== wanted.length) complain('the message has other lines than an agreement')
  checkTimes(readInstant(issued, 'Issued At: '), readInstant(expires, 'Expiration Time: '), request.now, complain)
  return `Link the wallet ${expected.address} to your account at ${expected.host}. This sends no transaction.`
}

/** All lines before the nonce, as they have to be. */
function writeLines(
  { address, walletEcosystem, url, chainId = 1 }: AgreementRequest,
  complain: Complain,
): { lines: string[]; address: string; host: string } | undefined {
  const account = Object.hasOwn(accounts, walletEcosystem) ? accounts[walletEcosystem] : undefined
  const shown = readAddress(address, walletEcosystem)
  const page = readPage(url)
  if (!account) complain(`${quote(walletEcosystem)} is no ecosystem`)
  if (shown === undefined) complain(`address: ${quote(address)} is no address`)
  if (!page) complain(`url: ${quote(url)} is no address of a page`)
  if (walletEcosystem === 'evm' && !/^[1-9][0-9]*$/.test(String(chainId)))
    complain(`chainId: ${quote(chainId)} is no chain`)
  if (!account || shown === undefined || !page) return undefined
  const chain = walletEcosystem === 'evm' ? [`Chain ID: ${chainId}`] : []
  return {
    lines: [
      `${page.host} wants you to sign in with your ${account} account:`,
      shown,
      ...['', statement, '', `URI: ${page.uri}`, 'Version: 1', ...chain],
    ],
    address: shown,
    host: page.host,
  }
}

/** An address as the message has it; those of Solana and TON as they are, without a line break or a further word. */
function readAddress(address: unknown, ecosystem: AgreementRequest['walletEcosystem']): string | undefined {
  if (typeof address !== 'string') return undefined
  if (ecosystem !== 'evm') return /^[\w+/:=-]{32,68}$/.test(address) ? address : undefined
  return isAddress(address, { strict: false }) ? getAddress(address) : undefined
}

/** The host of a page, and its address with the characters escaped that RFC 3986 does not have. */
function readPage(text: unknown): { host: string; uri: string } | undefined {
  if (typeof text !== 'string' || !/^https?:\/\/[^/\\?#\s]/i.test(text) || !URL.canParse(text)) return undefined
  const { protocol, host, origin, pathname, search, hash, username, password } = new URL(text)
  if (!['http:', 'https:'].includes(protocol) || username || password) return undefined
  const rest = `${pathname}${search}${hash}`
  const escaped = rest.replace(/[^\w\-.~:/?#@!$&'()*+,;=%]|%(?![0-9a-fA-F]{2})/g, encodeURIComponent)
  return { host, uri: `${origin}${escaped}` }
}

/** Unix milliseconds of a line that says an instant in UTC. */
function readInstant(line: string | undefined, label: string): number | undefined {
  const text = line?.startsWith(label) ? line.slice(label.length) : ''
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(text) ? Date.parse(text) : undefined
}

function checkTimes(issued: number | undefined, expires: number | undefined, now: number, complain: Complain): void {
  if (issued === undefined || expires === undefined || Number.isNaN(issued) || Number.isNaN(expires))
    complain('the message does not end with its times')
  else if (!(expires > now)) complain('the message has expired')
  else if (!(issued <= now + aheadMsMax)) complain('the message is of a later time')
  else if (expires <= issued || expires - issued > lifetimeMsMax) complain('the message is good for too long')
}
