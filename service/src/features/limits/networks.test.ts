import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../kernel/clock.js'
import { createIpBuckets, isLoopback, networkOf } from './ipBuckets.js'

describe('the network of an address', () => {
  it.each([
    ['::2', '0:0:0:0::/64'],
    ['::ffff:1:2', '0:0:0:0::/64'],
    ['2001:db8::1234:5678:9abc', '2001:db8:0:0::/64'],
    ['2001::3:4:5:6:7:8', '2001:0:3:4::/64'],
    ['2001:db8::ffff:192.0.2.7', '2001:db8:0:0::/64'],
  ])('of %s is %s, however many groups are left out', (ip, network) => {
    expect(networkOf(ip)).toBe(network)
  })

  it('is the same whatever zone is named behind it', () => {
    for (const zone of ['eth0', 'a:b', 'a:b:c:d:e:f:g:h:i'])
      expect(networkOf(`fe80::1%${zone}`)).toBe('fe80:0:0:0::/64')
  })

  it('is what a proxy passes on where that is no address, by a digest where it is longer than any address', () => {
    expect(networkOf('x'.repeat(45))).toBe('x'.repeat(45))
    expect(networkOf('x'.repeat(46))).toMatch(/^[\w-]{43}$/)
    expect(networkOf('x'.repeat(46))).not.toBe(networkOf('x'.repeat(47)))
  })

  it('is loopback by its address, in whatever form', () => {
    const forms = ['127.0.0.1', '127.255.255.255', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1', '::FFFF:7f00:1']
    for (const ip of forms) expect([ip, isLoopback(ip)]).toEqual([ip, true])
  })

  it('is not loopback for a text that begins or goes on like one', () => {
    const names = ['127.0.0.1.evil.example', '127.evil.example', '::ffff:127.evil.example', 'localhost', '127.1', '']
    const addresses = ['10.127.0.1', '128.0.0.1', '::ffff:10.127.0.1', '::127.0.0.1', '::2', 'fe80::1', '1::1']
    for (const ip of [...names, ...addresses, 'x127.0.0.1', '127.0.0.1:80', '127.0.0.256'])
      expect([ip, isLoopback(ip)]).toEqual([ip, false])
  })
})

describe('100,000 addresses at once', () => {
  const size = 60
  const crowd = (from: number) =>
    Array.from({ length: 100_000 - from }, (_, i) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`)
  const remaining = (token: { headers: Record<string, string> } | undefined) => token?.headers['X-RateLimit-Remaining']

  it('make room by forgetting those whose bucket is full again, and nobody else', () => {
    const clock = fakeClock('2026-11-20T12:00:00Z')
    const buckets = createIpBuckets(clock, size)
    for (const ip of crowd(1)) buckets.take(ip)
    clock.advance(1_000)
    buckets.spend('192.0.2.7', 50)
    buckets.take('192.0.2.8')
    expect(remaining(buckets.take('192.0.2.7'))).toBe('9')
  })

  it('all in use, are all forgotten before memory runs out', () => {
    const buckets = createIpBuckets(fakeClock('2026-11-20T12:00:00Z'), size)
    buckets.spend('192.0.2.7', 50)
    for (const ip of crowd(1)) buckets.take(ip)
    expect(remaining(buckets.take('192.0.2.8'))).toBe('59')
    expect(remaining(buckets.take('192.0.2.8'))).toBe('58')
    expect(remaining(buckets.take('192.0.2.7'))).toBe('59')
  })
})
