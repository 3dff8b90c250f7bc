import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { readVectors } from '../../../../test/vectors.js'
import { isSecret, newSecret, sign } from './signature.js'

type Vector = {
  name: string
  secret?: string
  id: string
  timestamp: number
  body: string
  signature?: string
  valid: boolean
}

const vectors: Vector[] = readVectors('webhooks.json').vectors

describe('the signature of a webhook', () => {
  // The library refuses a time that is not the present one.
  beforeEach(() => {
    vi.spyOn(Date, 'now').mockReturnValue(1_795_176_000_000)
  })
  afterEach(() => vi.restoreAllMocks())

  it('is that of every published vector that gives one for one secret', () => {
    const given = vectors.filter(({ valid, secret, signature }) => valid && secret && signature?.startsWith('v1,'))
    expect(given.length).toBeGreaterThan(3)
    for (const { name, secret = '', signature, ...signed } of given)
      expect(sign([secret], signed), name).toBe(signature)
  })

  it('is accepted by the published library, by each of two secrets, and not for another body, id or time', () => {
    const [old, now] = [newSecret(), newSecret()]
    const timestamp = 1_795_176_000
    const [id, body] = [
      '8a5b0c1e-9d2b-4c77-8a51-0b6f2c9e7d11',
      JSON.stringify({ type: 'interaction.confirmed', text: 'ü' }),
    ]
    const headers = (signature: string, more = {}) => ({
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signature,
      ...more,
    })
    const both = sign([now, old], { id, timestamp, body })
    for (const secret of [old, now]) expect(new Webhook(secret).verify(body, headers(both))).toEqual(JSON.parse(body))
    const verify =
      (text: string, more = {}) =>
      () =>
        new Webhook(now).verify(text, headers(both, more))
    expect(verify(`${body} `)).toThrow()
    expect(verify(body, { 'webhook-id': 'x' })).toThrow()
    expect(verify(body, { 'webhook-timestamp': String(timestamp + 1) })).toThrow()
    expect(() => new Webhook(newSecret()).verify(body, headers(both))).toThrow()
  })
})

describe('a secret', () => {
  it('is whsec_ and the base64 of 24 to 64 bytes', () => {
    const of = (bytes: number) => `whsec_${Buffer.alloc(bytes, 7).toString('base64')}`
    expect([23, 24, 64, 65].map((bytes) => isSecret(of(bytes)))).toEqual([false, true, true, false])
    for (const text of ['', 'whsec_', of(32).slice(6), `${of(32)}=`, of(32).replace('whsec_', 'whsk_'), `${of(33)} `])
      expect(isSecret(text), text).toBe(false)
    expect(isSecret(newSecret())).toBe(true)
    expect(newSecret()).not.toBe(newSecret())
  })
})
