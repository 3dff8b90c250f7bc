import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../kernel/clock.js'
import { createIpBuckets, networkOf } from './ipBuckets.js'

describe('token buckets of addresses', () => {
  it('grant 60 at once, then one a second, and say how long to wait', () => {
    const clock = fakeClock('2026-11-20T12:00:00Z')
    const buckets = createIpBuckets(clock, undefined)
    for (let i = 1; i <= 60; i++)
      expect(buckets.take('192.0.2.7')).toMatchObject({
        granted: true,
        headers: { 'X-RateLimit-Limit': '60', 'X-RateLimit-Remaining': String(60 - i), 'X-RateLimit-Used': String(i) },
      })
    expect(buckets.take('192.0.2.7')).toMatchObject({ granted: false, retryAfterSeconds: 1 })
    expect(buckets.take('192.0.2.8')).toMatchObject({ granted: true })
    clock.advance(999)
    expect(buckets.take('192.0.2.7')).toMatchObject({ granted: false })
    clock.advance(1)
    expect(buckets.take('192.0.2.7')).toMatchObject({ granted: true })
    expect(buckets.take('192.0.2.7')).toMatchObject({ granted: false })
  })

  it('take what a request turned out to cost, and let nobody in until the debt has flown in again', () => {
    const clock = fakeClock('2026-11-20T12:00:00Z')
    const buckets = createIpBuckets(clock, 60)
    buckets.take('192.0.2.7')
    expect(buckets.spend('192.0.2.7', 9)).toMatchObject({ 'X-RateLimit-Remaining': '50', 'X-RateLimit-Used': '10' })
    expect(buckets.spend('192.0.2.7', 80)).toMatchObject({ 'X-RateLimit-Remaining': '0', 'X-RateLimit-Used': '60' })
    expect(buckets.take('192.0.2.7')).toMatchObject({ granted: false, retryAfterSeconds: 31 })
    clock.advance(31_000)
    expect(buckets.take('192.0.2.7')).toMatchObject({ granted: true })
    buckets.spend('192.0.2.7', 1_000_000)
    expect(buckets.take('192.0.2.7')).toMatchObject({ granted: false, retryAfterSeconds: 61 })
    expect(createIpBuckets(clock, undefined).spend('127.0.0.1', 5)).toBeUndefined()
  })

  it('leave loopback alone unless a limit is set, and everyone when it is 0', () => {
    const clock = fakeClock('2026-11-20T12:00:00Z')
    expect(createIpBuckets(clock, undefined).take('127.0.0.1')).toBeUndefined()
    expect(createIpBuckets(clock, 2).take('127.0.0.1')).toMatchObject({ granted: true })
    expect(createIpBuckets(clock, 0).take('192.0.2.7')).toBeUndefined()
  })

  it('take a whole /64 for one address, and IPv4 inside IPv6 for IPv4', () => {
    expect(networkOf('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2::/64')
    expect(networkOf('2001:0db8:0001:2::9')).toBe('2001:db8:1:2::/64')
    expect(networkOf('2001:db8::1')).toBe('2001:db8:0:0::/64')
    expect(networkOf('fe80::1%eth0')).toBe('fe80:0:0:0::/64')
    expect(networkOf('::ffff:192.0.2.7')).toBe('192.0.2.7')
    expect(networkOf('192.0.2.7')).toBe('192.0.2.7')
  })
})
