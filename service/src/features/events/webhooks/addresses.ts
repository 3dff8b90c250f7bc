import { type LookupAddress, type LookupAllOptions, lookup as resolveName } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/** Networks that are not of the public internet (IANA's special-purpose registries). */
const networks4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const
/** All of IPv6 but 2000::/3 is special; of that, documentation, Teredo, ORCHID and 6to4, which names an IPv4 address. */
const networks6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const

const special = new BlockList()
for (const [network, bits] of networks4) special.addSubnet(network, bits, 'ipv4')
for (const [network, bits] of networks6) special.addSubnet(network, bits, 'ipv6')
const global6 = new BlockList()
global6.addSubnet('2000::', 3, 'ipv6')

/** Whether an IP address is one of the public internet. */
export function isPublic(address: string): boolean {
  const kind = isIP(address)
  if (kind === 4) return !special.check(address, 'ipv4')
  return kind === 6 && global6.check(address, 'ipv6') && !special.check(address, 'ipv6')
}

/** The places that the operator allows although they are not public: `host` or `host:port`. */
export type Allowed = readonly string[]

export function isAllowed({ hostname, port, protocol }: URL, allowed: Allowed): boolean {
  const named = port || (protocol === 'http:' ? '80' : '443')
  return allowed.some((place) => place === hostname || place === `${hostname}:${named}`)
}

/** Ports at which a webhook may be. */
const ports = ['', '443', '8443']

/** Why a url cannot be a webhook's; undefined if it can. Names are resolved at each connection only. */
export function findUrlProblem(text: string, allowed: Allowed): string | undefined {
  if (text.length > 2_048 || !URL.canParse(text)) return 'must be an https url of at most 2,048 characters'
  const url = new URL(text)
  if (url.username || url.password || url.hash) return 'must have no user, password or fragment'
  if (isAllowed(url, allowed) && ['http:', 'https:'].includes(url.protocol)) return undefined
  if (url.protocol !== 'https:') return 'must be an https url'
  if (!ports.includes(url.port)) return 'must use port 443 or 8443'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) ? !isPublic(host) : !host.includes('.') || /(^|\.)localhost\.?$/i.test(host))
    return 'must be at a public address'
  return undefined
}

/** The address of a host is not public. */
export class NotPublic extends Error {
  override readonly name = 'NotPublic'
}

/**
 * Resolves a name for one connection, to its public addresses alone: a name that was public when the webhook was made may be
 * another later. Fails if it has an address that is not public.
 */
export const lookupPublic: LookupFunction = (...given) => lookupWith(resolveName, ...given)

type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/** The same with a resolver. */
export const lookupWith = (resolve: Resolve, ...[hostname, options, callback]: Parameters<LookupFunction>): void => {
  resolve(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, '')
    const [first] = addresses
    if (!first || addresses.some(({ address }) => !isPublic(address)))
      return callback(new NotPublic('the name has an address that is not public'), '')
    if (options.all) callback(null, addresses)
    else callback(null, first.address, first.family)
  })
}
