import { describe, expect, it } from 'vitest'
import { below, createRandom, pick } from '../../test/random.js'
import { type AgreementRequest, verifyAgreement } from './index.js'

const address = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const nonce = '0123456789abcdef0123456789abcdef'
const request: AgreementRequest = {
  address: address.toLowerCase(),
  walletEcosystem: 'evm',
  url: 'https://app.example:8443/earn?x=ü',
  chainId: 8453,
  now: Date.parse('2026-11-20T12:05:00Z'),
}
const message = [
  'app.example:8443 wants you to sign in with your Ethereum account:',
  address,
  '',
  'Link this wallet to your account. This costs nothing and sends no transaction.',
  '',
  'URI: https://app.example:8443/earn?x=%C3%BC',
  'Version: 1',
  'Chain ID: 8453',
  `Nonce: ${nonce}`,
  'Issued At: 2026-11-20T12:00:00Z',
  'Expiration Time: 2026-11-20T12:10:00Z',
].join('\n')
const ok = (change: Partial<AgreementRequest>, answer: unknown = { message, nonce }) =>
  verifyAgreement({ ...request, ...change }, answer).ok
const of = (from: string | RegExp, to: string) => ({ message: message.replace(from, to), nonce })

describe('verifyAgreement', () => {
  it('says yes to the message that was asked for, in a sentence', () => {
    expect(verifyAgreement(request, { message, nonce })).toEqual({
      ok: true,
      problems: [],
      sentences: [`Link the wallet ${address} to your account at app.example:8443. This sends no transaction.`],
    })
  })

  it.each([
    ['solana', 'Solana', 'Cz9qxG1bqBpSST2vb37NA5RxgpVH5zv2GW9vaWLd2Q4L'],
    ['ton', 'TON', 'UQBDfH2nXn3nMyuI-Jz1m_lzZg_K0M0vvxaPo4ArYyB0fvSs'],
  ] as const)('knows the form of %s, which has no chain', (walletEcosystem, account, wallet) => {
    const text = message.replace('Ethereum', account).replace(address, wallet)
    const own = { walletEcosystem, address: wallet }
    expect(ok(own, { message: text.replace('Chain ID: 8453\n', ''), nonce })).toBe(true)
    expect(ok(own, { message: text, nonce })).toBe(false)
    expect(ok({ ...own, address: `${wallet}\nA second line` }, { message: text, nonce })).toBe(false)
  })

  it.each<[string, unknown]>([
    ['another host', of('app.example:8443 wants', 'app.example wants')],
    ['a host that only looks alike', of('app.example:8443 wants', 'аpp.example:8443 wants')],
    ['another page', of('URI: https://app.example:8443/', 'URI: https://evil.example/')],
    ['another wallet', of(address, '0x70997970C51812dc3A010C7d01b50e0d17dc79C8')],
    ['an address in small letters', of(address, address.toLowerCase())],
    ['another chain', of('Chain ID: 8453', 'Chain ID: 1')],
    ['another statement', of('This costs nothing', 'This costs a little')],
    ['another version', of('Version: 1', 'Version: 2')],
    ['a nonce that is not the one of the answer', { message, nonce: `${nonce}0` }],
    ['no nonce', { message }],
    ['a nonce with a line of its own', { message: message.replace(nonce, `${nonce}\nx`), nonce: `${nonce}\nx` }],
    ['resources', of(/$/, '\nResources:\n- https://evil.example')],
    ['a request id', of('\nExpiration', '\nRequest ID: 1\nExpiration')],
    ['a line end more', of(/$/, '\n')],
    ['a blank more', of('Nonce: ', 'Nonce:  ')],
    ['a time that is no time', of('2026-11-20T12:10:00Z', 'soon')],
    ['a time of another zone', of('2026-11-20T12:10:00Z', '2026-11-20T14:10:00+02:00')],
    [
      'a time in two hours',
      {
        message: message.replace('T12:00:00Z', 'T14:00:00Z').replace('T12:10:00Z', 'T14:10:00Z'),
        nonce,
      },
    ],
    ['a life of a year', of('2026-11-20T12:10:00Z', '2027-11-20T12:10:00Z')],
    ['an end before its begin', of('2026-11-20T12:00:00Z', '2026-11-20T12:20:00Z')],
    ['a transaction', { message: '0x02f8', nonce }],
    ['nothing', undefined],
    ['a text that is no text', { message: { toString: () => message }, nonce }],
  ])('says no to %s', (_, answer) => {
    expect(verifyAgreement(request, answer)).toMatchObject({ ok: false, sentences: [] })
  })

  it('says yes to a clock that is up to an hour behind', () => {
    expect(ok({ now: Date.parse('2026-11-20T11:00:00Z') })).toBe(true)
    expect(ok({ now: Date.parse('2026-11-20T10:59:59Z') })).toBe(false)
  })

  it('says no once it has expired, and to a request that is no request', () => {
    expect(ok({ now: Date.parse('2026-11-20T12:10:00Z') })).toBe(false)
    expect(ok({ now: Number.NaN })).toBe(false)
    for (const url of ['app.example', 'ftp://app.example', 'https://a@app.example:8443/earn?x=ü', 'javascript:x'])
      expect(ok({ url })).toBe(false)
    expect(ok({ walletEcosystem: 'toString' as 'evm' })).toBe(false)
    expect(ok({ chainId: '8453\n' })).toBe(false)
    expect(verifyAgreement(undefined as never, { message, nonce }).ok).toBe(false)
  })

  it('says no to a thousand forged messages: no change of a character passes', () => {
    const random = createRandom(20261126)
    const letters = [...'aA0 \n:/.\u200b\u202e\u0430']
    // The two times after it are checked as times: they may be others.
    const fixed = message.indexOf('Issued At')
    for (let n = 0; n < 1_000; n++) {
      const at = below(random, fixed)
      const [before, after, letter] = [message.slice(0, at), message.slice(at + 1), pick(random, letters)]
      const kept = message[at] ?? ''
      const forged = pick(random, [
        `${before}${letter}${after}`,
        `${before}${letter}${kept}${after}`,
        `${before}${after}`,
      ])
      if (forged !== message) expect(ok({}, { message: forged, nonce }), JSON.stringify(forged)).toBe(false)
    }
  })
})
