import { SiweMessage } from 'siwe'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Earn, openEarn } from '../../../test/harness.js'
import { agree, appUrl, becomeMember, createWallet } from '../../../test/membership.js'

let earn: Earn
beforeAll(async () => {
  earn = await openEarn({ now: '2026-11-20T12:00:00Z' })
})
afterAll(() => earn.close())

const ask = (input: Record<string, unknown> = {}) => {
  const body = { address: createWallet().address, walletEcosystem: 'evm', url: appUrl, ...input }
  return earn.call('CreateMembershipAgreement', { body })
}

describe('CreateMembershipAgreement 200', () => {
  it('hands out an EIP-4361 message for this wallet, application and chain, good for ten minutes', async () => {
    const { address } = createWallet()
    const { body, headers } = await ask({ address: address.toLowerCase(), chainId: '8453' })
    expect(Object.keys(body)).toEqual(['message', 'nonce'])
    expect(new SiweMessage(body.message)).toMatchObject({
      domain: 'app.example.com',
      address,
      uri: appUrl,
      version: '1',
      chainId: 8453,
      nonce: body.nonce,
      issuedAt: '2026-11-20T12:00:00Z',
      expirationTime: '2026-11-20T12:10:00Z',
    })
    expect(headers['x-request-cost']).toBe('2')
  })

  it('gives a nonce of 32 lower-case hex characters, never the same twice', async () => {
    const { address } = createWallet()
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask({ address })))
    const nonces = answers.map((answer) => answer.body.nonce)
    for (const nonce of nonces) expect(nonce).toMatch(/^[0-9a-f]{32}$/)
    expect(new Set(nonces).size).toBe(20)
  })

  it.each([
    [undefined, 'Chain ID: 1'],
    [10, 'Chain ID: 10'],
    ['0137', 'Chain ID: 137'],
    ['115792089237316195423570985008687907853269984665640564039457584007913129639935', 'Chain ID: 11579208923731619'],
  ])('takes chain id %s as text or number, 1 when absent', async (chainId, line) => {
    expect((await ask(chainId === undefined ? {} : { chainId })).body.message).toContain(line)
  })
})

describe('CreateMembershipAgreement 400 INVALID_ARGUMENT', () => {
  it.each([
    ['no address', { address: undefined }],
    ['a malformed address', { address: '0x12' }],
    ['no ecosystem', { walletEcosystem: undefined }],
    ['an unknown ecosystem', { walletEcosystem: 'EVM' }],
    ['no url', { url: undefined }],
    ['a url without scheme', { url: 'app.example.com' }],
    ['a url of another scheme', { url: 'ftp://app.example.com' }],
    ['a url with a password', { url: 'https://me:secret@app.example.com' }],
    ['chain id 0', { chainId: '0' }],
    ['a negative chain id', { chainId: -1 }],
    ['a chain id with a fraction', { chainId: 1.5 }],
    ['a chain id in hex', { chainId: '0x1' }],
    ['a chain id no JSON number holds exactly', { chainId: 2 ** 53 }],
    ['an empty chain id', { chainId: '' }],
  ])('refuses %s', async (_what, input) => {
    const answer = await ask(input)
    expect([answer.status, answer.body.status]).toEqual([400, 'INVALID_ARGUMENT'])
  })
})

describe('CreateMembershipAgreement 409 CONFLICT', () => {
  it('refuses a wallet that is a member', async () => {
    const wallet = createWallet()
    await becomeMember(earn, wallet)
    await expect(agree(earn, wallet)).rejects.toThrow('"status":"CONFLICT"')
  })
})
