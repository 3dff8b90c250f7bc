import { getProgramDerivedAddress } from '@solana/addresses'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Earn, openEarn } from '../../../test/harness.js'
import { appUrl, isOpen, join } from '../../../test/membership.js'
import { applicationDomain, createSolanaWallet, type SolanaWallet } from '../../../test/wallets.js'

let earn: Earn
beforeAll(async () => {
  earn = await openEarn()
})
beforeEach(() => earn.clock.set('2026-11-20T12:00:00Z'))
afterAll(() => earn.close())

async function ask(address: string): Promise<{ message: string; nonce: string }> {
  const body = { address, walletEcosystem: 'solana', url: appUrl, chainId: 'mainnet' }
  const answer = await earn.call('CreateMembershipAgreement', { body })
  expect(answer.status, answer.text).toBe(200)
  return answer.body
}

const send = (address: string, nonce: string, signature: string) =>
  join(earn, { address, walletEcosystem: 'solana', nonce, signature })

describe('CreateMembership 200 for Solana', () => {
  const ways: [string, (wallet: SolanaWallet, text: string) => Buffer][] = [
    ['the text as it stands', (wallet, text) => wallet.signText(text)],
    ['a hardware wallet, version 0', (wallet, text) => wallet.signVersionZero(text)],
    [
      'a hardware wallet that names the application',
      (wallet, text) => wallet.signVersionZero(text, applicationDomain('app.example.com')),
    ],
    ['a hardware wallet, version 1', (wallet, text) => wallet.signVersionOne(text)],
  ]
  it.each(ways)('takes %s', async (_way, sign) => {
    for (const encoding of ['hex', 'base64'] as const) {
      const wallet = createSolanaWallet()
      const { message, nonce } = await ask(wallet.address)
      const answer = await send(wallet.address, nonce, sign(wallet, message).toString(encoding))
      expect([answer.status, answer.body]).toEqual([200, { isMember: true, error: '' }])
      const query = { address: wallet.address, walletEcosystem: 'solana' }
      expect((await earn.call('GetMembership', { query })).body).toEqual({ isMember: true })
    }
  })
})

describe('CreateMembership 400 for Solana', () => {
  it('refuses another wallet’s signature, a changed text, S + L, junk, and uses up nothing', async () => {
    const [wallet, other] = [createSolanaWallet(), createSolanaWallet()]
    const { message, nonce } = await ask(wallet.address)
    const good = wallet.signText(message)
    const s = BigInt(`0x${Buffer.from(good.subarray(32)).reverse().toString('hex')}`)
    const shifted = s + 2n ** 252n + 27742317777372353535851937790883648493n
    const malleated = Buffer.concat([
      good.subarray(0, 32),
      Buffer.from(shifted.toString(16).padStart(64, '0'), 'hex').reverse(),
    ])
    const refused = [
      other.signText(message),
      wallet.signText(`${message}\n`),
      wallet.signVersionZero(message, applicationDomain('evil.example.com')),
      wallet.signVersionOne(message, [wallet.address, other.address]),
      malleated,
      good.subarray(0, 63),
      Buffer.alloc(64),
    ]
    for (const signature of refused)
      expect((await send(wallet.address, nonce, signature.toString('hex'))).status).toBe(400)
    for (const text of ['', 'junk', '0x', '{}']) expect((await send(wallet.address, nonce, text)).status).toBe(400)
    expect(await isOpen(earn, nonce)).toBe(true)
    expect((await send(wallet.address, nonce, good.toString('hex'))).status).toBe(200)
  })

  it('refuses keys of small order, for whom anyone can forge', async () => {
    const forged = `01${'00'.repeat(63)}`
    for (const address of ['11111111111111111111111111111111', '4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziofM']) {
      const { nonce } = await ask(address)
      expect((await send(address, nonce, forged)).status).toBe(400)
      expect(await isOpen(earn, nonce)).toBe(true)
    }
  })

  it('refuses an EVM address, one of another length, and one that no key can have', async () => {
    const programAddress = createSolanaWallet().address
    const [derived] = await getProgramDerivedAddress({ programAddress, seeds: ['vault'] })
    const addresses = [`0x${'1'.repeat(40)}`, '1', `1${programAddress}`, derived]
    for (const address of addresses) {
      const body = { address, walletEcosystem: 'solana', url: appUrl }
      expect((await earn.call('CreateMembershipAgreement', { body })).status).toBe(400)
    }
  })

  it('refuses a nonce that was asked for in another ecosystem', async () => {
    const wallet = createSolanaWallet()
    const { message, nonce } = await ask(wallet.address)
    const signature = wallet.signText(message).toString('hex')
    const answer = await join(earn, { address: wallet.address, walletEcosystem: 'ton', nonce, signature })
    expect(answer.status).toBe(400)
    expect(await isOpen(earn, nonce)).toBe(true)
  })
})
