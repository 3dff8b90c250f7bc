import { getAddressDecoder, getProgramDerivedAddress } from '@solana/addresses'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readVectors } from '../../test/vectors.js'
import { applicationDomain, createSolanaWallet } from '../../test/wallets.js'
import { decodeBase58 } from './base58.js'
import { verifyEd25519 } from './ed25519.js'
import { parseSolanaAddress, verifySolanaSignature } from './solana.js'

type Vector = {
  name: string
  address: string
  message: string
  signatureBase58: string
  signatureHex: string
  signatureBase64: string
  valid: boolean
  reason?: string
  signers?: string[]
}

const vectors: Vector[] = readVectors('solana.json').vectors
const domain = 'app.example.com'

describe('Solana vectors', () => {
  it.each(vectors)('$name', ({ name, address, message, valid, reason, signers, ...forms }) => {
    // An agreement is signed by one wallet alone: what several sign together is refused though it is well signed. And
    // one signed in an envelope is not one of the bare text, but is found by trying the envelopes.
    const crossed = name.startsWith('cross/')
    const expected = crossed || (valid && (signers?.length ?? 1) === 1)
    if (crossed)
      expect(verifyEd25519(Buffer.from(forms.signatureHex, 'hex'), Buffer.from(message), decode(address))).toBe(false)
    expect(parseSolanaAddress(address) === undefined).toBe(reason === 'address')
    const { signatureBase58, signatureHex, signatureBase64 } = forms
    for (const signature of [signatureBase58, signatureHex, `0x${signatureHex}`, signatureBase64])
      expect(verifySolanaSignature({ address, message, domain, signature })).toBe(expected)
  })

  it('are 27', () => expect(vectors).toHaveLength(27))
})

describe('Solana signatures', () => {
  const wallet = createSolanaWallet()
  const text = 'app.example.com wants you to sign in with your Solana account:\nzażółć 🐢'
  const verify = (signature: string, message = text) =>
    verifySolanaSignature({ address: wallet.address, message, domain, signature })

  it('of independent libraries are accepted: raw, versions 0 and 1, with and without the application’s domain', () => {
    const signatures = [
      wallet.signText(text),
      wallet.signVersionZero(text),
      wallet.signVersionZero(text, applicationDomain(domain)),
      wallet.signVersionOne(text),
    ]
    for (const signature of signatures) {
      expect(verify(signature.toString('hex'))).toBe(true)
      expect(verify(signature.toString('base64'))).toBe(true)
      expect(verify(signature.toString('base64url'))).toBe(true)
      expect(verify(signature.toString('hex'), `${text}.`)).toBe(false)
    }
  })

  it('for another application, or together with another signer, are refused', () => {
    const other = createSolanaWallet()
    expect(verify(wallet.signVersionZero(text, applicationDomain('evil.example.com')).toString('hex'))).toBe(false)
    expect(verify(wallet.signVersionZero(text, undefined, [wallet.address, other.address]).toString('hex'))).toBe(false)
    expect(verify(wallet.signVersionOne(text, [wallet.address, other.address]).toString('hex'))).toBe(false)
    expect(verify(other.signText(text).toString('hex'))).toBe(false)
  })

  it('with S + L are refused', () => {
    const signature = wallet.signText(text)
    const order = 2n ** 252n + 27742317777372353535851937790883648493n
    const s = BigInt(`0x${Buffer.from(signature.subarray(32)).reverse().toString('hex')}`) + order
    const malleated = Buffer.concat([
      signature.subarray(0, 32),
      Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse(),
    ])
    expect(verify(malleated.toString('hex'))).toBe(false)
  })

  it('that are junk are refused, never thrown on', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String(), fc.string({ unit: 'binary', maxLength: 300 })), (junk) => {
        expect(verify(junk)).toBe(false)
      }),
      { seed: 5, numRuns: 200 },
    )
  })
})

describe('Solana addresses', () => {
  it('are read as the Solana kit writes them, and no two texts are one address', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
        const address = getAddressDecoder().decode(bytes)
        expect(Buffer.from(decodeBase58(address) ?? [])).toEqual(Buffer.from(bytes))
        expect(decodeBase58(`1${address}`)).toHaveLength(33)
      }),
      { seed: 58, numRuns: 200 },
    )
  })

  it('derived from a program, or of another length or alphabet, are refused', async () => {
    const address = createSolanaWallet().address
    expect(parseSolanaAddress(address)).toBe(address)
    const programAddress = address as never
    const [derived] = await getProgramDerivedAddress({ programAddress, seeds: ['vault'] })
    expect(parseSolanaAddress(derived)).toBeUndefined()
    for (const text of [
      '',
      '1',
      `1${address}`,
      ` ${address}`,
      address.slice(4),
      `0${address.slice(1)}`,
      '1'.repeat(200),
    ])
      expect(parseSolanaAddress(text), text).toBeUndefined()
  })
})

function decode(address: string): Uint8Array {
  return decodeBase58(address) ?? new Uint8Array()
}
