import { createSignInMessageText, parseSignInMessageText } from '@solana/wallet-standard-util'
import fc from 'fast-check'
import { SiweMessage } from 'siwe'
import { getAddress } from 'viem'
import { parseSiweMessage } from 'viem/siwe'
import { describe, expect, it } from 'vitest'
import { times } from '../../../test/seed.js'
import { readSiwe } from '../../../test/siwe.js'
import { createSolanaWallet, createTonWallet } from '../../../test/wallets.js'
import { formatMessage, parseApplication } from './agreement.js'

const address = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const terms = {
  ecosystem: 'evm' as const,
  address,
  domain: 'app.example.com',
  nonce: '550e8400e29b41d4a716446655440000',
  chainId: 8453n,
  createdAt: new Date('2026-11-20T12:00:00Z'),
  expiresAt: new Date('2026-11-20T12:10:00Z'),
}

describe('the EVM message', () => {
  it('is EIP-4361, line by line', () => {
    const message = formatMessage(terms, 'https://app.example.com/earn')
    expect(message).toBe(`app.example.com wants you to sign in with your Ethereum account:
0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266

Link this wallet to your account. This costs nothing and sends no transaction.

URI: https://app.example.com/earn
Version: 1
Chain ID: 8453
Nonce: 550e8400e29b41d4a716446655440000
Issued At: 2026-11-20T12:00:00Z
Expiration Time: 2026-11-20T12:10:00Z`)
  })

  it(
    'reads the same in the siwe library, in viem and by the grammar, for any url, wallet and chain',
    () => {
      const hex = (length: number) =>
        fc
          .array(fc.constantFrom(...'0123456789abcdef'), { minLength: length, maxLength: length })
          .map((a) => a.join(''))
      fc.assert(
        fc.property(
          fc.webUrl({ withQueryParameters: true, withFragments: true, authoritySettings: { withPort: true } }),
          hex(40),
          fc.bigInt({ min: 1n, max: 2n ** 53n - 1n }),
          hex(32),
          (url, wallet, chainId, nonce) => {
            const application = parseApplication(url)
            if (!application) return
            const message = formatMessage(
              { ...terms, domain: application.domain, address: `0x${wallet}`, chainId, nonce },
              application.uri,
            )
            const expected = {
              domain: application.domain,
              address: getAddress(`0x${wallet}`),
              uri: application.uri,
              version: '1',
              chainId: Number(chainId),
              nonce,
            }
            expect(new SiweMessage(message)).toMatchObject({ ...expected, expirationTime: '2026-11-20T12:10:00Z' })
            expect(parseSiweMessage(message)).toMatchObject({ ...expected, expirationTime: terms.expiresAt })
            expect(readSiwe(message)).toMatchObject({ ...expected, chainId: String(chainId) })
          },
        ),
        { seed: 4361, numRuns: 25 * times },
      )
    },
    20_000 * times,
  )
})

describe('the Solana message', () => {
  it('is Sign In With Solana, and reads back with the wallet standard’s own library', () => {
    const { address: solana } = createSolanaWallet()
    const message = formatMessage(
      { ...terms, ecosystem: 'solana', address: solana, chainId: null },
      'https://a.example/',
    )
    expect(parseSignInMessageText(message)).toEqual({
      domain: 'app.example.com',
      address: solana,
      statement: 'Link this wallet to your account. This costs nothing and sends no transaction.',
      uri: 'https://a.example/',
      version: '1',
      nonce: terms.nonce,
      issuedAt: '2026-11-20T12:00:00Z',
      expirationTime: '2026-11-20T12:10:00Z',
      chainId: undefined,
      notBefore: undefined,
      requestId: undefined,
      resources: undefined,
    })
    const parsed = parseSignInMessageText(message)
    expect(parsed && createSignInMessageText(parsed)).toBe(message)
  })
})

describe('the TON message', () => {
  it('shows the address as wallets do', () => {
    const ton = createTonWallet()
    const message = formatMessage(
      { ...terms, ecosystem: 'ton', address: ton.address, chainId: null },
      'https://a.example/',
    )
    expect(message.split('\n').slice(0, 2)).toEqual([
      'app.example.com wants you to sign in with your TON account:',
      ton.friendly.toString({ bounceable: false }),
    ])
    expect(message).not.toContain('Chain ID')
  })
})

describe('the application', () => {
  it.each([
    ['https://app.example.com/earn', 'app.example.com', 'https://app.example.com/earn'],
    ['HTTPS://App.Example.com', 'app.example.com', 'https://app.example.com/'],
    ['http://localhost:3000/x?y=1#z', 'localhost:3000', 'http://localhost:3000/x?y=1#z'],
    ['https://żółw.pl/ścieżka', 'xn--w-uga1v8h.pl', 'https://xn--w-uga1v8h.pl/%C5%9Bcie%C5%BCka'],
    [
      'https://a.example/{x}|"y"^[z]?q={|}%zz&w=%20',
      'a.example',
      'https://a.example/%7Bx%7D%7C%22y%22%5E%5Bz%5D?q=%7B%7C%7D%25zz&w=%20',
    ],
    ['http://[::1]:8080/', '[::1]:8080', 'http://[::1]:8080/'],
  ])('of %s is %s', (url, domain, uri) => {
    expect(parseApplication(url)).toEqual({ domain, uri })
  })

  it.each([
    'app.example.com',
    '/earn',
    '',
    'ftp://app.example.com',
    'javascript:alert(1)',
    'data:text/plain,x',
    'file:///etc/passwd',
    'https://',
    'https:///x',
    'https:x.example/',
    'https:/x.example/',
    'https:\\\\x.example/',
    'https://?x',
    'https://\tx.example/',
    'https://user:secret@app.example.com/',
    'https://user@app.example.com/',
    `https://app.example.com/${'x'.repeat(2_048)}`,
    'https://app.example.com evil',
  ])('of %s is refused', (url) => {
    expect(parseApplication(url)).toBeUndefined()
  })

  it('cannot put a line of its own into the message', () => {
    for (const url of ['https://a.example/\nNonce: x', 'https://a.example/%0ANonce:%20x', 'https://a.\nexample/']) {
      const application = parseApplication(url)
      expect(application && formatMessage({ ...terms, ...application }, application.uri).split('\n')).toHaveLength(11)
    }
  })
})
