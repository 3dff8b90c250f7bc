import type { Server } from 'node:http'
import { BlockList, isIPv4, isIPv6 } from 'node:net'
import { isLoopback, networkOf } from '../../features/limits/index.js'
import type { Config } from '../../kernel/config.js'
import { resourceExhausted } from '../../kernel/errors.js'
import { formatRawAnswer } from './errors.js'

/** Connections one address (one /64 network for IPv6) may have open: people who share it, a few for each. */
const connectionsDefault = 500

/**
 * Refuses connections of an address that has as many as it may. A proxy we trust has those of everybody, so it has no
 * cap; loopback has one only where it was set.
 */
export function capConnections(server: Server, config: Pick<Config, 'connectionsPerAddress' | 'trustedProxies'>): void {
  const most = config.connectionsPerAddress ?? connectionsDefault
  if (most === 0) return
  const isTrusted = createProxyMatch(config.trustedProxies)
  const open = new Map<string, number>()
  server.on('connection', (socket) => {
    const ip = socket.remoteAddress ?? ''
    if ((config.connectionsPerAddress === undefined && isLoopback(ip)) || isTrusted(ip)) return
    const network = networkOf(ip)
    const count = (open.get(network) ?? 0) + 1
    if (count > most) {
      // Nobody waits for what it has to say, nor for it to take the answer.
      socket.end(formatRawAnswer(tooMany), () => socket.destroy())
      return
    }
    open.set(network, count)
    socket.once('close', () => {
      const left = (open.get(network) ?? 1) - 1
      if (left === 0) open.delete(network)
      else open.set(network, left)
    })
  })
}

const tooMany = resourceExhausted('too many connections from this address; close some', {
  context: { limit: 'ip' },
  retryAfterSeconds: 1,
})

/** The names for ranges that may stand among trusted proxies. */
const named: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
}

/** Whether an address is one of the proxies: addresses, CIDR ranges, and the names of ranges. */
export function createProxyMatch(proxies: readonly string[]): (ip: string) => boolean {
  const known = new BlockList()
  for (const entry of proxies.flatMap((proxy) => named[proxy] ?? [proxy])) {
    const [address = '', bits] = entry.split('/')
    const family = isIPv6(address) ? 'ipv6' : isIPv4(address) ? 'ipv4' : undefined
    if (!family) continue
    if (bits === undefined) known.addAddress(address, family)
    else if (/^[0-9]{1,3}$/.test(bits)) known.addSubnet(address, Number(bits), family)
  }
  return (ip) => {
    const plain = /^::ffff:([0-9.]+)$/i.exec(ip)?.[1] ?? ip
    return isIPv4(plain) ? known.check(plain, 'ipv4') : isIPv6(plain) && known.check(plain, 'ipv6')
  }
}
