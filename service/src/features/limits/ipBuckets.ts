import { createHash } from 'node:crypto'
import { BlockList, isIPv4, isIPv6 } from 'node:net'
import type { Clock } from '../../kernel/clock.js'

/** The result of taking a token; undefined if the address is not limited. */
export type Token = { granted: boolean; headers: Record<string, string>; retryAfterSeconds: number }

export type IpBuckets = {
  take(ip: string): Token | undefined
  /**
   * Takes the additional cost of a request and returns the headers with the rest. A bucket may owe as much as it holds: then
   * requests are refused until the debt is refilled.
   */
  spend(ip: string, tokens: number): Record<string, string> | undefined
}

const perMinuteDefault = 60
const bucketsMax = 100_000

type Bucket = { tokens: number; atMs: number }

/**
 * A token bucket per address (per /64 network for IPv6), in this process. `perMinute` undefined means 60 and no limit
 * for loopback; 0 means no limit at all.
 */
export function createIpBuckets(clock: Clock, perMinute: number | undefined): IpBuckets {
  const size = perMinute ?? perMinuteDefault
  const perMs = size / 60_000
  const buckets = new Map<string, Bucket>()
  const filled = (bucket: Bucket, nowMs: number) => Math.min(size, bucket.tokens + (nowMs - bucket.atMs) * perMs)
  const forgetFull = (nowMs: number) => {
    for (const [name, bucket] of buckets) if (filled(bucket, nowMs) >= size) buckets.delete(name)
    // All in use: an attack from very many addresses. Starting over is better than running out of memory.
    if (buckets.size >= bucketsMax) buckets.clear()
  }
  const isFree = (ip: string) => size === 0 || (perMinute === undefined && isLoopback(ip))
  const toHeaders = (left: number) => {
    const remaining = Math.max(0, Math.floor(left))
    return {
      'X-RateLimit-Limit': String(size),
      'X-RateLimit-Remaining': String(remaining),
      'X-RateLimit-Used': String(size - remaining),
    }
  }
  return {
    spend: (ip, count) => {
      if (isFree(ip)) return undefined
      const nowMs = clock.monotonicMs()
      const name = networkOf(ip)
      const bucket = buckets.get(name) ?? { tokens: size, atMs: nowMs }
      const left = Math.max(-size, filled(bucket, nowMs) - count)
      buckets.set(name, { tokens: left, atMs: nowMs })
      return toHeaders(left)
    },
    take: (ip) => {
      if (isFree(ip)) return undefined
      const nowMs = clock.monotonicMs()
      const name = networkOf(ip)
      if (buckets.size >= bucketsMax) forgetFull(nowMs)
      const bucket = buckets.get(name) ?? { tokens: size, atMs: nowMs }
      const tokens = filled(bucket, nowMs)
      const granted = tokens >= 1
      const left = granted ? tokens - 1 : tokens
      buckets.set(name, { tokens: left, atMs: nowMs })
      return {
        granted,
        retryAfterSeconds: granted ? 0 : Math.max(1, Math.ceil((1 - left) / perMs / 1000)),
        headers: toHeaders(left),
      }
    },
  }
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8)
loopback.addAddress('::1', 'ipv6')

/**
 * True for addresses of 127.0.0.0/8 and ::1, in any form of IPv6, also when IPv4 is written inside it. A name is no address: a
 * proxy may pass one on, or a caller may send one as `Host`.
 */
export function isLoopback(ip: string): boolean {
  return isIPv4(ip) ? ip.startsWith('127.') : isIPv6(ip) && loopback.check(ip, 'ipv6')
}

/** The address itself for IPv4, the first 64 bits for IPv6: one customer usually has a whole such network. */
export function networkOf(ip: string): string {
  const mapped = /^::ffff:([0-9.]+)$/i.exec(ip)?.[1]
  if (mapped) return mapped
  const address = ip.split('%')[0] ?? ip
  // A proxy may pass on a text that is no address; its name stays short.
  if (!isIPv6(address)) return ip.length <= 45 ? ip : createHash('sha256').update(ip).digest('base64url')
  const [before = '', after] = address.toLowerCase().split('::')
  const head = before.split(':').filter(Boolean)
  const tail = (after ?? '').split(':').filter(Boolean)
  const zeros = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => '0')
  const groups = after === undefined ? head : [...head, ...zeros, ...tail]
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`
}
