import type { LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { describe, expect, it } from 'vitest'
import { findUrlProblem, isPublic, lookupWith } from './addresses.js'
import { post } from './post.js'

/** What names are said to be. */
let answers: LookupAddress[] = []
const lookup: LookupFunction = (...given) =>
  lookupWith((_name, _options, callback) => callback(null, answers), ...given)

const privates = [
  ...['127.0.0.1', '127.9.9.9', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '169.254.169.254'],
  ...['0.0.0.0', '100.64.0.1', '192.0.0.1', '198.18.0.1', '224.0.0.1', '255.255.255.255', '203.0.113.7'],
  ...['::1', '::', '::ffff:127.0.0.1', '::ffff:8.8.8.8', 'fe80::1', 'fc00::1', 'fd12::1', 'ff02::1', '64:ff9b::7f00:1'],
  ...['2002:7f00:1::', '2001:db8::1', '2001::1', 'example.com', ''],
]
const publics = ['1.1.1.1', '8.8.8.8', '172.15.0.1', '172.32.0.1', '192.167.1.1', '2606:4700::1111', '2a00:1450::1']

describe('an address', () => {
  it.each(privates)('%s is not public', (address) => {
    expect(isPublic(address)).toBe(false)
  })
  it.each(publics)('%s is public', (address) => {
    expect(isPublic(address)).toBe(true)
  })
})

/** Ways to make the service call itself or its neighbours. */
const tricks = [
  'http://example.com/',
  'https://localhost/',
  'https://LOCALHOST./',
  'https://127.0.0.1/',
  'https://2130706433/',
  'https://0x7f.1/',
  'https://0177.0.0.1/',
  'https://[::1]/',
  'https://[::ffff:7f00:1]/',
  'https://169.254.169.254/latest/meta-data',
  'https://postgres/',
  'https://example.com:5432/',
  'https://user:password@example.com/',
  'ftp://example.com/',
  'file:///etc/passwd',
  'https://192.168.0.10:8443/',
  `https://example.com/${'x'.repeat(2_048)}`,
]

describe('the url of a webhook', () => {
  it.each(tricks)('%s is refused', (url) => {
    expect(findUrlProblem(url, [])).toBeTypeOf('string')
  })

  it.each(['https://example.com/x?y=1', 'https://example.com:8443/', 'https://[2606:4700::1111]/', 'https://1.1.1.1/'])(
    '%s is accepted',
    (url) => {
      expect(findUrlProblem(url, [])).toBeUndefined()
    },
  )

  it('may be private, at any port and http, where the operator allows the place by name or by name and port', () => {
    const url = 'http://127.0.0.1:9000/x'
    expect(findUrlProblem(url, [])).toBeTypeOf('string')
    expect(findUrlProblem(url, ['127.0.0.1:9001'])).toBeTypeOf('string')
    for (const place of ['127.0.0.1', '127.0.0.1:9000']) expect(findUrlProblem(url, [place])).toBeUndefined()
    expect(findUrlProblem('ftp://127.0.0.1:9000/', ['127.0.0.1'])).toBeTypeOf('string')
    expect(findUrlProblem('http://a:b@127.0.0.1:9000/', ['127.0.0.1'])).toBeTypeOf('string')
  })
})

describe('a name', () => {
  const resolve = (all: boolean) =>
    new Promise<unknown>((done, fail) => {
      lookup('rebound.example', { all }, (error, found) => (error ? fail(error) : done(found)))
    })

  it('is resolved to its public addresses, for one and for all', async () => {
    answers = [{ address: '1.1.1.1', family: 4 }]
    expect(await resolve(false)).toBe('1.1.1.1')
    expect(await resolve(true)).toEqual(answers)
  })

  it.each([
    ['has become private', [{ address: '127.0.0.1', family: 4 }]],
    [
      'has a private address among others',
      [
        { address: '1.1.1.1', family: 4 },
        { address: '10.0.0.1', family: 4 },
      ],
    ],
    ['has none', []],
  ])('that %s is refused at the connection, and nothing is sent', async (_what, given) => {
    answers = given
    await expect(resolve(true)).rejects.toThrow(/not public/)
    const posted = await post({ url: 'https://rebound.example/', headers: {}, body: '{}' }, { allowed: [], lookup })
    expect(posted).toEqual({ status: null, error: 'the name has an address that is not public' })
  })
})
